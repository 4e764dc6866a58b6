/** Mistakes that a store could make, put between a client and a sound one. Each must be found. */
import type { Store } from '../../node-package/src/store/store';
import type { Between } from './ground';

/** How the mistake is found: step by step, or only in a crowd. */
export const flaws: Readonly<Record<string, { readonly crowded: boolean; readonly between: Between }>> = {
	'ends whatever claim there is, without looking at the fence': alone((store, { admin, schema }) => ({
		settle: async (ends) => {
			const replies = await store.settle(ends);
			const [end, reply] = [ends[0], replies[0]];
			if (!end || reply?.verdict !== 'fenced_out' || reply.state !== 'processing' || end.to.state !== 'completed') return replies;
			await admin.query(
				`UPDATE "${schema}"."n8n_idempotency_claims" SET state = 'c', lease_until = NULL, completed_at = clock_timestamp()
				WHERE scope = $1 AND event_id = $2`,
				[end.key.scope, end.key.eventId],
			);
			return [{ verdict: 'settled', state: 'completed' }];
		},
	})),
	'hands a live claim to a second owner': alone((store, { admin, schema }) => ({
		claim: async (asks) => {
			const replies = await store.claim(asks);
			const [ask, reply] = [asks[0], replies[0]];
			if (!ask || reply?.verdict !== 'in_progress' || ask.maxAttempts <= reply.attempt) return replies;
			await admin.query(
				`UPDATE "${schema}"."n8n_idempotency_claims" SET lease_until = clock_timestamp() WHERE scope = $1 AND event_id = $2`,
				[ask.key.scope, ask.key.eventId],
			);
			return await store.claim(asks);
		},
	})),
	'forgets what is completed': alone((store, { admin, schema }) => ({
		settle: async (ends) => {
			const replies = await store.settle(ends);
			const [end, reply] = [ends[0], replies[0]];
			if (end && reply?.state === 'completed') {
				await admin.query(`DELETE FROM "${schema}"."n8n_idempotency_claims" WHERE scope = $1 AND event_id = $2`, [end.key.scope, end.key.eventId]);
			}
			return replies;
		},
	})),
	'does not count the attempts of the recovery': alone((store, { admin, schema }) => ({
		recover: async (search) => {
			const found = await store.recover(search);
			for (const { key, owner } of found) {
				if (owner === null) continue;
				await admin.query(
					`UPDATE "${schema}"."n8n_idempotency_claims" SET attempt = greatest(attempt - 1, 1) WHERE scope = $1 AND event_id = $2`,
					[key.scope, key.eventId],
				);
			}
			return found;
		},
	})),
	'leaves failed events to themselves': alone((store) => ({
		recover: async (search) => (search.which === 'failed' ? [] : await store.recover({ ...search, which: 'stale' })),
	})),
	'numbers ownerships by attempt': alone((store) => ({
		claim: async (asks) => (await store.claim(asks)).map((reply) => ({ ...reply, fence: reply.fence && `${reply.attempt}` })),
	})),
	'takes an owner for another one': alone((store) => ({
		claim: async (asks) =>
			(await store.claim(asks)).map((reply) => (reply.verdict === 'in_progress' ? { ...reply, verdict: 'reentrant', fence: '1' } : reply)),
	})),
	'extends the lease of whoever asks': alone((store) => ({
		extend: async (leases) =>
			(await store.extend(leases)).map((reply) => (reply.state === 'processing' ? { ...reply, verdict: 'extended' as const } : reply)),
	})),
	'goes back a stage': alone((store, { admin, schema }) => ({
		advance: async (steps) => {
			const replies = await store.advance(steps);
			const [step, reply] = [steps[0], replies[0]];
			if (step && reply?.verdict === 'already_there') {
				await admin.query(`UPDATE "${schema}"."n8n_idempotency_claims" SET stage = $3 WHERE scope = $1 AND event_id = $2`, [
					...[step.key.scope, step.key.eventId],
					step.stage,
				]);
			}
			return replies;
		},
	})),
	'reopens with the fence of before': alone((store) => ({
		reopen: async (orders) => {
			const before = await Promise.all(orders.map(async ({ key }) => await store.find(key)));
			return (await store.reopen(orders)).map((reply, n) => ({ ...reply, fence: reply.fence && (before[n]?.fence ?? null) }));
		},
	})),
	'looks first and takes later': {
		crowded: true,
		between: flawed((store) => ({
			claim: async (asks) => {
				const known = asks[0] ? await store.find(asks[0].key) : null;
				const replies = await store.claim(asks);
				// As if nothing had happened between the look and the claim.
				if (known !== null || replies[0]?.verdict !== 'in_progress') return replies;
				return replies.map((reply) => ({ ...reply, verdict: 'claimed', fence: `${Date.now()}${Math.floor(Math.random() * 1000)}` }));
			},
		})),
	},
};

function alone(between: (store: Store, place: Parameters<Between>[1]) => Partial<Store>): { readonly crowded: boolean; readonly between: Between } {
	return { crowded: false, between: flawed(between) };
}

function flawed(overrides: (store: Store, place: Parameters<Between>[1]) => Partial<Store>): Between {
	return (store, place) => {
		const mistaken = overrides(store, place);
		return new Proxy(store, {
			get: (target, name: keyof Store) => {
				const method = mistaken[name] ?? target[name];
				return typeof method === 'function' ? method.bind(target) : method;
			},
		});
	};
}
