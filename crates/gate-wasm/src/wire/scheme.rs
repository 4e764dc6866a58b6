//! `CustomScheme`.

use gate_core::encoding::Encoding;
use gate_core::secret::SecretForm;
use gate_core::signature::{Algorithm, CustomScheme, TimeUnit};

use super::request::{Object, wrong};
use crate::calls::{CUSTOM, Malformed};

/// The member `custom` of a request: given exactly when the provider is `custom`.
pub(crate) fn custom(request: &mut Object<'_>, provider: &str) -> Result<Option<CustomScheme>, Malformed> {
    match (request.optional_object("custom")?, provider == CUSTOM) {
        (Some(object), true) => scheme(object).map(Some),
        (None, false) => Ok(None),
        _ => Err(wrong("custom", "what belongs to the provider 'custom', and only to it")),
    }
}

fn scheme(mut object: Object<'_>) -> Result<CustomScheme, Malformed> {
    let scheme = CustomScheme {
        signature_header: object.text("signatureHeader")?,
        algorithm: object.word("algorithm", algorithm)?,
        encoding: object.word("encoding", encoding)?,
        prefix: object.text("prefix")?,
        timestamp_header: object.nullable_text("timestampHeader")?,
        timestamp_unit: object.word("timestampUnit", time_unit)?,
        id_header: object.nullable_text("idHeader")?,
        template: object.text("template")?,
        secret: object.word("secretEncoding", secret_form)?,
    };
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
