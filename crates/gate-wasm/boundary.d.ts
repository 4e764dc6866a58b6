/**
 * The contract between the Rust core and TypeScript, written by hand.
 *
 * Functions only. Bytes (bodies, secrets) cross as `Uint8Array`, times as milliseconds since the Unix epoch, answers as
 * unions told apart by `type`. Unknown fields of a request are refused. Nothing here throws for anything a sender can
 * influence: a thrown error means a bug, either ours (a trap) or the caller's (a malformed request).
 *
 * Requests and answers are JSON text under way (`node-package/src/wasm/core.ts` writes and reads it): the host's tests then
 * run the very code that the module runs, and half a surrogate pair in a text is seen and refused.
 *
 * `cargo xtask wasm` copies this file to `node-package/src/wasm/generated/boundary.d.ts`; the wire types in
 * `crates/gate-wasm/src/wire/` are tested against it with the JSON cases in `tests/boundary/`.
 */

/** A header as received: name in any case, value without the line end. A header sent twice stands here twice. */
export type Header = readonly [name: string, value: string];

// ---------------------------------------------------------------------------------------------------------- refusals

/**
 * Why a request cannot be judged or accepted.
 * - `rejected`: the sender's doing (bad signature, no id). Answer 4xx; nothing is written to the store.
 * - `misconfigured`: the user's doing (no secret, unknown provider). The workflow should stop and say so.
 */
export interface Refusal {
  type: 'rejected' | 'misconfigured';
  /** Stable code from `vocabulary.ts` (`RejectionCode` or `ConfigurationCode`), e.g. `signature_mismatch`. */
  code: string;
  /** One sentence: what happened. Holds no secret, no signature and no body text. */
  message: string;
  /** One or two sentences: what to do about it. */
  help: string;
}

// ------------------------------------------------------------------------------------------------------------ verify

/** A scheme described by the user instead of a provider of the table. */
export interface CustomScheme {
  /** Header that carries the signature, e.g. `X-Signature`. */
  signatureHeader: string;
  algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  encoding: 'hex' | 'base64' | 'base64url';
  /** Text in front of the signature within the header, e.g. `sha256=`. Empty for none. */
  prefix: string;
  /** Header with the time of sending, or `null` where there is none. */
  timestampHeader: string | null;
  timestampUnit: 's' | 'ms';
  /** Header with the event id, or `null`. Needed when the template mentions `{id}`. */
  idHeader: string | null;
  /** The signed text with the placeholders `{body}` (exactly once), `{timestamp}`, `{id}`. Default `{body}`. */
  template: string;
  /** How the secret's text becomes the key. */
  secretEncoding: 'utf8' | 'hex' | 'base64';
}

export interface VerifyRequest {
  /** A key of `providers()`, or `custom`. */
  provider: string;
  /** Given exactly when `provider` is `custom`. */
  custom?: CustomScheme;
  headers: readonly Header[];
  /** When the request was received, ms since the epoch. */
  nowMs: number;
  /** Overrides the provider's window, ms, on both sides of `nowMs`. Greater than 0. */
  toleranceMs?: number;
}

export type VerifyAnswer =
  | {
      type: 'verified';
      /** e.g. `stripe-v1`. */
      scheme: string;
      /** Index into `secrets` of the one that matched. */
      secretIndex: number;
      /** The signed time, ms since the epoch, or `null` where the scheme has none. */
      signedAtMs: number | null;
      /** True where the scheme does not cover the whole body. */
      weak: boolean;
    }
  | Refusal;

/** Checks the signature over the raw body. `secrets`: UTF-8 text as the user pasted it, current one first. */
export declare function verify(request: VerifyRequest, body: Uint8Array, secrets: readonly Uint8Array[]): VerifyAnswer;

/** Checks the form of a secret, for the credential test. */
export declare function checkSecret(provider: string, secret: Uint8Array): { type: 'ok'; message: string } | Refusal;

// --------------------------------------------------------------------------------------------------------------- key

export type KeySource =
  /** The id where the provider puts it. With `provider: 'custom'`, the scheme's `idHeader`. */
  | { type: 'provider' }
  /** A value the user computed, e.g. with an n8n expression. Several parts make a composite key, joined unambiguously. */
  | { type: 'value'; parts: readonly string[] }
  /**
   * SHA-256 of the canonical JSON, or of the raw bytes where the body has no canonical form. `exclude`: RFC 6901 JSON
   * pointers; `*` stands for every element of an array.
   */
  | { type: 'body_digest'; exclude: readonly string[] }
  /** One key per slot of wall-clock time, for schedules. */
  | { type: 'time_slot'; slotMs: number };

export interface KeyRequest {
  provider: string;
  /** Given when `provider` is `custom` and the id is read from its `idHeader`. */
  custom?: CustomScheme;
  scope: string;
  source: KeySource;
  headers: readonly Header[];
  /** When the request was received, ms since the epoch. */
  nowMs: number;
}

export type KeyAnswer =
  | {
      type: 'key';
      /** The third field of the event key: 1 to 512 bytes of UTF-8, as received, or a digest with a prefix that says of what. */
      eventId: string;
      /** Where the id came from. */
      keySource: 'provider' | 'value' | 'canonical_json' | 'raw_body' | 'time_slot';
      /** True when the id was too long (or began with a reserved prefix) and stands hashed in `eventId`. */
      hashed: boolean;
      /** True when the provider's signature covers the id, so that a sender of a captured request cannot change it. */
      idSigned: boolean;
      /** e.g. `invoice.paid`; `null` where the provider names none. */
      eventType: string | null;
      /** `sha256:` + 64 hex digits over the raw body: the evidence for "same id, other body" and the body-digest guard. */
      bodyDigest: string;
      /** Stable key for calls downstream, from (scope, provider, event id): `n8n-` + 40 hex digits. */
      idempotencyKey: string;
    }
  | Refusal;

/** Reads the event id and type from the raw bytes and headers. Does not verify: call `verify` first. */
export declare function deriveKey(request: KeyRequest, body: Uint8Array): KeyAnswer;

/** The `idempotencyKey` of an event whose key is known already, e.g. from a stored claim: the same as `deriveKey` gave. */
export declare function idempotencyKey(key: { readonly scope: string; readonly provider: string; readonly eventId: string }): string;

// ---------------------------------------------------------------------------------------------------- canonical JSON

export type CanonicalMode = 'rfc8785' | 'gate-jcs-exact-1';

export type CanonicalAnswer = { type: 'canonical'; bytes: Uint8Array } | Refusal;

/** RFC 8785 canonical form, or ours that keeps every digit of a number. `exclude`: as for the source `body_digest`. */
export declare function canonicalize(mode: CanonicalMode, exclude: readonly string[], body: Uint8Array): CanonicalAnswer;

export type DigestAnswer =
  | { type: 'digest'; digest: string; form: CanonicalMode | 'raw' }
  | Refusal;

/** `sha256:` + hex of the canonical form; of the raw bytes (`form: 'raw'`) where the body is not strict JSON. */
export declare function canonicalDigest(mode: CanonicalMode, exclude: readonly string[], body: Uint8Array): DigestAnswer;

// ---------------------------------------------------------------------------------------------------------- decision

/** What happened to one delivery: the store's reply, a refusal before the store, or a store that could not answer. */
export type DecideRequest =
  | {
      type: 'store';
      /** The store's verdict, one of `VERDICTS` in `vocabulary.ts`. Anything else is refused, never guessed. */
      verdict: string;
      /** State of the record after the statement, one of `STATES`, or `null` where no record was read. */
      state: string | null;
      /** Time until the record may be claimed again (rest of the lease or of the backoff), ms; `null` where none. */
      retryAfterMs: number | null;
      /** True when the stored body digest differs from this delivery's. */
      payloadChanged: boolean;
      policy: DecidePolicy;
    }
  | { type: 'refused'; code: string; policy: DecidePolicy }
  | { type: 'store_failed'; code: 'store_unavailable' | 'store_busy'; policy: DecidePolicy };

export interface DecidePolicy {
  /** How a duplicate of a live claim is answered: 200 where a recovery stands behind, 409 so that the provider retries. */
  inProgress: 'accept' | 'retry_later';
  /** How a duplicate that needs a person is answered. */
  needsAttention: 'accept' | 'retry_later';
  /** Which output a duplicate of a live claim leaves by. */
  inProgressOutput: 'duplicate' | 'rejected';
}

export interface Decision {
  /** One of `OUTCOMES` in `vocabulary.ts`. */
  outcome: string;
  claimed: boolean;
  output: 'claimed' | 'duplicate' | 'rejected';
  needsAttention: boolean;
  /** One plain sentence for a person or an agent. */
  message: string;
  /** A ready answer for Respond to Webhook. Header names in lower case. For a claim: what a workflow without an answer of its own may say. */
  response: { statusCode: number; headers: Record<string, string>; body: Record<string, unknown> };
}

export declare function decide(request: DecideRequest): Decision;

// ------------------------------------------------------------------------------------------------------ small things

/** A fresh owner token: 128 random bits as 32 lower-case hex digits. */
export declare function newToken(): string;

export interface ProviderInfo {
  key: string;
  displayName: string;
  /** e.g. `stripe-v1`. */
  scheme: string;
  /** Lower-case names of the headers that may carry the signature; empty where there is none. */
  signatureHeaders: readonly string[];
  /** What is signed, in words, e.g. `timestamp.body`. */
  signedContent: string;
  /** Where the id is, in words, e.g. `body.id` or `header x-github-delivery`; `null` where the user must say. */
  idFrom: string | null;
  idSigned: boolean;
  /** True where the body digest is claimed as a guard key by default, since the id is not signed. */
  guardBody: boolean;
  /** The provider's window, ms; `null` where the scheme has no timestamp. */
  toleranceMs: number | null;
  /** What a right secret looks like, e.g. `starts with whsec_`. */
  secretHint: string;
  /** Longest documented automatic retry window, ms; `null` where none is documented. */
  retryWindowMs: number | null;
  /** `sdk`, `docs`, `published`, `secondary`, `unverified`: how well the row is supported. */
  evidence: string;
  docsUrl: string;
}

/** The provider table, in alphabetical order of `displayName`. */
export declare function providers(): readonly ProviderInfo[];
