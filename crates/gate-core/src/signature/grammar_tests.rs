use super::*;
use crate::provider::Provider;
use crate::vocabulary::{Refusal, RejectionCode};

fn code(provider: &str, value: &str) -> Result<usize, RejectionCode> {
    let scheme = Provider::find(provider).unwrap().scheme.unwrap();
    match read(scheme, scheme.families[0].signature, value) {
        Ok(signatures) => Ok(signatures.candidates.len()),
        Err(fault) => match fault.refusal() {
            Refusal::Rejected { code, .. } => Err(code),
            Refusal::Misconfigured { .. } => panic!("a header is the sender's doing"),
        },
    }
}

const HEX: &str = "34907291f59edf60b4a92d349d70eae34adb5ac5d4c895c2848206f72a468c35";
const B64: &str = "l2tzEMBMlH4Vxw8YGtJLePu2M0pgc9bCHcxlTuketJ8=";

#[test]
fn stripe_pairs_in_any_order_with_unknown_labels_skipped() {
    assert_eq!(code("stripe", &format!("t=1,v1={HEX}")), Ok(1));
    assert_eq!(
        code("stripe", &format!("v1={HEX},t=1,v0={HEX},v1={HEX},v1=potato,v2={HEX}")),
        Ok(2)
    );
}

#[test]
fn a_header_that_was_sent_twice_is_refused_also_when_joined() {
    let ambiguous = Err(RejectionCode::SignatureAmbiguous);
    assert_eq!(code("stripe", &format!("t=1,v1={HEX}, t=2,v1={HEX}")), ambiguous);
    assert_eq!(code("stripe", &format!("t=1,v1={HEX},t=2,v1={HEX}")), ambiguous);
    assert_eq!(code("stripe", &format!("t=1,v1={HEX}, v1={HEX}")), ambiguous);
    assert_eq!(code("paddle", &format!("ts=1;h1={HEX}, ts=1;h1={HEX}")), ambiguous);
    assert_eq!(code("github", &format!("sha256={HEX}, sha256={HEX}")), ambiguous);
    assert_eq!(code("shopify", &format!("{B64}, {B64}")), ambiguous);
    assert_eq!(code("svix", &format!("v1,{B64}, v1,{B64}")), ambiguous);
}

#[test]
fn more_than_sixteen_signatures_are_refused_readable_or_not() {
    let many = |count: usize, text: &str| format!("t=1{}", format!(",v1={text}").repeat(count));
    assert_eq!(code("stripe", &many(16, HEX)), Ok(16));
    assert_eq!(code("stripe", &many(17, HEX)), Err(RejectionCode::SignatureAmbiguous));
    assert_eq!(code("stripe", &many(100, "0")), Err(RejectionCode::SignatureAmbiguous));
}

#[test]
fn a_form_that_the_provider_does_not_send_is_refused() {
    let malformed = Err(RejectionCode::SignatureMalformed);
    let upper = HEX.to_ascii_uppercase();
    for value in [
        format!("t=1,v1={upper}"),
        format!("t=1,v1={HEX}00"),
        format!("t=1,v1={B64}"),
        format!("t=1,v2={HEX}"),
        format!("t=1,,v1={HEX}"),
        format!("t=1,v1={HEX},"),
        format!("t=1, v1={HEX}").replace(", ", " ,"),
        "I'm not even a real signature header".to_owned(),
    ] {
        assert_eq!(code("stripe", &value), malformed, "{value}");
    }
    for value in [
        HEX.to_owned(),
        format!("sha1={HEX}"),
        format!("SHA256={HEX}"),
        format!("sha256=sha256={HEX}"),
        "sha256=é".into(),
    ] {
        assert_eq!(code("github", &value), malformed, "{value}");
    }
    for value in [
        format!("v1={B64}"),
        B64.to_owned(),
        format!("v1a,{B64}"),
        "v1,".to_owned(),
        format!("v1,{}", B64.trim_end_matches('=')),
    ] {
        assert_eq!(code("svix", &value), malformed, "{value}");
    }
}

#[test]
fn a_missing_time_has_its_own_code() {
    for value in [format!("v1={HEX}"), format!("t=,v1={HEX}")] {
        assert_eq!(code("stripe", &value), Err(RejectionCode::TimestampMissing), "{value}");
    }
}
