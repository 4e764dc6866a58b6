-- One row per event key, as narrow as it can be: it is kept for months.
--
-- Keys are compared byte for byte (COLLATE "C"), so no collation upgrade can break their uniqueness. The wide columns
-- come first (no padding). `state` is the first letter of its word: processing, failed, uncertain, completed, dead.
-- No index names `state` and none may: completing a claim would stop being a HOT update. 10 % of each page are left free
-- for the new version that completing makes.
CREATE TABLE IF NOT EXISTS "gate"."claims" (
	fence bigint NOT NULL DEFAULT nextval('"gate"."fence"'),
	first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	-- When the present owner got it; NULL where that is the first one.
	claimed_at timestamptz,
	lease_until timestamptz,
	next_attempt_at timestamptz,
	completed_at timestamptz,
	attempt smallint NOT NULL DEFAULT 1 CHECK (attempt > 0),
	state "char" NOT NULL CHECK (state IN ('p', 'f', 'u', 'c', 'd')),
	owner uuid NOT NULL,
	scope text COLLATE "C" NOT NULL CHECK (octet_length(scope) BETWEEN 1 AND 512),
	provider text COLLATE "C" NOT NULL CHECK (octet_length(provider) BETWEEN 1 AND 200),
	event_id text COLLATE "C" NOT NULL CHECK (octet_length(event_id) BETWEEN 1 AND 512),
	event_type text,
	-- SHA-256 of the raw body.
	body_digest bytea CHECK (octet_length(body_digest) = 32),
	execution_id text,
	error text,
	-- json, not jsonb: digits and order of the members come back as they were stored.
	result json,
	PRIMARY KEY (scope, provider, event_id),
	CHECK ((lease_until IS NOT NULL) = (state = 'p')),
	CHECK ((next_attempt_at IS NOT NULL) = (state = 'f')),
	CHECK ((completed_at IS NOT NULL) = (state = 'c'))
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)
