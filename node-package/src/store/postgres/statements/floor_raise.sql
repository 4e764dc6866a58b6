-- Raises the floor to the oldest unfinished claim, and not above $1 (floor_bound.sql). Claims of tests do not count: nobody
-- finishes what was left behind in the editor, and the floor would stay for good. Never waits: if the floor is being
-- lowered, or has been since this statement began, it stays.
WITH seen AS MATERIALIZED (
	SELECT since, lowered FROM "gate"."floor"
), oldest AS MATERIALIZED (
	SELECT min(claim.first_seen_at) AS first_seen_at
	  FROM "gate"."claims" claim
	 WHERE claim.first_seen_at BETWEEN (SELECT since FROM seen) AND (SELECT 'infinity'::timestamptz)
	   AND claim.state IN ('p', 'f') AND NOT starts_with(claim.scope, 'test:')
), free AS MATERIALIZED (
	SELECT kept.ctid FROM "gate"."floor" kept, seen WHERE kept.lowered = seen.lowered FOR UPDATE OF kept SKIP LOCKED
)
UPDATE "gate"."floor" kept
   SET since = least((SELECT first_seen_at FROM oldest), $1::timestamptz)
  FROM free
 WHERE kept.ctid = free.ctid AND kept.since < least((SELECT first_seen_at FROM oldest), $1::timestamptz)
