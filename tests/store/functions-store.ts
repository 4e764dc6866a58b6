/** A store whose claims and completions go through the SQL functions for applications, wherever these can say what is asked. */
import type { Pool } from 'pg';
import type { ClaimAsk, Settle, SettleReply, Store, StoreReply } from '../../node-package/src/store/store';

export function throughFunctions(store: Store, { admin, schema }: { readonly admin: Pool; readonly schema: string }): Store {
	const own: Partial<Store> = {
		claim: async (asks) => {
			const [ask] = asks;
			if (!ask || asks.length > 1 || ask.subject || ask.payload || ask.outbox || ask.guards.length > 0) return await store.claim(asks);
			return [await claim(admin, schema, ask)];
		},
		settle: async (ends) => {
			const [end] = ends;
			if (!end || ends.length > 1 || end.to.state !== 'completed' || end.to.resumed || end.to.outbox) return await store.settle(ends);
			return [(await complete(admin, schema, end)) ?? ((await store.settle(ends))[0] as SettleReply)];
		},
	};
	return new Proxy(store, {
		get: (target, name: keyof Store) => {
			const method = own[name] ?? target[name];
			return typeof method === 'function' ? method.bind(target) : method;
		},
	});
}

async function claim(pool: Pool, schema: string, ask: ClaimAsk): Promise<StoreReply> {
	const { rows } = await pool.query<Record<string, unknown>>(
		`SELECT verdict, state, fence::text, attempt, stage, payload_changed, result, claimed,
			extract(epoch FROM first_seen_at)::float8 * 1000 AS first_seen_ms, extract(epoch FROM lease_until)::float8 * 1000 AS lease_ms,
			extract(epoch FROM retry_after)::float8 * 1000 AS retry_after_ms
		FROM "${schema}".n8n_idempotency_claim($1, $2, $3, owner => $4, lease => $5::bigint * interval '1 millisecond', max_attempts => $6,
			unfinished => $7, event_type => $8, body_digest => $9, changed_payload => $10, execution_id => $11)`,
		[
			...[ask.key.scope, ask.key.provider, ask.key.eventId, ask.owner, ask.leaseMs, ask.maxAttempts, ask.unfinished],
			...[ask.eventType, ask.bodyDigest, ask.payloadChanged, ask.executionId],
		],
	);
	const row = rows[0] ?? {};
	return {
		verdict: row['verdict'],
		state: row['state'],
		fence: row['fence'],
		attempt: row['attempt'],
		firstSeenAtMs: row['first_seen_ms'],
		leaseUntilMs: row['lease_ms'],
		completedAtMs: null,
		retryAfterMs: row['retry_after_ms'],
		payloadChanged: row['payload_changed'],
		matchedOn: row['claimed'] === true ? null : 'event_id',
		claimedBy: { executionId: null, atMs: 0 },
		result: row['result'],
		stage: row['stage'],
	} as StoreReply;
}

/** `null` where it is fenced out: the function does not tell the state. */
async function complete(pool: Pool, schema: string, { key, owner, fence, to }: Settle): Promise<SettleReply | null> {
	const result = to.state === 'completed' ? JSON.stringify(to.result) : null;
	const { rows } = await pool.query<{ verdict: SettleReply['verdict'] }>(
		`SELECT "${schema}".n8n_idempotency_complete($1, $2, $3, $4, $5, $6, raise_if_fenced_out => false) AS verdict`,
		[key.scope, key.provider, key.eventId, owner, fence, result],
	);
	const verdict = rows[0]?.verdict;
	return verdict === undefined || verdict === 'fenced_out' ? null : { verdict, state: 'completed' };
}
