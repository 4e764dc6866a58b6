-- Ends uncertainty: exactly one row per event asked for. Judged under the row lock; with a fence, only the record that the
-- person has looked at. What is in the wanted state already is not changed: a lost answer does no harm.
-- All times are set: where this had to wait, the table's checks see them as they were before the wait.
-- $1: orders as JSON, distinct and sorted; $2: how many; $3: lock timeout.
WITH orders AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, fence bigint, state "char", wait json, result text,
	         reason text)
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before,
	       coalesce(claim.fence <> wanted.fence, false) AS fenced_out,
	       floor((wanted.wait->>'part')::float8 * least((wanted.wait->>'cap_ms')::float8,
	         (wanted.wait->>'base_ms')::float8 * 2 ^ least(claim.attempt - 1, 60))) AS wait_ms
	  FROM orders wanted
	  JOIN "gate"."claims" claim ON claim.scope = wanted.scope AND claim.provider = wanted.provider
	       AND claim.event_id = wanted.event_id
	 ORDER BY wanted.ord
	   FOR UPDATE OF claim
), resolved AS (
	UPDATE "gate"."claims" claim
	   SET state = locked.state,
	       lease_until = NULL,
	       next_attempt_at = CASE WHEN locked.state = 'f'
	         THEN clock_timestamp() + locked.wait_ms * interval '1 millisecond' END,
	       completed_at = CASE WHEN locked.state = 'c' THEN clock_timestamp() END,
	       result = CASE WHEN locked.state = 'c' THEN locked.result::json END,
	       error = locked.reason
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	   AND locked.state_before = 'u' AND NOT locked.fenced_out
	RETURNING claim.*, locked.ord
), thrown_away AS (
	DELETE FROM "gate"."payloads" payload
	 USING resolved
	 WHERE payload.scope = resolved.scope AND payload.provider = resolved.provider
	   AND payload.event_id = resolved.event_id AND resolved.state = 'c' AND NOT payload.keep
), newest AS (
	INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
	SELECT scope, subject_key, max(subject_version)
	  FROM resolved
	 WHERE state = 'c' AND subject_key IS NOT NULL
	 GROUP BY scope, subject_key
	 ORDER BY scope, subject_key
	ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version
), lowered AS (
	UPDATE "gate"."floor"
	   SET since = least(since, (SELECT min(first_seen_at) FROM resolved WHERE state = 'f')), lowered = lowered + 1
	 WHERE EXISTS (SELECT FROM resolved WHERE state = 'f')
)
SELECT wanted.ord,
       CASE
         WHEN resolved.ord IS NOT NULL THEN 'resolved'
         WHEN locked.ord IS NULL THEN 'not_found'
         WHEN locked.fenced_out THEN 'fenced_out'
         WHEN locked.state_before = wanted.state THEN 'already'
         ELSE 'not_uncertain'
       END AS verdict,
       coalesce(resolved.state, locked.state_before) AS state
  FROM orders wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN resolved ON resolved.ord = wanted.ord
