/** The demonstration of `npm start`: publishes the Stripe template, delivers, and says what happened. */
import { burst } from '../deliveries/burst.mjs';
import { stripe } from '../deliveries/senders.mjs';
import { table, tally, timed } from '../deliveries/verdicts.mjs';
import { owner } from './api.mjs';
import { fillTemplate, readTemplate } from './template.mjs';

const TIMES = 50;

/**
 * @param {import('./demo-stage.mjs').DemoStage} stage
 * @returns {Promise<{ result: string, next: string, ok: boolean, workflowId: string }>}  `result` and `next` are for people; `ok`:
 *   exactly one delivery was claimed, and nothing else was amiss
 */
export async function demonstrate({ n8n, version, server, databaseUrl, credential }) {
	const workflowId = await publish(n8n, credential);
	const webhook = `${n8n.url}/webhook/stripe`;
	const event = { id: `evt_${Date.now()}` };

	const groups = [
		await timed(`one event, ${TIMES} times at once`, () => burst(webhook, Array(TIMES).fill(stripe.request(event)))),
		await timed('another event', () => burst(webhook, [stripe.request()])),
		await timed('a forged event', () => burst(webhook, [stripe.request({}, { secret: 'whsec_of_somebody_else_entirely' })])),
	];
	const rows = await claims(databaseUrl);
	const result = [
		`\nn8n ${version}, PostgreSQL ${server.version}. Signed Stripe events, delivered over HTTP:\n`,
		table(groups),
		`\nRows in n8n_idempotency_claims: ${rows}, one for each event that was let through.`,
	].join('\n');
	const next = [
		`\nEditor     ${n8n.url}/workflow/${workflowId}`,
		`Login      ${owner.email} / ${owner.password}`,
		`Database   ${databaseUrl}\n`,
		'Try next, in another terminal:',
		'  the same event again: Duplicate',
		`      node scripts/deliver.mjs ${webhook} --id ${event.id}`,
		'  a new event, 50 times at once',
		`      node scripts/deliver.mjs ${webhook} --times 50`,
		'  a wrong signature: Rejected',
		`      node scripts/deliver.mjs ${webhook} --forged`,
		'  In the editor, the Executions tab shows every delivery and the output that it left by.',
	].join('\n');
	return { result, next, ok: isAsPromised(groups, rows), workflowId };
}

async function publish(n8n, credential) {
	const postgres = await n8n.api.createCredential('postgres', 'Demo database', credential);
	const webhookSigningSecretApi = await n8n.api.createCredential('webhookSigningSecretApi', 'Stripe signing secret', {
		signingSecret: stripe.secret,
	});
	const id = await n8n.api.createWorkflow(fillTemplate(readTemplate('stripe'), { postgres, webhookSigningSecretApi }));
	await n8n.api.activate(id);
	return id;
}

async function claims(databaseUrl) {
	const { default: pg } = await import('pg');
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	try {
		const { rows } = await client.query('SELECT count(*)::int AS n FROM n8n_idempotency_claims');
		return rows[0].n;
	} finally {
		await client.end();
	}
}

function isAsPromised([storm, other, forged], rows) {
	const is = ({ answers }, wanted) => JSON.stringify(tally(answers)) === JSON.stringify({ claimed: 0, duplicate: 0, rejected: 0, failed: 0, ...wanted });
	return is(storm, { claimed: 1, duplicate: TIMES - 1 }) && is(other, { claimed: 1 }) && is(forged, { rejected: 1 }) && rows === 2;
}
