/**
 * The key for one call to an API behind the gate: the event's own key and the name of the action, so that charging and
 * mailing for one event are two calls and charging twice is one. In an n8n expression:
 * `{{ $json.idempotency.idempotencyKey }}-charge`.
 *
 * @param idempotencyKey of the event, as `deriveKey` and the item carry it
 * @param action e.g. `charge`: 1 to 40 of a-z, 0-9, `_` and `-`
 * @throws RangeError where either is something else. `undefined-charge` would be one key for all events.
 */
export function downstreamKey(idempotencyKey: string, action: string): string {
	if (!/^n8n-[0-9a-f]{40}$/.test(idempotencyKey)) {
		throw new RangeError('The idempotency key is not one of the gate: n8n- and 40 hex digits');
	}
	if (!/^[a-z0-9_-]{1,40}$/.test(action)) {
		throw new RangeError('The name of an action has 1 to 40 of the characters a-z, 0-9, _ and -');
	}
	return `${idempotencyKey}-${action}`;
}
