-- Remembers which migrations have run. Made under the lock of migrations_lock.sql.
CREATE TABLE IF NOT EXISTS "gate"."migrations" (
	number integer PRIMARY KEY,
	name text NOT NULL,
	applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)
