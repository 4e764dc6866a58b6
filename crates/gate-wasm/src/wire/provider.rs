//! `ProviderInfo`.

use alloc::string::String;

use gate_core::provider::Provider;

use super::answer::Answer;

/// One row of the provider table, as far as TypeScript needs it.
pub(crate) fn answer(provider: &Provider) -> String {
    let tolerance_ms = provider
        .scheme
        .and_then(|scheme| scheme.timestamp)
        .map(|timestamp| timestamp.tolerance_ms);
    Answer::new()
        .text("key", provider.key)
        .text("displayName", provider.display_name)
        .text("scheme", provider.scheme.map_or("none", |scheme| scheme.name))
        .texts("signatureHeaders", provider.signature_headers())
        .text("signedContent", &provider.signed_content())
        .nullable_text("idFrom", provider.id_from().as_deref())
        .flag("idSigned", provider.id_signed)
        .flag("guardBody", provider.guard_body())
        .nullable_number("toleranceMs", tolerance_ms)
        .text("secretHint", provider.secret_hint)
        .nullable_number("retryWindowMs", provider.retry_window_ms)
        .text("evidence", provider.evidence.as_str())
        .text("docsUrl", provider.docs_url)
        .end()
}
