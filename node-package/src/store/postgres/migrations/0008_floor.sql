-- One row: outside tests (scopes that begin with `test:`) nothing that was first seen before `since` is unfinished, so nobody
-- has to look there. Recovery raises it (floor_raise.sql). Whoever makes a finished event unfinished again lowers it in the
-- same statement, and counts that in `lowered`, so that no recovery with an older view raises it over that event.
CREATE TABLE IF NOT EXISTS "gate"."floor" (since, lowered) AS SELECT '-infinity'::timestamptz, 0::bigint
