use super::*;

fn without(exclude: &[&str], body: &str) -> String {
    let exclude: Vec<_> = exclude.iter().map(|&pointer| pointer.to_owned()).collect();
    String::from_utf8(canonicalize(Mode::GateExact1, &exclude, body.as_bytes()).unwrap()).unwrap()
}

fn code(result: Result<Vec<u8>, Refusal>) -> &'static str {
    match result {
        Ok(bytes) => panic!("accepted as {}", String::from_utf8_lossy(&bytes)),
        Err(Refusal::Rejected { code, .. }) => code.as_str(),
        Err(Refusal::Misconfigured { code, .. }) => code.as_str(),
    }
}

#[test]
fn members_are_sorted_by_utf16_code_units() {
    assert_eq!(
        without(&[], "{\"\\ufb33\":1,\"😀\":2,\"€\":3,\"\":4}"),
        "{\"\":4,\"€\":3,\"😀\":2,\"\u{fb33}\":1}"
    );
}

#[test]
fn objects_in_arrays_in_objects_find_their_members() {
    let body = r#" { "z" : [ 1, { "b" : [ ] , "a" : { } }, [ [ { "y" : 1, "x" : [ true , null ] } ] ], "s" ], "a" : { "c" : 1 } } "#;
    assert_eq!(
        without(&[], body),
        r#"{"a":{"c":1},"z":[1,{"a":{},"b":[]},[[{"x":[true,null],"y":1}]],"s"]}"#
    );
}

#[test]
fn members_are_left_out_wherever_a_pointer_says() {
    let body = r#"{"a":{"b":1,"c":2},"b":3,"d":[{"b":4},{"b":5,"e":6}]}"#;
    assert_eq!(
        without(&["/b"], body),
        r#"{"a":{"b":1,"c":2},"d":[{"b":4},{"b":5,"e":6}]}"#
    );
    assert_eq!(without(&["/a/b", "/a"], body), r#"{"b":3,"d":[{"b":4},{"b":5,"e":6}]}"#);
    assert_eq!(
        without(&["/a/b", "/a/c"], body),
        r#"{"a":{},"b":3,"d":[{"b":4},{"b":5,"e":6}]}"#
    );
    assert_eq!(
        without(&["/d/1/b"], body),
        r#"{"a":{"b":1,"c":2},"b":3,"d":[{"b":4},{"e":6}]}"#
    );
    assert_eq!(
        without(&["/d/*/b"], body),
        r#"{"a":{"b":1,"c":2},"b":3,"d":[{},{"e":6}]}"#
    );
    assert_eq!(
        without(&["/x", "/a/b/c", "/d/7", "/d/-", "/d/01", "/b/0"], body),
        without(&[], body)
    );
}

#[test]
fn elements_are_left_out_and_the_others_move_up() {
    assert_eq!(without(&["/0"], "[[1,{\"a\":2}],2,3]"), "[2,3]");
    assert_eq!(without(&["/1"], "[1,[2,[3]],3]"), "[1,3]");
    assert_eq!(without(&["/2", "/0"], "[1,2,{\"a\":[]}]"), "[2]");
    assert_eq!(without(&["/*"], "[1,{},[]]"), "[]");
    assert_eq!(without(&["/a/0/0", "/a/1"], r#"{"a":[[1,2],3,4]}"#), r#"{"a":[[2],4]}"#);
    assert_eq!(without(&["/0/0/0"], "[[[1]]]"), "[[[]]]");
}

#[test]
fn pointers_are_unescaped_and_a_star_is_a_name_in_an_object() {
    assert_eq!(
        without(
            &["/a~1b", "/~01", "/", "/é"],
            r#"{"a/b":1,"~1":2,"":3,"\u00e9":4,"c":5}"#
        ),
        r#"{"c":5}"#
    );
    assert_eq!(without(&["/*"], r#"{"*":1,"a":2}"#), r#"{"a":2}"#);
    assert_eq!(without(&["/0"], r#"{"0":1,"a":2}"#), r#"{"a":2}"#);
}

#[test]
fn a_pointer_has_to_be_one() {
    for bad in ["", "a", "a/b", "/~", "/a~", "/~2", "/~é"] {
        assert_eq!(
            code(canonicalize(Mode::Rfc8785, &[bad.to_owned()], b"{}")),
            "pointer_invalid",
            "{bad}"
        );
    }
}

#[test]
fn what_has_no_canonical_form_is_refused() {
    let refuse = |body: &str| code(canonicalize(Mode::GateExact1, &[], body.as_bytes()));
    assert_eq!(refuse(""), "body_empty");
    assert_eq!(refuse(r#"{"a":1,"\u0061":2}"#), "body_not_json");
    assert_eq!(refuse(r#"[{"x":{"k":1,"b":2,"k":1}}]"#), "body_not_json");
    assert_eq!(refuse(r#"["\ud800"]"#), "body_not_json");
    assert_eq!(refuse(r#"{"\udc00":1}"#), "body_not_json");
    assert_eq!(refuse("[1e99999999999]"), "body_not_json");
    assert_eq!(refuse(&"[".repeat(200)), "body_too_deep");
}

#[test]
fn a_name_twice_is_refused_even_where_it_is_left_out() {
    let exclude = ["/a".to_owned()];
    assert_eq!(
        code(canonicalize(Mode::GateExact1, &exclude, br#"{"a":1,"a":2}"#)),
        "body_not_json"
    );
}

#[test]
fn the_digest_is_that_of_the_canonical_form() {
    let body = br#"{ "b": [1.0, "x\u00e9"], "a": {"d": null, "c": 12345678901234567890} }"#;
    for mode in Mode::ALL {
        let bytes = canonicalize(*mode, &[], body).unwrap();
        let expected = format!("sha256:{}", encoding::to_hex(&Sha256::digest(&bytes)));
        let form = Form::Canonical(*mode);
        assert_eq!(digest(*mode, &[], body).unwrap(), Digest { text: expected, form });
    }
}

#[test]
fn the_digest_falls_back_to_the_raw_bytes_and_says_so() {
    for body in [
        &b"Hello"[..],
        b"",
        br#"{"a":1,"a":2}"#,
        br#""\ud800""#,
        b"\"\xff\"",
        b"[1,1e99999999999]",
    ] {
        let raw = format!("sha256:{}", encoding::to_hex(&Sha256::digest(body)));
        assert_eq!(
            digest(Mode::GateExact1, &[], body).unwrap(),
            Digest {
                text: raw,
                form: Form::Raw
            }
        );
    }
    assert!(digest(Mode::GateExact1, &[], "[".repeat(129).as_bytes()).is_err());
}

#[test]
fn one_leading_byte_order_mark_is_not_part_of_the_value() {
    assert_eq!(without(&[], "\u{feff}{\"a\":1}"), without(&[], "{\"a\":1}"));
    assert_eq!(
        code(canonicalize(Mode::Rfc8785, &[], "\u{feff}\u{feff}1".as_bytes())),
        "body_not_json"
    );
}

#[test]
fn an_object_of_many_members_is_no_more_work_than_its_size() {
    // Each with each would be ten thousand million comparisons.
    let members: Vec<_> = (0..100_000)
        .map(|n| format!("\"{}\":{n}", (n * 7919) % 100_000))
        .collect();
    let body = format!("{{{}}}", members.join(","));
    assert_eq!(without(&[], &body).len(), body.len());
}
