use super::*;

fn scheme(change: impl FnOnce(&mut CustomScheme)) -> Result<Vec<String>, String> {
    let mut custom = CustomScheme {
        signature_header: "X-Signature".into(),
        algorithm: Algorithm::HmacSha256,
        encoding: Encoding::Hex,
        prefix: String::new(),
        timestamp_header: None,
        timestamp_unit: TimeUnit::Seconds,
        id_header: None,
        template: "{body}".into(),
        secret: SecretForm::Text,
    };
    change(&mut custom);
    match custom.compile() {
        Ok(compiled) => Ok(compiled.content.iter().map(|part| format!("{part:?}")).collect()),
        Err(Refusal::Misconfigured {
            code: ConfigurationCode::SchemeInvalid,
            text,
        }) => Err(text.message.into_owned()),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn a_template_is_cut_into_parts() {
    assert_eq!(scheme(|_| ()), Ok(vec!["Body".to_owned()]));
    let full = scheme(|custom| {
        custom.template = "v0:{timestamp}.{id}.{body}\n".into();
        custom.timestamp_header = Some("X-Time".into());
        custom.id_header = Some("X-Id".into());
    });
    let parts = [
        "Text(\"v0:\")",
        "Timestamp",
        "Text(\".\")",
        "Id",
        "Text(\".\")",
        "Body",
        "Text(\"\\n\")",
    ];
    assert_eq!(full, Ok(parts.map(str::to_owned).to_vec()));
}

#[test]
fn what_would_verify_less_than_it_seems_is_refused() {
    type Change = fn(&mut CustomScheme);
    let bad: [(&str, Change); 15] = [
        ("no body", |c| c.template = "fixed".into()),
        ("empty template", |c| c.template = String::new()),
        ("two bodies", |c| c.template = "{body}{body}".into()),
        ("unknown placeholder", |c| c.template = "{url}{body}".into()),
        ("stray brace", |c| c.template = "}{body}".into()),
        ("time not signed", |c| c.timestamp_header = Some("X-Time".into())),
        ("time without a header", |c| c.template = "{timestamp}.{body}".into()),
        ("id without a header", |c| c.template = "{id}.{body}".into()),
        ("id touches the body", |c| {
            c.template = "{id}{body}".into();
            c.id_header = Some("X-Id".into());
        }),
        ("only a time parts the id from the body", |c| {
            c.template = "{id}{timestamp}.{body}".into();
            c.id_header = Some("X-Id".into());
            c.timestamp_header = Some("X-Time".into());
        }),
        ("only a time parts the body from the id", |c| {
            c.template = "{body}{timestamp}{id}".into();
            c.id_header = Some("X-Id".into());
            c.timestamp_header = Some("X-Time".into());
        }),
        ("no header name", |c| c.signature_header = String::new()),
        ("a header line for a name", |c| {
            c.signature_header = "X-Signature: x".into();
        }),
        ("one header twice", |c| c.id_header = Some("x-signature".into())),
        ("line break in the prefix", |c| c.prefix = "a\nb".into()),
    ];
    for (case, change) in bad {
        assert!(scheme(change).is_err(), "{case}");
    }
}

#[test]
fn an_id_that_is_not_signed_is_told_apart() {
    let mut custom = CustomScheme {
        signature_header: "a".into(),
        algorithm: Algorithm::HmacSha256,
        encoding: Encoding::Hex,
        prefix: String::new(),
        timestamp_header: None,
        timestamp_unit: TimeUnit::Seconds,
        id_header: Some("b".into()),
        template: "{body}".into(),
        secret: SecretForm::Text,
    };
    assert!(!custom.id_signed());
    custom.template = "{id}.{body}".into();
    assert!(custom.id_signed());
}
