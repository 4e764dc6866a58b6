-- A second unique key that points at the event which holds it. It holds as long as that event's claim exists and is not
-- dead, and it is done when that claim is completed: there is no state here that could disagree with the claim's.
-- `version` changes with every new holder: whoever takes an abandoned guard over proves that nobody was faster.
CREATE TABLE IF NOT EXISTS "gate"."guards" (
	version bigint NOT NULL DEFAULT nextval('"gate"."fence"'),
	-- business_key or body_digest, by its second word's first letter.
	kind "char" NOT NULL CHECK (kind IN ('k', 'd')),
	scope text COLLATE "C" NOT NULL,
	-- Empty for a business key: that is unique within the scope, whatever provider reports it.
	provider text COLLATE "C" NOT NULL,
	-- The bytes of the text, or the 32 bytes of a SHA-256.
	guard_key bytea NOT NULL CHECK (octet_length(guard_key) BETWEEN 1 AND 512),
	holder_provider text COLLATE "C" NOT NULL,
	holder_event_id text COLLATE "C" NOT NULL,
	PRIMARY KEY (scope, kind, provider, guard_key)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)
