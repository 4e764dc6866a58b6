//! The rows. Sources: each provider's own SDK or documentation, as `evidence` and `docs_url` say; the vectors that prove a
//! row are in `tests/vectors/signatures.json`.

use super::{Evidence, Field, Provider};
use crate::encoding::Encoding;
use crate::secret::SecretForm;
use crate::signature::{Algorithm, EmptyBody, Grammar, HeaderFamily, Label, Part, Scheme, TimeUnit, Timestamp};

/// Every provider, in alphabetical order of the display name.
pub static PROVIDERS: &[Provider] = &[
    Provider {
        key: "github",
        display_name: "GitHub",
        scheme: Some(&Scheme {
            name: "github-sha256",
            // `x-hub-signature` (SHA-1) stands beside it and is never looked at.
            families: &[signature_only("x-hub-signature-256")],
            grammar: Grammar::Single,
            labels: &[hmac_sha256("sha256=")],
            encoding: Encoding::Hex,
            content: &[Part::Body],
            timestamp: None,
            secret: SecretForm::Text,
            empty_body: EmptyBody::Verify,
        }),
        secret_hint: "the text you chose as 'Secret' of the webhook",
        not_secrets: &[
            ("ghp_", "a personal access token"),
            ("github_pat_", "a personal access token"),
        ],
        // The same on a manual redelivery.
        event_id: &[Field::Header("x-github-delivery")],
        id_signed: false,
        event_type: &[&[Field::Header("x-github-event")], &[Field::Body(&["action"])]],
        // GitHub never retries by itself.
        retry_window_ms: None,
        evidence: Evidence::Published,
        docs_url: "https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries",
    },
    Provider {
        key: "none",
        display_name: "None",
        scheme: None,
        secret_hint: "no secret is needed",
        not_secrets: &[],
        event_id: &[],
        id_signed: false,
        event_type: &[],
        retry_window_ms: None,
        evidence: Evidence::Docs,
        docs_url: "",
    },
    Provider {
        key: "paddle",
        display_name: "Paddle Billing",
        scheme: Some(&Scheme {
            name: "paddle-h1",
            families: &[signature_only("paddle-signature")],
            grammar: Grammar::Pairs {
                separator: ';',
                timestamp: "ts",
            },
            labels: &[hmac_sha256("h1")],
            encoding: Encoding::Hex,
            content: &[Part::Timestamp, Part::Text(":"), Part::Body],
            timestamp: Some(Timestamp {
                unit: TimeUnit::Seconds,
                tolerance_ms: 5_000,
            }),
            secret: SecretForm::Text,
            empty_body: EmptyBody::Verify,
        }),
        secret_hint: "starts with pdl_ntfset_",
        not_secrets: &[("pdl_live_", "an API key"), ("pdl_sdbx_", "an API key")],
        // Not `notification_id`: that one is new for every destination.
        event_id: &[Field::Body(&["event_id"])],
        id_signed: true,
        event_type: &[&[Field::Body(&["event_type"])]],
        retry_window_ms: Some(3 * DAY_MS),
        evidence: Evidence::Sdk,
        docs_url: "https://developer.paddle.com/webhooks/signature-verification",
    },
    Provider {
        key: "razorpay",
        display_name: "Razorpay",
        scheme: Some(&Scheme {
            name: "razorpay-sha256",
            families: &[signature_only("x-razorpay-signature")],
            grammar: Grammar::Single,
            labels: &[hmac_sha256("")],
            encoding: Encoding::Hex,
            content: &[Part::Body],
            timestamp: None,
            secret: SecretForm::Text,
            empty_body: EmptyBody::Verify,
        }),
        secret_hint: "the text you chose as 'Secret' of the webhook, not the API key's secret",
        not_secrets: &[("rzp_live_", "an API key"), ("rzp_test_", "an API key")],
        event_id: &[Field::Header("x-razorpay-event-id")],
        id_signed: false,
        event_type: &[&[Field::Body(&["event"])]],
        retry_window_ms: Some(DAY_MS),
        evidence: Evidence::Sdk,
        docs_url: "https://razorpay.com/docs/webhooks/validate-test/",
    },
    Provider {
        key: "shopify",
        display_name: "Shopify",
        scheme: Some(&Scheme {
            name: "shopify-sha256",
            families: &[
                signature_only("x-shopify-hmac-sha256"),
                signature_only("shopify-hmac-sha256"),
            ],
            grammar: Grammar::Single,
            labels: &[hmac_sha256("")],
            encoding: Encoding::Base64,
            content: &[Part::Body],
            timestamp: None,
            secret: SecretForm::Text,
            empty_body: EmptyBody::Verify,
        }),
        secret_hint: "the app's client secret, or the key under Settings > Notifications > Webhooks",
        not_secrets: &[
            ("shpat_", "an access token"),
            ("shpca_", "an access token"),
            ("shppa_", "an access token"),
        ],
        // The event id is shared by several subscriptions, each of which is a delivery of its own: the webhook id comes first.
        event_id: &[
            Field::Header("x-shopify-webhook-id"),
            Field::Header("shopify-webhook-id"),
            Field::Header("x-shopify-event-id"),
            Field::Header("shopify-event-id"),
        ],
        id_signed: false,
        event_type: &[&[Field::Header("x-shopify-topic"), Field::Header("shopify-topic")]],
        retry_window_ms: Some(4 * HOUR_MS),
        evidence: Evidence::Sdk,
        docs_url: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
    },
    Provider {
        key: "slack",
        display_name: "Slack",
        scheme: Some(&Scheme {
            name: "slack-v0",
            families: &[HeaderFamily {
                signature: "x-slack-signature",
                timestamp: Some("x-slack-request-timestamp"),
                id: None,
            }],
            grammar: Grammar::Single,
            labels: &[hmac_sha256("v0=")],
            encoding: Encoding::Hex,
            content: &[Part::Text("v0:"), Part::Timestamp, Part::Text(":"), Part::Body],
            timestamp: FIVE_MINUTES,
            secret: SecretForm::Text,
            empty_body: EmptyBody::Verify,
        }),
        secret_hint: "32 hexadecimal digits, the app's 'Signing Secret'",
        not_secrets: &[
            ("xoxb-", "a bot token"),
            ("xoxp-", "a user token"),
            ("xapp-", "an app-level token"),
        ],
        // Slash commands and interactive messages come as a form and have no event id.
        event_id: &[Field::Body(&["event_id"]), Field::Form("trigger_id")],
        id_signed: true,
        event_type: &[&[Field::Body(&["event", "type"]), Field::Body(&["type"])]],
        // At once, after 1 minute, after 5 minutes.
        retry_window_ms: Some(6 * MINUTE_MS),
        evidence: Evidence::Sdk,
        docs_url: "https://docs.slack.dev/authentication/verifying-requests-from-slack",
    },
    Provider {
        key: "standard_webhooks",
        display_name: "Standard Webhooks",
        scheme: Some(&Scheme {
            name: "standard-webhooks-v1",
            families: &[WEBHOOK, SVIX],
            ..STANDARD_WEBHOOKS
        }),
        secret_hint: "starts with whsec_ (or whpk_ for a public key)",
        not_secrets: &[],
        event_id: &[Field::Header("webhook-id"), Field::Header("svix-id")],
        id_signed: true,
        event_type: &[&[Field::Body(&["type"]), Field::Body(&["event_type"])]],
        retry_window_ms: None,
        evidence: Evidence::Sdk,
        docs_url: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
    },
    Provider {
        key: "stripe",
        display_name: "Stripe",
        scheme: Some(&Scheme {
            name: "stripe-v1",
            families: &[signature_only("stripe-signature")],
            grammar: Grammar::Pairs {
                separator: ',',
                timestamp: "t",
            },
            // `v0` is a test-mode signature of another kind.
            labels: &[hmac_sha256("v1")],
            encoding: Encoding::Hex,
            content: &[Part::Timestamp, Part::Text("."), Part::Body],
            timestamp: FIVE_MINUTES,
            // The whole text with `whsec_` is the key; it is never decoded.
            secret: SecretForm::Text,
            empty_body: EmptyBody::Refuse,
        }),
        secret_hint: "starts with whsec_",
        not_secrets: &[
            ("sk_", "a secret API key"),
            ("rk_", "a restricted API key"),
            ("pk_", "a publishable API key"),
            ("we_", "the id of the endpoint"),
        ],
        event_id: &[Field::Body(&["id"])],
        id_signed: true,
        event_type: &[&[Field::Body(&["type"])]],
        retry_window_ms: Some(3 * DAY_MS),
        evidence: Evidence::Sdk,
        docs_url: "https://docs.stripe.com/webhooks/signature",
    },
    Provider {
        key: "svix",
        display_name: "Svix",
        scheme: Some(&Scheme {
            name: "svix-v1",
            families: &[SVIX, WEBHOOK],
            ..STANDARD_WEBHOOKS
        }),
        secret_hint: "starts with whsec_",
        not_secrets: &[],
        event_id: &[Field::Header("svix-id"), Field::Header("webhook-id")],
        id_signed: true,
        event_type: &[&[Field::Body(&["type"]), Field::Body(&["event_type"])]],
        // 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h.
        retry_window_ms: Some(27 * HOUR_MS + 35 * MINUTE_MS + 5_000),
        evidence: Evidence::Sdk,
        docs_url: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
    },
];

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

const FIVE_MINUTES: Option<Timestamp> = Some(Timestamp {
    unit: TimeUnit::Seconds,
    tolerance_ms: 300_000,
});

/// Standard Webhooks and Svix sign alike; they differ in which headers they expect first.
const STANDARD_WEBHOOKS: Scheme<'static> = Scheme {
    name: "",
    families: &[],
    grammar: Grammar::Words,
    labels: &[
        hmac_sha256("v1"),
        Label {
            text: "v1a",
            algorithm: Algorithm::Ed25519,
        },
    ],
    encoding: Encoding::Base64,
    content: &[Part::Id, Part::Text("."), Part::Timestamp, Part::Text("."), Part::Body],
    timestamp: FIVE_MINUTES,
    secret: SecretForm::StandardWebhooks,
    empty_body: EmptyBody::Verify,
};

const WEBHOOK: HeaderFamily<'static> = HeaderFamily {
    signature: "webhook-signature",
    timestamp: Some("webhook-timestamp"),
    id: Some("webhook-id"),
};

const SVIX: HeaderFamily<'static> = HeaderFamily {
    signature: "svix-signature",
    timestamp: Some("svix-timestamp"),
    id: Some("svix-id"),
};

const fn signature_only(signature: &'static str) -> HeaderFamily<'static> {
    HeaderFamily {
        signature,
        timestamp: None,
        id: None,
    }
}

const fn hmac_sha256(text: &'static str) -> Label<'static> {
    Label {
        text,
        algorithm: Algorithm::HmacSha256,
    }
}
