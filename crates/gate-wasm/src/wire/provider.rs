//! `ProviderInfo`.

use gate_core::provider::Provider;
use serde::Serialize;

/// One row of the provider table, as far as TypeScript needs it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    key: &'static str,
    display_name: &'static str,
    scheme: &'static str,
    signature_headers: Vec<&'static str>,
    signed_content: String,
    id_from: Option<String>,
    id_signed: bool,
    guard_body: bool,
    tolerance_ms: Option<u64>,
    secret_hint: &'static str,
    retry_window_ms: Option<u64>,
    evidence: &'static str,
    docs_url: &'static str,
}

impl From<&'static Provider> for ProviderInfo {
    fn from(provider: &'static Provider) -> Self {
        Self {
            key: provider.key,
            display_name: provider.display_name,
            scheme: provider.scheme.map_or("none", |scheme| scheme.name),
            signature_headers: provider.signature_headers().collect(),
            signed_content: provider.signed_content(),
            id_from: provider.id_from(),
            id_signed: provider.id_signed,
            guard_body: provider.guard_body(),
            tolerance_ms: provider
                .scheme
                .and_then(|scheme| scheme.timestamp)
                .map(|timestamp| timestamp.tolerance_ms),
            secret_hint: provider.secret_hint,
            retry_window_ms: provider.retry_window_ms,
            evidence: provider.evidence.as_str(),
            docs_url: provider.docs_url,
        }
    }
}
