use super::*;
use crate::provider::PROVIDERS;

fn code(text: &str, form: SecretForm) -> Result<Key, ConfigurationCode> {
    Key::parse(text.as_bytes(), form, "Stripe").map_err(|refusal| match refusal {
        Refusal::Misconfigured { code, .. } => code,
        Refusal::Rejected { .. } => panic!("a secret is the user's doing"),
    })
}

fn shared(bytes: &[u8]) -> Key {
    Key::Shared(bytes.to_vec())
}

#[test]
fn nothing_and_white_space_are_no_secret() {
    for text in ["", "   ", "\n", "\u{feff}", "\u{200b} \t"] {
        assert_eq!(
            code(text, SecretForm::Text),
            Err(ConfigurationCode::SecretMissing),
            "{text:?}"
        );
    }
}

#[test]
fn white_space_around_a_secret_is_reported_not_trimmed() {
    for text in ["whsec_x\n", " whsec_x", "whsec_x\u{a0}", "\u{feff}whsec_x", "a\nb"] {
        assert_eq!(
            code(text, SecretForm::Text),
            Err(ConfigurationCode::SecretMalformed),
            "{text:?}"
        );
    }
    assert_eq!(
        code("It's a Secret to Everybody", SecretForm::Text),
        Ok(shared(b"It's a Secret to Everybody"))
    );
}

#[test]
fn each_form_decodes_in_its_own_way() {
    assert_eq!(code("whsec_AAEC", SecretForm::Text), Ok(shared(b"whsec_AAEC")));
    assert_eq!(code("00ffAA", SecretForm::Hex), Ok(shared(&[0, 255, 170])));
    assert_eq!(code("AAEC", SecretForm::Base64), Ok(shared(&[0, 1, 2])));
    for text in ["whsec_AAEC", "AAEC", "v1,whsec_AAEC"] {
        assert_eq!(
            code(text, SecretForm::StandardWebhooks),
            Ok(shared(&[0, 1, 2])),
            "{text}"
        );
    }
    assert_eq!(code("AAECAw", SecretForm::Base64), Ok(shared(&[0, 1, 2, 3])));
}

#[test]
fn no_form_decodes_to_less_than_it_says() {
    let bad = [
        ("whsec_", SecretForm::StandardWebhooks),
        ("v1,", SecretForm::StandardWebhooks),
        ("whsec_!!!!", SecretForm::StandardWebhooks),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwx", SecretForm::StandardWebhooks),
        ("whsec_-__-fn5-fn5-fn5-fn5-fn5-fn5-fn5-", SecretForm::StandardWebhooks),
        ("whpk_AAEC", SecretForm::StandardWebhooks),
        ("whsk_AAEC", SecretForm::StandardWebhooks),
        ("0", SecretForm::Hex),
        ("zz", SecretForm::Hex),
        ("====", SecretForm::Base64),
    ];
    for (text, form) in bad {
        assert_eq!(code(text, form), Err(ConfigurationCode::SecretMalformed), "{text}");
    }
}

/// Small-order points: under such a key a signature verifies that nobody made.
#[test]
fn a_weak_public_key_is_refused() {
    for text in [
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    ] {
        let text = format!("whpk_{text}");
        assert_eq!(
            code(&text, SecretForm::StandardWebhooks),
            Err(ConfigurationCode::SecretMalformed)
        );
    }
}

#[test]
fn a_key_fits_only_its_own_kind_of_signature() {
    let shared = Key::Shared(vec![1]);
    assert!(shared.fits(Algorithm::HmacSha1) && shared.fits(Algorithm::HmacSha256) && !shared.fits(Algorithm::Ed25519));
}

#[test]
fn the_key_is_not_printed() {
    assert_eq!(format!("{:?}", Key::Shared(b"hunter2".to_vec())), "Key([hidden])");
}

#[test]
fn another_credential_of_the_provider_is_recognised() {
    for provider in PROVIDERS {
        for (beginning, _) in provider.not_secrets {
            let text = format!("{beginning}0123456789");
            assert!(check(provider, text.as_bytes()).is_err(), "{text}");
        }
    }
    let stripe = Provider::find("stripe").unwrap();
    assert_eq!(check(stripe, b"whsec_0123456789abcdef"), Ok(()));
}
