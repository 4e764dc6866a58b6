/**
 * The gate as a library, for any Node program: bring the bytes, the headers and a connection to a store.
 *
 *     const gate = new Gate(loadCore(), createPostgresStore(clients));
 *     const [admission] = await gate.admit([{ delivery, rules, owner: loadCore().newToken(), executionId: null }]);
 *     if (admission.decision.claimed) { … }
 */
export { backoffMs } from './backoff';
export type { Backoff } from './backoff';
export { downstreamKey } from './downstreamKey';
export { CoreError, StoreError } from './errors';
export { messagesOf } from './examine';
export type { Applicant, ClaimMessage, Delivery, DerivedKey, GateRules, Signature } from './examine';
export { Gate } from './gate';
export type { Admission } from './gate';
export { decodeReceipt, encodeReceipt } from './receipt';
export type { Receipt } from './receipt';
export type { SqlClient, SqlClients } from './store/clients';
export type {
	ClaimFilter,
	DeadLetter,
	ExtensionReply,
	Recovered,
	RecoverySearch,
	ReopeningReply,
	Resolution,
	ResolutionReply,
	StepReply,
} from './store/lifecycle';
export type { LeasedMessage, MessageEnd, MessageReply, OutboxMessage, ShownMessage } from './store/outbox';
export type { Payload } from './store/payload';
export { createPostgresStore, setupSql } from './store/postgres';
export type {
	ClaimAsk,
	EventKey,
	Guard,
	Settle,
	SettleReply,
	Store,
	StoredClaim,
	StoreReply,
} from './store/store';
export { loadCore } from './wasm/core';
export type { Core } from './wasm/core';
export type * from './wasm/generated/boundary';
export type { ConfigurationCode, Outcome, RejectionCode, State, Verdict } from './wasm/generated/vocabulary';
