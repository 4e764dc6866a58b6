use super::*;

fn faults(text: &str) -> Option<Fault> {
    let mut reader = Reader::new(text);
    loop {
        match reader.next_token() {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(error) => return Some(error.fault),
        }
    }
}

fn string(text: &str) -> RawString<'_> {
    match Reader::new(text).next_token() {
        Ok(Some(Token::String(string))) => string,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn the_grammar_is_taken_literally() {
    for good in [
        "null",
        " true ",
        "\t[\r\n]",
        "{}",
        "[[],{}]",
        r#"{"a":{"b":[1,"x"]},"":null}"#,
        "-0",
        "0.0e-0",
        "1E+2",
        "\u{feff}1",
        r#""\u0041\"\\\/\b\f\n\r\t""#,
        "\"\u{7f}\u{2028}\"",
    ] {
        assert_eq!(faults(good), None, "{good}");
    }
    for bad in [
        "",
        " ",
        "nul",
        "nulll",
        "True",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "]",
        "{",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\":1]",
        "[1}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "01",
        "-",
        "+1",
        ".5",
        "1.",
        "1.e1",
        "1e",
        "1e+",
        "0x1",
        "--1",
        "1 2",
        "{} x",
        "\u{feff}\u{feff}1",
        "1\u{feff}",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u+123\"",
        "\"\\u12G4\"",
        "\"\n\"",
        "\"\u{1}\"",
        "'a'",
        "/**/1",
        "\u{c}1",
        "\u{a0}1",
        "1\0",
        "NaN",
        "Infinity",
    ] {
        assert_eq!(faults(bad), Some(Fault::Syntax), "{bad}");
    }
}

#[test]
fn depth_is_limited_by_name() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(faults(&nested(MAX_DEPTH)), None);
    assert_eq!(faults(&nested(MAX_DEPTH + 1)), Some(Fault::TooDeep));
    assert_eq!(faults(&"{\"a\":".repeat(1_000_000)), Some(Fault::TooDeep));
}

#[test]
fn the_kind_of_a_container_is_remembered_at_every_depth() {
    let pattern = |levels: usize| (0..levels).map(|level| level % 3 == 0);
    let open: String = pattern(MAX_DEPTH)
        .map(|object| if object { "{\"a\":" } else { "[" })
        .collect();
    let closers: Vec<_> = pattern(MAX_DEPTH)
        .map(|object| if object { "}" } else { "]" })
        .collect();
    let close: String = closers.into_iter().rev().collect();
    assert_eq!(faults(&format!("{open}1{close}")), None);
    assert_eq!(
        faults(&format!("{open}1{}", close.replacen('}', "]", 1))),
        Some(Fault::Syntax)
    );
}

#[test]
fn errors_say_where() {
    assert_eq!(
        utf8(b"\"a\xff\""),
        Err(JsonError {
            fault: Fault::NotUtf8,
            offset: 2
        })
    );
    let mut reader = Reader::new("\u{feff}[1,x]");
    let error = loop {
        if let Err(error) = reader.next_token() {
            break error;
        }
    };
    assert_eq!(
        error,
        JsonError {
            fault: Fault::Syntax,
            offset: 6
        }
    );
}

#[test]
fn strings_mean_what_their_escapes_say() {
    assert_eq!(
        string(r#""caf\u00E9 \ud83d\ude00 \/\\n""#).decode().unwrap(),
        "café 😀 /\\n"
    );
    assert_eq!(string("\"plain\"").decode().unwrap(), "plain");
    assert!(string(r#""\u0069d""#).is("id"));
    assert!(!string(r#""id""#).is("i"));
}

#[test]
fn half_a_surrogate_pair_is_noticed_and_not_decoded() {
    for lone in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\udc00\ud800""#,
        r#""\ud800x\udc00""#,
        r#""\ud800\n\udc00""#,
        r#""\ud800\ud800\udc00""#,
        r#""\ud83d\ude00\udc00""#,
    ] {
        assert!(string(lone).has_lone_surrogate(), "{lone}");
        assert_eq!(string(lone).decode(), None, "{lone}");
    }
    assert!(!string(r#""\ud800\udc00\ud800\udc00""#).has_lone_surrogate());
}

#[test]
fn strings_are_ordered_by_utf16_code_units_escaped_or_not() {
    let texts = [
        "",
        "\u{7f}",
        "\u{80}",
        "a",
        "ab",
        "é",
        "\u{d7ff}",
        "\u{e000}",
        "\u{fb33}",
        "\u{ffff}",
        "\u{10000}",
        "\u{1f602}",
        "\u{10ffff}",
    ];
    for a in texts {
        for b in texts {
            let expected = a.encode_utf16().cmp(b.encode_utf16());
            let (plain_a, plain_b) = (format!("\"{a}\""), format!("\"{b}\""));
            let units: Vec<_> = b.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let escaped_b = format!("\"{}\"", units.concat());
            assert_eq!(string(&plain_a).cmp_utf16(string(&plain_b)), expected, "{a} {b}");
            assert_eq!(string(&plain_a).cmp_utf16(string(&escaped_b)), expected, "{a} {b}");
        }
    }
}

fn found(text: &str, path: &[&str]) -> String {
    match extract(text, &[path]).unwrap()[0] {
        Found::Absent => "absent".to_owned(),
        Found::Null => "null".to_owned(),
        Found::Repeated => "repeated".to_owned(),
        Found::Other => "other".to_owned(),
        Found::Number(literal) => literal.to_owned(),
        Found::String(text) => text.decode().unwrap().into_owned(),
    }
}

#[test]
fn values_are_found_at_their_path_and_nowhere_else() {
    assert_eq!(found(r#"{"data":{"id":1},"list":[{"id":2}],"id":3}"#, &["id"]), "3");
    assert_eq!(
        found(
            r#"{"type":"a","x":{"event":{"type":"no"}},"event":{"y":{"type":"no"},"type":"b"}}"#,
            &["event", "type"]
        ),
        "b"
    );
    assert_eq!(found(r#"{"event":[{"type":"b"}]}"#, &["event", "type"]), "absent");
    assert_eq!(found(r#"{"event":"x","type":"b"}"#, &["event", "type"]), "absent");
    assert_eq!(found(r#"{"event":{},"type":"b"}"#, &["event", "type"]), "absent");
    assert_eq!(found(r#"[{"id":1}]"#, &["id"]), "absent");
    assert_eq!(found(r#""id""#, &["id"]), "absent");
    assert_eq!(
        found(r#"{"id":123456789012345678901}"#, &["id"]),
        "123456789012345678901"
    );
    assert_eq!(found(r#"{"id":[1]}"#, &["id"]), "other");
    assert_eq!(found(r#"{"id":null}"#, &["id"]), "null");
}

#[test]
fn a_name_that_stands_twice_on_the_path_is_no_answer() {
    assert_eq!(found(r#"{"id":1,"id":1}"#, &["id"]), "repeated");
    assert_eq!(found(r#"{"id":1,"\u0069d":2}"#, &["id"]), "repeated");
    assert_eq!(found(r#"{"id":1,"id":{"id":2}}"#, &["id"]), "repeated");
    assert_eq!(found(r#"{"a":{"b":1},"a":{}}"#, &["a", "b"]), "repeated");
    assert_eq!(found(r#"{"a":{},"a":{"b":1}}"#, &["a", "b"]), "repeated");
    assert_eq!(found(r#"{"a":{"b":1,"b":2},"c":3}"#, &["a", "b"]), "repeated");
    assert_eq!(found(r#"{"x":1,"x":2,"y":{"id":1,"id":2},"id":3}"#, &["id"]), "3");
}

#[test]
fn a_cut_off_text_has_no_values() {
    assert!(extract(r#"{"id":"evt_1","#, &[&["id"]]).is_err());
    assert!(extract(r#"{"id":"evt_1"} {"#, &[&["id"]]).is_err());
}
