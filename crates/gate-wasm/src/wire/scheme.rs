//! `CustomScheme`.

use gate_core::encoding::Encoding;
use gate_core::secret::SecretForm;
use gate_core::signature::{self, Algorithm, TimeUnit};
use serde::Deserialize;

use super::{nullable, present};
use crate::calls::Malformed;

/// The member `custom` of a request: given exactly when the provider is `custom`.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct CustomMember(#[serde(deserialize_with = "present")] Option<CustomScheme>);

impl CustomMember {
    /// The scheme for this provider, `None` for one of the table.
    pub(crate) fn scheme_for(&self, provider: &str) -> Result<Option<signature::CustomScheme>, Malformed> {
        match (&self.0, provider == "custom") {
            (Some(custom), true) => Ok(Some(custom.as_core())),
            (None, false) => Ok(None),
            _ => Err(Malformed(
                "malformed request: 'custom' belongs to the provider 'custom'".into(),
            )),
        }
    }
}

/// A scheme described by the user.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CustomScheme {
    signature_header: String,
    algorithm: AlgorithmWord,
    encoding: EncodingWord,
    prefix: String,
    #[serde(deserialize_with = "nullable")]
    timestamp_header: Option<String>,
    timestamp_unit: UnitWord,
    #[serde(deserialize_with = "nullable")]
    id_header: Option<String>,
    template: String,
    secret_encoding: SecretWord,
}

impl CustomScheme {
    fn as_core(&self) -> signature::CustomScheme {
        signature::CustomScheme {
            signature_header: self.signature_header.clone(),
            algorithm: match self.algorithm {
                AlgorithmWord::Sha1 => Algorithm::HmacSha1,
                AlgorithmWord::Sha256 => Algorithm::HmacSha256,
                AlgorithmWord::Sha384 => Algorithm::HmacSha384,
                AlgorithmWord::Sha512 => Algorithm::HmacSha512,
            },
            encoding: match self.encoding {
                EncodingWord::Hex => Encoding::Hex,
                EncodingWord::Base64 => Encoding::Base64,
                EncodingWord::Base64url => Encoding::Base64Url,
            },
            prefix: self.prefix.clone(),
            timestamp_header: self.timestamp_header.clone(),
            timestamp_unit: match self.timestamp_unit {
                UnitWord::S => TimeUnit::Seconds,
                UnitWord::Ms => TimeUnit::Milliseconds,
            },
            id_header: self.id_header.clone(),
            template: self.template.clone(),
            secret: match self.secret_encoding {
                SecretWord::Utf8 => SecretForm::Text,
                SecretWord::Hex => SecretForm::Hex,
                SecretWord::Base64 => SecretForm::Base64,
            },
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AlgorithmWord {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EncodingWord {
    Hex,
    Base64,
    Base64url,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum UnitWord {
    S,
    Ms,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SecretWord {
    Utf8,
    Hex,
    Base64,
}
