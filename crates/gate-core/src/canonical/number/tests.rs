use super::*;

fn spell(mode: Mode, literal: &str) -> Option<String> {
    let mut bytes = Vec::new();
    write(literal, mode, &mut bytes).then(|| String::from_utf8(bytes).unwrap())
}

fn exact(literal: &str) -> String {
    spell(Mode::GateExact1, literal).unwrap()
}

fn rfc(literal: &str) -> String {
    spell(Mode::Rfc8785, literal).unwrap()
}

#[test]
fn one_value_has_one_spelling() {
    let groups: &[&[&str]] = &[
        &["1", "1.0", "10e-1", "0.1e1", "1E+0", "1e-0", "0.00001e5", "100000e-5"],
        &["0", "-0", "0.0", "-0e99999999999999999999", "0e-5"],
        &[
            "1234567890123456789",
            "1234567890123456789.0",
            "123456789012345678.9e1",
            "12345678901234567890e-1",
        ],
        &["1e400", "10e399", "0.1e401", "1e0000400"],
        &["1e-400", "0.1e-399"],
        &["-9007199254740993", "-9.007199254740993e15"],
    ];
    for group in groups {
        let spellings: std::collections::BTreeSet<_> = group.iter().map(|literal| exact(literal)).collect();
        assert_eq!(spellings.len(), 1, "{spellings:?}");
    }
}

#[test]
fn digits_that_a_double_would_lose_are_kept() {
    for kept in [
        "1234567890123456789",
        "9007199254740993",
        "18446744073709551615",
        "123456789012345678901234567890",
        "100000000000000000000001",
        "0.1000000000000000055511151231257827",
        "1234567890123456789012345.5",
        "9007199254740992.5",
    ] {
        assert_eq!(exact(kept), kept);
        assert_ne!(rfc(kept), kept);
    }
    assert_eq!(exact("2e-324"), "2e-324");
    assert_eq!(rfc("2e-324"), "0");
}

#[test]
fn a_number_that_a_double_holds_is_written_as_the_rfc_does() {
    for (literal, written) in [
        ("1e21", "1e+21"),
        ("1e20", "100000000000000000000"),
        ("1E-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("-12.50", "-12.5"),
        ("5e-324", "5e-324"),
        ("1e23", "1e+23"),
        ("999999999999999", "999999999999999"),
    ] {
        assert_eq!(exact(literal), written);
        assert_eq!(rfc(literal), written);
    }
}

#[test]
fn a_long_exponent_costs_nothing() {
    assert_eq!(exact("1e400"), "1e+400");
    assert_eq!(exact("-12345e999999"), "-1.2345e+1000003");
    assert_eq!(exact("1e999999999"), "1e+999999999");
    for beyond in [
        "1e1000000000",
        "10e999999999",
        "1e-9999999999",
        "1e99999999999999999999999",
        "-1e-99999999999999999999999",
    ] {
        assert_eq!(spell(Mode::GateExact1, beyond), None, "{beyond}");
    }
    assert_eq!(spell(Mode::Rfc8785, "1e400"), None);
    assert_eq!(rfc("-1e-99999999999999999999999"), "0");
}

#[test]
fn as_many_zeros_as_the_exponent_says_cancel_out() {
    // The parser of the standard library reads this exponent as 70000 and the number as 0.
    let zeros = "0".repeat(700_000);
    let one = format!("0.{zeros}1e700001");
    assert_eq!(rfc(&one), "1");
    assert_eq!(exact(&one), "1");
    assert_eq!(exact(&format!("1{zeros}e-700000")), "1");
}

#[test]
fn the_text_never_gets_much_longer_than_the_literal() {
    for literal in [
        "1234567890123456e293",
        "1e308",
        "12345678901234567e100",
        "1e-300",
        "123456789012345678901e5",
        "9e999999999",
    ] {
        for mode in Mode::ALL {
            let written = spell(*mode, literal).map_or(0, |text| text.len());
            assert!(written <= 21 + 2 * literal.len(), "{literal}: {written}");
        }
    }
}
