/**
 * The recipe that articles publish, built from stock nodes, in two forms: as often copied (the insert's result is taken
 * for proof by itself) and done right (an IF looks at a returned column). Beside them, n8n's own Remove Duplicates.
 * None of them checks a signature: that takes three more nodes and the raw body.
 */
import { ifNotEmpty, node, respond, statement, webhook, workflow, type CredentialRef, type Node, type Workflow } from '../harness/workflows';

export const tables = `
	CREATE TABLE processed_events (event_id text PRIMARY KEY);
	CREATE TABLE charges (event_id text NOT NULL)
`;

const eventId = '={{ $json.body.id }}';

/** What the events are for: something that must happen once. Every row is one charge. */
export function charge(postgres: CredentialRef): Node {
	return statement('Charge', 'INSERT INTO charges (event_id) VALUES ($1)', "={{ $('Webhook').first().json.body.id }}", postgres);
}

const claim = (postgres: CredentialRef): Node =>
	statement(
		'Claim',
		'INSERT INTO processed_events (event_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING event_id',
		eventId,
		postgres,
	);

export function recipeWithoutIf(path: string, postgres: CredentialRef): Workflow {
	return workflow(
		'Published recipe, insert only',
		[webhook(path, { rawBody: false }), claim(postgres), charge(postgres), respond('Charged')],
		[['Webhook', 'Claim'], ['Claim', 'Charge'], ['Charge', 'Charged']],
	);
}

export function recipeWithIf(path: string, postgres: CredentialRef): Workflow {
	return workflow(
		'Published recipe, with IF on a returned column',
		[
			webhook(path, { rawBody: false }),
			claim(postgres),
			ifNotEmpty('New?', '={{ $json.event_id }}'),
			charge(postgres),
			respond('Charged'),
			respond('Duplicate'),
		],
		[['Webhook', 'Claim'], ['Claim', 'New?'], ['New?', 'Charge', 0], ['New?', 'Duplicate', 1], ['Charge', 'Charged']],
	);
}

export function removeDuplicates(path: string, postgres: CredentialRef): Workflow {
	const seen = node('Remove Duplicates', 'n8n-nodes-base.removeDuplicates', 2, {
		operation: 'removeItemsSeenInPreviousExecutions',
		logic: 'removeItemsWithAlreadySeenKeyValues',
		dedupeValue: eventId,
		options: {},
	});
	return workflow(
		'Remove Duplicates',
		[webhook(path, { rawBody: false }), seen, charge(postgres), respond('Charged'), respond('Duplicate')],
		[['Webhook', 'Remove Duplicates'], ['Remove Duplicates', 'Charge', 0], ['Remove Duplicates', 'Duplicate', 1], ['Charge', 'Charged']],
	);
}
