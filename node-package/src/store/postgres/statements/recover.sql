-- Takes over what nobody works on any more, oldest first, and ends what cannot be handed out: a row for each record
-- touched. Never waits: what somebody else has locked is left to him, so callers at the same time get different records
-- and a delivery or an end that is under way is not disturbed. Judged under the row locks, by the database's clock.
-- Takes no more saved deliveries than 16 MB of them, beginning with the oldest, but one in any case: more would not be
-- answered in time, and undone. What is left is for the next call.
-- Looks at nothing older than the floor (0008), and in the scopes of tests, which the floor leaves out, at what was first
-- seen within a day. The upper end of the range is there for the planner: of a range between
-- two values that it does not know it expects little, so it goes by age (0004) and does not read the whole table. (It does
-- so once the table has been analyzed, at whatever time: before that it does not know that claims lie in order.)
-- $1: the search as JSON; $2: owner tokens as JSON, one for each record that may be handed out.
WITH search AS MATERIALIZED (
	SELECT wanted.*, clock_timestamp() AS now
	  FROM json_to_record($1::json) AS wanted (
	         stale boolean, failed boolean, tests boolean, scope text, provider text, most bigint, lease_ms bigint,
	         max_attempts integer, on_hold boolean, execution_id text)
), locked AS MATERIALIZED (
	SELECT claim.*
	  FROM "gate"."claims" claim
	 WHERE claim.first_seen_at BETWEEN (
	         SELECT CASE WHEN coalesce(starts_with(scope, 'test:'), tests) THEN now - interval '1 day'
	                  ELSE coalesce((SELECT since FROM "gate"."floor"), '-infinity') END
	           FROM search) AND (SELECT 'infinity'::timestamptz)
	   AND (claim.state = 'p' AND (SELECT stale FROM search) AND claim.lease_until <= (SELECT now FROM search)
	     OR claim.state = 'f' AND (SELECT failed FROM search) AND claim.next_attempt_at <= (SELECT now FROM search))
	   AND claim.scope = coalesce((SELECT scope FROM search), claim.scope)
	   AND ((SELECT scope FROM search) IS NOT NULL OR starts_with(claim.scope, 'test:') = (SELECT tests FROM search))
	   AND claim.provider = coalesce((SELECT provider FROM search), claim.provider)
	 ORDER BY claim.first_seen_at
	 LIMIT (SELECT most FROM search)
	   FOR UPDATE SKIP LOCKED
), sized AS MATERIALIZED (
	SELECT locked.*,
	       coalesce(sum(octet_length(payload.headers) + octet_length(payload.body)) OVER oldest_first, 0) AS bytes_with_it,
	       coalesce(sum(octet_length(payload.headers) + octet_length(payload.body)) OVER older_ones, 0) AS bytes_before
	  FROM locked
	  LEFT JOIN "gate"."payloads" payload ON payload.scope = locked.scope AND payload.provider = locked.provider
	       AND payload.event_id = locked.event_id
	WINDOW oldest_first AS (ORDER BY locked.first_seen_at, locked.scope, locked.provider, locked.event_id),
	       older_ones AS (oldest_first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), judged AS MATERIALIZED (
	SELECT locked.*,
	       CASE
	         -- Before the attempts are looked at: what the interrupted one did, only a person can say.
	         WHEN locked.state = 'p' AND (search.on_hold OR locked.hold) THEN 'held'
	         WHEN locked.attempt >= coalesce(search.max_attempts, locked.max_attempts, 5) THEN 'exhausted'
	         WHEN newest.version > locked.subject_version THEN 'superseded'
	         WHEN locked.state = 'f' THEN 'retried'
	         ELSE 'taken_over'
	       END AS verdict
	  FROM search, sized locked
	  LEFT JOIN "gate"."subjects" newest ON newest.scope = locked.scope AND newest.subject_key = locked.subject_key
	 WHERE locked.bytes_with_it <= 16777216 OR locked.bytes_before = 0
), decided AS MATERIALIZED (
	SELECT judged.*, new.owner AS new_owner
	  FROM (SELECT judged.*, row_number() OVER (PARTITION BY verdict IN ('retried', 'taken_over')) AS turn FROM judged) judged
	  LEFT JOIN (SELECT owner::uuid, turn FROM json_array_elements_text($2::json) WITH ORDINALITY AS token (owner, turn)) new
	    ON new.turn = judged.turn AND judged.verdict IN ('retried', 'taken_over')
), moved AS (
	UPDATE "gate"."claims" claim
	   SET state = CASE decided.verdict WHEN 'held' THEN 'u' WHEN 'exhausted' THEN 'd' WHEN 'superseded' THEN 'c' ELSE 'p' END,
	       owner = coalesce(decided.new_owner, claim.owner),
	       -- Superseded, it is nobody's any more: whoever still is at it must not be told that he has completed it.
	       fence = CASE WHEN decided.new_owner IS NULL AND decided.verdict <> 'superseded' THEN claim.fence
	         ELSE nextval('"gate"."fence"') END,
	       attempt = CASE WHEN decided.new_owner IS NULL THEN claim.attempt ELSE claim.attempt + 1 END,
	       claimed_at = CASE WHEN decided.new_owner IS NULL THEN claim.claimed_at ELSE clock_timestamp() END,
	       lease_until = CASE WHEN decided.new_owner IS NOT NULL
	         THEN clock_timestamp() + search.lease_ms * interval '1 millisecond' END,
	       next_attempt_at = NULL,
	       completed_at = CASE WHEN decided.verdict = 'superseded' THEN clock_timestamp() END,
	       execution_id = CASE WHEN decided.new_owner IS NULL THEN claim.execution_id ELSE search.execution_id END,
	       error = CASE WHEN decided.verdict = 'superseded' THEN 'superseded by a newer event' ELSE claim.error END
	  FROM decided, search
	 WHERE claim.scope = decided.scope AND claim.provider = decided.provider AND claim.event_id = decided.event_id
	RETURNING claim.*, decided.verdict, decided.new_owner, decided.execution_id AS execution_id_before,
	          decided.error AS error_before
), thrown_away AS (
	DELETE FROM "gate"."payloads" payload
	 USING moved
	 WHERE payload.scope = moved.scope AND payload.provider = moved.provider AND payload.event_id = moved.event_id
	   AND moved.state = 'c' AND NOT payload.keep
)
SELECT moved.scope, moved.provider, moved.event_id, moved.verdict, moved.state, moved.attempt, moved.stage,
       moved.event_type, moved.execution_id_before, moved.error_before AS error,
       replace(moved.new_owner::text, '-', '') AS owner,
       CASE WHEN moved.new_owner IS NOT NULL THEN moved.fence::text END AS fence,
       floor(extract(epoch FROM moved.first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM moved.lease_until) * 1000)::text AS lease_ms,
       payload.headers, encode(payload.body, 'base64') AS body
  FROM moved
  LEFT JOIN "gate"."payloads" payload ON payload.scope = moved.scope AND payload.provider = moved.provider
       AND payload.event_id = moved.event_id
 ORDER BY moved.first_seen_at
