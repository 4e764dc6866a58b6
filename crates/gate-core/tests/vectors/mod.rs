//! Reads `tests/vectors/signatures.json`.
#![allow(clippy::arithmetic_side_effects, reason = "small numbers of a test")]
#![allow(dead_code, reason = "each test file uses its own part")]

use gate_core::encoding::Encoding;
use gate_core::secret::SecretForm;
use gate_core::signature::{Algorithm, CustomScheme, TimeUnit};
use serde_json::Value;

/// One request of the file. `README.md` beside it explains the members.
pub(crate) struct Vector {
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) reason: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) secrets: Vec<String>,
    pub(crate) now_ms: u64,
    pub(crate) valid: bool,
    pub(crate) event_id: Option<String>,
    pub(crate) event_type: Option<String>,
}

impl Vector {
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.provider, self.name)
    }

    pub(crate) fn secrets(&self) -> Vec<&[u8]> {
        self.secrets.iter().map(String::as_bytes).collect()
    }

    /// Too large for tests that run it many times without optimisation.
    pub(crate) fn is_large(&self) -> bool {
        self.body.len() > 100_000
    }
}

pub(crate) fn load() -> Vec<Vector> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/signatures.json");
    let list: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    list.iter().map(read).collect()
}

/// The scheme of `generic_hmac_sha256_hex`, which is the user's own rather than a row of the table.
pub(crate) fn custom_scheme(vector: &Vector) -> Option<CustomScheme> {
    (vector.provider == "generic_hmac_sha256_hex").then(|| CustomScheme {
        signature_header: "Signature".into(),
        algorithm: Algorithm::HmacSha256,
        encoding: Encoding::Hex,
        prefix: "sha256 ".into(),
        timestamp_header: None,
        timestamp_unit: TimeUnit::Seconds,
        id_header: None,
        template: "{body}".into(),
        secret: SecretForm::Text,
    })
}

fn read(value: &Value) -> Vector {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    Vector {
        provider: text("provider").unwrap(),
        name: text("name").unwrap(),
        reason: text("reason").unwrap(),
        headers: value["headers"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(name, value)| lines(name, value))
            .collect(),
        body: body(value),
        secrets: value["secrets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap().to_owned())
            .collect(),
        now_ms: value["now_unix"].as_u64().unwrap_or(1_760_000_000) * 1000,
        valid: value["expect"] == "valid",
        event_id: text("event_id"),
        event_type: text("event_type"),
    }
}

/// A header whose value is a list was sent more than once.
fn lines(name: &str, value: &Value) -> Vec<(String, String)> {
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    values
        .iter()
        .map(|value| (name.to_owned(), value.as_str().unwrap().to_owned()))
        .collect()
}

fn body(value: &Value) -> Vec<u8> {
    let base64 = |value: &Value| Encoding::Base64.decode(value.as_str().unwrap()).unwrap();
    let Some(plan) = value.get("body_gen") else {
        return base64(&value["body_base64"]);
    };
    let number = |name: &str| usize::try_from(plan[name].as_u64().unwrap()).unwrap();
    let mut body = base64(&plan["prefix_base64"]);
    body.resize(
        body.len() + number("count"),
        u8::try_from(number("repeat_byte")).unwrap(),
    );
    body.extend(base64(&plan["suffix_base64"]));
    assert_eq!(body.len(), number("length"));
    body
}
