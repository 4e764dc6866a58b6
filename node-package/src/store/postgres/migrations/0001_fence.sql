-- One sequence numbers every ownership of every key. CACHE 1: a later ownership has a larger number, in all sessions.
CREATE SEQUENCE IF NOT EXISTS "gate"."fence" AS bigint CACHE 1
