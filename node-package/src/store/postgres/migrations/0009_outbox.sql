-- Messages to be sent, stored in one transaction with what they report. `id` grows in the order in which they were added:
-- a message added after another one was committed has the larger one. `state` is the first letter of its word: pending,
-- leased, sent, dead. A message is due at `available_at`, and a leased one at the end of its lease, which stands there too:
-- so one comparison finds all that may be handed out. No index but the first two holds what has been sent.
CREATE SEQUENCE IF NOT EXISTS "gate"."outbox_id" AS bigint CACHE 1;
CREATE TABLE IF NOT EXISTS "gate"."outbox" (
	id bigint PRIMARY KEY DEFAULT nextval('"gate"."outbox_id"'),
	-- Of the newest lease, from the sequence of all fences; NULL before the first.
	fence bigint,
	created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	available_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	lease_until timestamptz,
	sent_at timestamptz,
	owner uuid,
	-- How often it was handed out.
	attempt integer NOT NULL DEFAULT 0,
	state "char" NOT NULL DEFAULT 'p' CHECK (state IN ('p', 'l', 's', 'd')),
	scope text COLLATE "C" NOT NULL CHECK (octet_length(scope) BETWEEN 1 AND 512),
	message_key text COLLATE "C" NOT NULL CHECK (octet_length(message_key) BETWEEN 1 AND 512),
	topic text COLLATE "C" NOT NULL CHECK (octet_length(topic) BETWEEN 1 AND 200),
	ordering_key text COLLATE "C" CHECK (octet_length(ordering_key) BETWEEN 1 AND 512),
	-- JSON text, byte for byte as it was given.
	body text NOT NULL CHECK (octet_length(body) <= 262144),
	error text,
	-- The event it came with, if any.
	provider text COLLATE "C",
	event_id text COLLATE "C",
	CONSTRAINT "gate_outbox_key" UNIQUE (scope, message_key),
	CHECK ((lease_until IS NOT NULL) = (state = 'l')),
	CHECK ((sent_at IS NOT NULL) = (state = 's')),
	CHECK (state NOT IN ('l', 's') OR owner IS NOT NULL AND fence IS NOT NULL)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
-- What is due and has no order, of one topic or of all.
CREATE INDEX IF NOT EXISTS "gate_outbox_due_of_topic" ON "gate"."outbox" (scope, topic, available_at, id)
	WHERE ordering_key IS NULL AND state IN ('p', 'l');
CREATE INDEX IF NOT EXISTS "gate_outbox_due" ON "gate"."outbox" (available_at, id)
	WHERE ordering_key IS NULL AND state IN ('p', 'l');
-- What is in line, by ordering key.
CREATE INDEX IF NOT EXISTS "gate_outbox_in_line" ON "gate"."outbox" (scope, topic, ordering_key, id)
	WHERE ordering_key IS NOT NULL AND state IN ('p', 'l', 'd');
-- What a caller has been handed out already.
CREATE INDEX IF NOT EXISTS "gate_outbox_of_owner" ON "gate"."outbox" (owner) WHERE state = 'l'
