/**
 * Delivers a signed event to a webhook, as a provider would, as many times as wished at the same moment.
 *
 *     node scripts/deliver.mjs URL                        a new Stripe event, once
 *     node scripts/deliver.mjs URL --times 50             a new event, 50 times at once
 *     node scripts/deliver.mjs URL --id evt_1             this event (again)
 *     node scripts/deliver.mjs URL --provider github --secret "my secret" --type push
 *     node scripts/deliver.mjs URL --forged               signed with a wrong secret
 *
 * For webhooks of your own n8n too: give the signing secret of your test credential. It sends to this machine only.
 */
import { parseArgs } from 'node:util';
import { burst } from './deliveries/burst.mjs';
import { senders } from './deliveries/senders.mjs';
import { table, timed } from './deliveries/verdicts.mjs';

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		provider: { type: 'string', default: 'stripe' },
		secret: { type: 'string' },
		id: { type: 'string' },
		type: { type: 'string' },
		times: { type: 'string', default: '1' },
		forged: { type: 'boolean', default: false },
	},
});

const [url] = positionals;
const sender = senders[values.provider];
const times = Number(values.times);
if (!url || !['127.0.0.1', 'localhost'].includes(new URL(url).hostname)) fail('Say where to deliver: the URL of a webhook on 127.0.0.1.');
if (!sender) fail(`--provider is one of ${Object.keys(senders).join(', ')}.`);
if (!Number.isInteger(times) || times < 1 || times > 500) fail('--times is a number from 1 to 500.');

const secret = values.forged ? 'a-secret-of-somebody-else' : values.secret;
const request = sender.request({ ...(values.id && { id: values.id }), ...(values.type && { type: values.type }) }, { ...(secret && { secret }) });
const group = await timed(values.forged ? 'forged event' : `${values.provider} event`, () => burst(url, Array(times).fill(request)));
console.log(table([group]));
console.log(`\nfirst answer: ${group.answers[0].status} ${group.answers[0].text.slice(0, 300)}`);

function fail(message) {
	console.error(message);
	process.exit(2);
}
