use super::*;

const STRIPE: &str = "stripe";

fn known(provider: &str) -> Sender<'static> {
    Sender::Known(Provider::find(provider).unwrap())
}

fn ask(sender: Sender<'_>, source: Source<'_>, headers: &[(&str, &str)], body: &str) -> Result<Key, Refusal> {
    let headers: Vec<_> = headers
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let request = KeyRequest {
        sender,
        scope: "workflow:1",
        source,
        headers: Headers(&headers),
        now_ms: 1_760_000_000_123,
    };
    derive(&request, body.as_bytes())
}

fn stripe(body: &str) -> Result<Key, Refusal> {
    ask(known(STRIPE), Source::Provider, &[], body)
}

fn value(parts: &[&str]) -> Result<Key, Refusal> {
    let parts: Vec<_> = parts.iter().map(|&part| part.to_owned()).collect();
    ask(known("none"), Source::Value(&parts), &[], "")
}

fn body_key(exclude: &[&str], body: &str) -> Result<Key, Refusal> {
    let exclude: Vec<_> = exclude.iter().map(|&pointer| pointer.to_owned()).collect();
    ask(known(STRIPE), Source::BodyDigest { exclude: &exclude }, &[], body)
}

fn code(result: Result<Key, Refusal>) -> &'static str {
    match result {
        Ok(key) => panic!("{key:?}"),
        Err(Refusal::Rejected { code, .. }) => code.as_str(),
        Err(Refusal::Misconfigured { code, .. }) => code.as_str(),
    }
}

#[test]
fn an_id_is_taken_as_received() {
    for id in [
        "evt_1",
        " evt_1 ",
        "EVT_1",
        "e\u{301}",
        "\u{e9}",
        "1234567890123456790",
        "\u{fffd}",
        "a,b",
    ] {
        let key = stripe(&format!(r#"{{"id":"{id}","type":"x"}}"#)).unwrap();
        assert_eq!((key.event_id.as_str(), key.hashed, key.id_signed), (id, false, true));
        assert_eq!(key.source, KeySource::Provider);
        assert_eq!(key.event_type.as_deref(), Some("x"));
    }
    assert_eq!(
        stripe(r#"{"id":1234567890123456790}"#).unwrap().event_id,
        "1234567890123456790"
    );
}

#[test]
fn what_cannot_be_an_id_is_refused_by_name() {
    for (body, expected) in [
        ("", "body_empty"),
        ("Hello", "body_not_json"),
        (r#"{"id":"evt_1"#, "body_not_json"),
        (r#"{"id":"evt_1"}}"#, "body_not_json"),
        ("{}", "event_id_missing"),
        (r#"{"id":null}"#, "event_id_missing"),
        (r#"{"id":""}"#, "event_id_missing"),
        (r#"["id"]"#, "event_id_missing"),
        (r#"{"id":1.0}"#, "event_id_invalid"),
        (r#"{"id":1e3}"#, "event_id_invalid"),
        (r#"{"id":true}"#, "event_id_invalid"),
        (r#"{"id":{"a":1}}"#, "event_id_invalid"),
        (r#"{"id":"a\u0000b"}"#, "event_id_invalid"),
        (r#"{"id":"\ud800"}"#, "event_id_invalid"),
        (r#"{"id":"a","id":"a"}"#, "event_id_invalid"),
    ] {
        assert_eq!(code(stripe(body)), expected, "{body}");
    }
    assert_eq!(code(stripe(&"[".repeat(129))), "body_too_deep");
}

#[test]
fn what_stands_elsewhere_does_not_cost_an_event_its_id() {
    let body = r#"{"note":"\ud83d","x":{"a":1,"a":2},"id":"evt_1"}"#;
    assert_eq!(stripe(body).unwrap().event_id, "evt_1");
}

#[test]
fn ids_in_headers_are_single_and_need_a_body() {
    let github = |headers: &[(&str, &str)], body: &str| ask(known("github"), Source::Provider, headers, body);
    let key = github(
        &[("X-GitHub-Delivery", " d1 "), ("x-github-event", "push")],
        "payload=x",
    )
    .unwrap();
    assert_eq!((key.event_id.as_str(), key.id_signed), ("d1", false));
    assert_eq!(key.event_type.as_deref(), Some("push"));
    assert_eq!(code(github(&[], "{}")), "event_id_missing");
    assert_eq!(code(github(&[("x-github-delivery", "")], "{}")), "event_id_missing");
    assert_eq!(code(github(&[("x-github-delivery", "d1")], "")), "body_empty");
    assert_eq!(
        code(github(&[("x-github-delivery", "d1, d2")], "{}")),
        "event_id_invalid"
    );
    assert_eq!(
        code(github(
            &[("x-github-delivery", "d1"), ("X-GITHUB-DELIVERY", "d1")],
            "{}"
        )),
        "event_id_invalid"
    );
}

#[test]
fn a_body_that_is_not_text_is_damaged_whatever_its_headers_say() {
    let headers = [("x-github-delivery".to_owned(), "d1".to_owned())];
    let request = KeyRequest {
        sender: known("github"),
        scope: "s",
        source: Source::Provider,
        headers: Headers(&headers),
        now_ms: 0,
    };
    assert_eq!(code(derive(&request, b"{\"a\":\"\xff\"}")), "body_not_json");
    // Nothing is known of the format of a custom sender.
    let sender = Sender::Custom {
        id_header: Some("x-github-delivery"),
        id_signed: true,
    };
    let key = derive(&KeyRequest { sender, ..request }, b"\xff").unwrap();
    assert_eq!((key.event_id.as_str(), key.id_signed), ("d1", true));
}

#[test]
fn a_form_field_counts_only_where_the_body_is_no_json() {
    let slack = |body: &str| ask(known("slack"), Source::Provider, &[], body);
    assert_eq!(
        slack("token=t&trigger_id=13345.738%2Ba+b&x").unwrap().event_id,
        "13345.738+a b"
    );
    assert_eq!(
        slack(r#"{"event_id":"Ev1","x":"&trigger_id=2"}"#).unwrap().event_id,
        "Ev1"
    );
    assert_eq!(code(slack(r#"{"x":"&trigger_id=2"}"#)), "event_id_missing");
    assert_eq!(code(slack("trigger_id=1&trigger%5Fid=2")), "event_id_invalid");
    assert_eq!(code(slack("trigger_id=%ff")), "event_id_invalid");
    assert_eq!(code(slack("trigger_id=")), "event_id_missing");
    assert_eq!(code(slack("token=t")), "body_not_json");
}

#[test]
fn a_handshake_has_a_type_and_no_id() {
    let body = r#"{"type":"url_verification","challenge":"c"}"#;
    assert_eq!(
        code(ask(known("slack"), Source::Provider, &[], body)),
        "event_id_missing"
    );
    let handshake = event_type(known("slack"), Headers(&[]), body.as_bytes());
    assert_eq!(handshake.as_deref(), Some("url_verification"));
}

#[test]
fn a_source_that_names_nothing_is_a_setting_to_mend() {
    assert_eq!(
        code(ask(known("none"), Source::Provider, &[], "{}")),
        "key_source_invalid"
    );
    let sender = Sender::Custom {
        id_header: None,
        id_signed: false,
    };
    assert_eq!(code(ask(sender, Source::Provider, &[], "{}")), "key_source_invalid");
    assert_eq!(code(value(&[])), "key_source_invalid");
    assert_eq!(code(body_key(&["id"], "{}")), "pointer_invalid");
}

#[test]
fn long_and_foreign_looking_ids_are_hashed() {
    let longest = "x".repeat(MAX_ID_BYTES);
    assert_eq!(value(&[&longest]).unwrap().event_id, longest);
    let mut seen = std::collections::BTreeSet::new();
    let longer = "x".repeat(MAX_ID_BYTES + 1);
    for id in [
        longer.as_str(),
        "sha256:1",
        "parts:1:a1:b",
        "parts-sha256:1",
        "jcs-sha256:1",
        "raw-sha256:1",
        "slot:60000:1",
    ] {
        let key = value(&[id]).unwrap();
        assert!(
            key.hashed && key.event_id.starts_with("sha256:") && key.event_id.len() == 71,
            "{}",
            key.event_id
        );
        assert!(seen.insert(key.event_id));
    }
    // A hash that comes back as an id does not meet the id it was made of.
    let hash = value(&["sha256:1"]).unwrap().event_id;
    assert_ne!(value(&[&hash]).unwrap().event_id, hash);
    // Case is not folded, so this one is nobody's.
    assert!(!value(&["SHA256:1"]).unwrap().hashed);
}

#[test]
fn composite_ids_are_unambiguous_and_whole() {
    assert_eq!(value(&["ab", "c"]).unwrap().event_id, "parts:2:ab1:c");
    assert_ne!(
        value(&["ab", "c"]).unwrap().event_id,
        value(&["a", "bc"]).unwrap().event_id
    );
    assert_ne!(
        value(&["a", "b", "c"]).unwrap().event_id,
        value(&["a", "b1:c"]).unwrap().event_id
    );
    assert_eq!(value(&["a"]).unwrap().event_id, "a");
    assert_eq!(code(value(&["a", ""])), "event_id_missing");
    assert_eq!(code(value(&[""])), "event_id_missing");
    assert_eq!(code(value(&["a", "b\0"])), "event_id_invalid");
    let long = "y".repeat(MAX_ID_BYTES);
    let composite = value(&[&long, "a"]).unwrap();
    assert!(composite.hashed);
    let text = format!("parts:{}:{long}1:a", long.len());
    assert_ne!(composite.event_id, value(&[&text]).unwrap().event_id);
}

#[test]
fn the_body_is_a_key_of_last_resort() {
    let key = body_key(&[], r#"{"b":1,"a":[2]}"#).unwrap();
    assert!(key.event_id.starts_with("jcs-sha256:"));
    assert_eq!(
        (key.source, key.hashed, key.id_signed),
        (KeySource::CanonicalJson, false, true)
    );
    assert_eq!(
        body_key(&[], r#"{ "a": [2.0], "b": 1 }"#).unwrap().event_id,
        key.event_id
    );
    assert_eq!(
        body_key(&["/sent_at"], r#"{"b":1,"a":[2],"sent_at":5}"#)
            .unwrap()
            .event_id,
        key.event_id
    );
    assert_ne!(body_key(&[], r#"{"b":1,"a":[3]}"#).unwrap().event_id, key.event_id);

    let raw = body_key(&[], r#"{"a":1,"a":1}"#).unwrap();
    assert_eq!(raw.source, KeySource::RawBody);
    assert_eq!(raw.event_id, raw.body_digest.replace("sha256:", "raw-sha256:"));
    assert_eq!(code(body_key(&[], "")), "body_empty");
    assert_eq!(code(body_key(&[], &"[".repeat(129))), "body_too_deep");
    let unsigned = ask(known("none"), Source::BodyDigest { exclude: &[] }, &[], "{}").unwrap();
    assert!(!unsigned.id_signed);
}

#[test]
fn a_slot_is_one_key_from_its_first_millisecond_to_its_last() {
    let slot = |slot_ms, now_ms| {
        let request = KeyRequest {
            sender: known("none"),
            scope: "s",
            source: Source::TimeSlot { slot_ms },
            headers: Headers(&[]),
            now_ms,
        };
        derive(&request, b"")
    };
    assert_eq!(slot(60_000, 120_000).unwrap().event_id, "slot:60000:2");
    assert_eq!(slot(60_000, 179_999).unwrap().event_id, "slot:60000:2");
    assert_eq!(slot(60_000, 180_000).unwrap().event_id, "slot:60000:3");
    assert_eq!(slot(86_400_000, 0).unwrap().source, KeySource::TimeSlot);
    for slot_ms in [0, 999, 86_400_001, u64::MAX] {
        assert_eq!(code(slot(slot_ms, 1)), "slot_invalid");
    }
}

#[test]
fn the_scope_has_to_be_a_name() {
    let scoped = |scope: &str| {
        let request = KeyRequest {
            sender: known(STRIPE),
            scope,
            source: Source::Provider,
            headers: Headers(&[]),
            now_ms: 0,
        };
        derive(&request, br#"{"id":"e"}"#)
    };
    for bad in ["", "a\0", &"s".repeat(MAX_ID_BYTES + 1)] {
        assert_eq!(code(scoped(bad)), "scope_invalid");
    }
    assert!(scoped(&"s".repeat(MAX_ID_BYTES)).is_ok());
}

#[test]
fn the_key_for_downstream_is_stable_and_nobody_elses() {
    // Computed once; changing it would repeat every charge that is in flight during an upgrade.
    assert_eq!(
        idempotency_key("workflow:1", "stripe", "evt_1"),
        "n8n-a65a25d9d24067443fbe64591319fe8a1de5fc05"
    );
    let keys: std::collections::BTreeSet<_> = [
        ("a", "b", "c"),
        ("ab", "", "c"),
        ("a", "bc", ""),
        ("", "ab", "c"),
        ("b", "a", "c"),
    ]
    .map(|(scope, provider, id)| idempotency_key(scope, provider, id))
    .into();
    assert_eq!(keys.len(), 5);
}

#[test]
fn an_overlong_type_is_left_out() {
    let long = "t".repeat(256);
    assert_eq!(
        stripe(&format!(r#"{{"id":"e","type":"{long}"}}"#)).unwrap().event_type,
        None
    );
    assert_eq!(stripe(r#"{"id":"e","type":""}"#).unwrap().event_type, None);
    assert_eq!(stripe(r#"{"id":"e","type":{"a":1}}"#).unwrap().event_type, None);
}
