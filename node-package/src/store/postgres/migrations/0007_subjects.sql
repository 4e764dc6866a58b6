-- The newest version of each object that an event was completed for: an older one for the same object is superseded.
CREATE TABLE IF NOT EXISTS "gate"."subjects" (
	scope text COLLATE "C" NOT NULL,
	subject_key text COLLATE "C" NOT NULL CHECK (octet_length(subject_key) BETWEEN 1 AND 512),
	version numeric NOT NULL,
	PRIMARY KEY (scope, subject_key)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)
