//! `CustomScheme`.

use gate_core::encoding::Encoding;
use gate_core::secret::SecretForm;
use gate_core::signature::{Algorithm, CustomScheme, TimeUnit};

use super::request::Object;
use crate::calls::{CUSTOM, Malformed};

/// The member `custom` of a request: given exactly when the provider is `custom`.
pub(crate) fn custom(request: &mut Object<'_>, provider: &str) -> Result<Option<CustomScheme>, Malformed> {
    if provider != CUSTOM && !request.has("custom") {
        return Ok(None);
    }
    match request.object("custom") {
        Some(object) if provider == CUSTOM => scheme(object).map(Some),
        _ => Err(Malformed { field: "custom" }),
    }
}

fn scheme(mut object: Object<'_>) -> Result<CustomScheme, Malformed> {
    let (algorithm, encoding) = (object.word("algorithm", algorithm), object.word("encoding", encoding));
    let (timestamp_unit, secret) = (
        object.word("timestampUnit", time_unit),
        object.word("secretEncoding", secret_form),
    );
    let scheme = CustomScheme {
        signature_header: object.text("signatureHeader"),
        algorithm: algorithm.unwrap_or(Algorithm::HmacSha256),
        encoding: encoding.unwrap_or(Encoding::Hex),
        prefix: object.text("prefix"),
        timestamp_header: object.nullable_text("timestampHeader"),
        timestamp_unit: timestamp_unit.unwrap_or(TimeUnit::Seconds),
        id_header: object.nullable_text("idHeader"),
        template: object.text("template"),
        secret: secret.unwrap_or(SecretForm::Text),
    };
    // An unknown word has been noted: what stands in for it goes nowhere.
    object.end()?;
    Ok(scheme)
}

fn algorithm(word: &str) -> Option<Algorithm> {
    match word {
        "sha1" => Some(Algorithm::HmacSha1),
        "sha256" => Some(Algorithm::HmacSha256),
        "sha384" => Some(Algorithm::HmacSha384),
        "sha512" => Some(Algorithm::HmacSha512),
        _ => None,
    }
}

fn encoding(word: &str) -> Option<Encoding> {
    match word {
        "hex" => Some(Encoding::Hex),
        "base64" => Some(Encoding::Base64),
        "base64url" => Some(Encoding::Base64Url),
        _ => None,
    }
}

fn time_unit(word: &str) -> Option<TimeUnit> {
    match word {
        "s" => Some(TimeUnit::Seconds),
        "ms" => Some(TimeUnit::Milliseconds),
        _ => None,
    }
}

fn secret_form(word: &str) -> Option<SecretForm> {
    match word {
        "utf8" => Some(SecretForm::Text),
        "hex" => Some(SecretForm::Hex),
        "base64" => Some(SecretForm::Base64),
        _ => None,
    }
}
