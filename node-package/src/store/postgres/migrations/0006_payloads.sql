-- Deliveries as they came in, for the recovery, apart from their claims, which stay slim: most deliveries are deleted when
-- their claim is completed. One that has no claim means nothing.
CREATE TABLE IF NOT EXISTS "gate"."payloads" (
	scope text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	event_id text COLLATE "C" NOT NULL,
	-- Stays when the claim is completed.
	keep boolean NOT NULL,
	-- JSON array of pairs of name and value, as text: nothing of it is ever looked for.
	headers text NOT NULL,
	-- The bytes as received. Never jsonb, which refuses some and changes others.
	body bytea NOT NULL,
	PRIMARY KEY (scope, provider, event_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)
