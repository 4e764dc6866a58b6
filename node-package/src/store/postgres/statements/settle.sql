-- Ends claims: exactly one row per end asked for. Judged under the row lock, with owner and fence: an owner that lost its
-- claim changes nothing, and is told the state that the new one has left. Locks in the order of the keys. Where the same
-- owner's first try is still committing, this waits for it and then finds the end it asked for: `already`. What was
-- completed before, and without a result, gets the result: it may have been completed when it was claimed.
-- Completes nothing that a saved delivery or an object's version belongs to: `laden`, and settle_full.sql does it. That one
-- costs half as much again, for every end in the statement.
-- $1: ends as JSON, distinct and sorted; $2: how many; $3: lock timeout.
WITH ends AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, owner uuid, fence bigint, state "char", error text,
	         wait json, max_attempts integer, result text, resumed boolean)
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before, claim.lease_until <= clock_timestamp() AS late,
	       claim.owner = wanted.owner AND claim.fence = wanted.fence AS owned,
	       claim.state = 'p' OR claim.state = 'f' AND wanted.resumed AS open,
	       claim.state = 'c' AND wanted.state = 'c' AS done_before,
	       claim.result IS NULL AND wanted.result IS NOT NULL AS result_is_new,
	       wanted.state = 'c' AND (claim.subject_key IS NOT NULL OR EXISTS (
	         SELECT FROM "gate"."payloads" payload
	          WHERE payload.scope = claim.scope AND payload.provider = claim.provider
	            AND payload.event_id = claim.event_id AND NOT payload.keep)) AS laden,
	       CASE WHEN wanted.state = 'f' AND claim.attempt >= coalesce(wanted.max_attempts, claim.max_attempts, 5) THEN 'd'
	         ELSE wanted.state END AS target,
	       floor((wanted.wait->>'part')::float8 * least((wanted.wait->>'cap_ms')::float8,
	         (wanted.wait->>'base_ms')::float8 * 2 ^ least(claim.attempt - 1, 60))) AS wait_ms
	  FROM ends wanted
	  JOIN "gate"."claims" claim ON claim.scope = wanted.scope AND claim.provider = wanted.provider
	       AND claim.event_id = wanted.event_id
	 ORDER BY wanted.ord
	   FOR UPDATE OF claim
), settled AS (
	UPDATE "gate"."claims" claim
	   SET state = locked.target,
	       lease_until = NULL,
	       next_attempt_at = CASE WHEN locked.target = 'f'
	         THEN clock_timestamp() + locked.wait_ms * interval '1 millisecond' END,
	       completed_at = CASE WHEN locked.target = 'c' THEN coalesce(claim.completed_at, clock_timestamp()) END,
	       result = CASE WHEN locked.target = 'c' THEN locked.result::json END,
	       error = CASE WHEN locked.done_before THEN claim.error ELSE locked.error END
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	   AND locked.owned AND (locked.open AND NOT locked.laden OR locked.done_before AND locked.result_is_new)
	RETURNING claim.scope, claim.provider, claim.event_id, claim.state
)
SELECT wanted.ord,
       CASE
         WHEN locked.owned IS NOT TRUE THEN 'fenced_out'
         WHEN locked.state_before = locked.target THEN 'already'
         WHEN settled.state IS NOT NULL THEN CASE WHEN locked.late THEN 'late' ELSE 'settled' END
         WHEN locked.laden AND locked.open THEN 'laden'
         ELSE 'fenced_out'
       END AS verdict,
       coalesce(settled.state, locked.state_before) AS state
  FROM ends wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN settled ON settled.scope = wanted.scope AND settled.provider = wanted.provider
       AND settled.event_id = wanted.event_id
