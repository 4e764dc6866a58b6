// Written by `cargo xtask wasm` from crates/gate-core/src/vocabulary.rs. Do not edit.

export const STATES = [
	'processing',
	'failed',
	'uncertain',
	'completed',
	'dead',
] as const;
export type State = (typeof STATES)[number];

export const VERDICTS = [
	'claimed',
	'reentrant',
	'retried',
	'taken_over',
	'completed',
	'in_progress',
	'backoff',
	'uncertain',
	'held',
	'exhausted',
	'dead',
	'duplicate_in_batch',
	'business_duplicate',
	'body_duplicate',
	'superseded',
	'payload_mismatch',
] as const;
export type Verdict = (typeof VERDICTS)[number];

export const OUTCOMES = [
	'claimed',
	'reentrant',
	'retried',
	'taken_over',
	'completed',
	'duplicate_in_batch',
	'business_duplicate',
	'body_duplicate',
	'superseded',
	'in_progress',
	'backoff',
	'uncertain',
	'held',
	'exhausted',
	'dead',
	'payload_mismatch',
	'rejected',
	'unavailable',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const REJECTION_CODES = [
	'signature_missing',
	'signature_malformed',
	'signature_ambiguous',
	'signature_mismatch',
	'timestamp_missing',
	'timestamp_malformed',
	'timestamp_outside_tolerance',
	'raw_body_missing',
	'body_too_large',
	'body_empty',
	'body_not_json',
	'body_too_deep',
	'event_id_missing',
	'event_id_invalid',
	'business_key_invalid',
	'object_version_invalid',
] as const;
export type RejectionCode = (typeof REJECTION_CODES)[number];

export const CONFIGURATION_CODES = [
	'secret_missing',
	'secret_placeholder',
	'secret_malformed',
	'provider_unknown',
	'scheme_invalid',
	'tolerance_invalid',
	'scope_invalid',
	'key_source_invalid',
	'pointer_invalid',
	'slot_invalid',
] as const;
export type ConfigurationCode = (typeof CONFIGURATION_CODES)[number];
