-- Has finished events handled once more, by whoever asks: exactly one row per event asked for. Judged under the row lock.
-- Asked again with the same owner token it answers the same once more, so a lost answer does no harm. Refused where the
-- event was dead and another one has taken one of its guards since: the same fact would be handled twice.
-- All times are set: see resolve.sql.
-- $1: orders as JSON, distinct and sorted; $2: how many; $3: lock timeout.
WITH orders AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, owner uuid, lease_ms bigint, reason text,
	         execution_id text)
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before, claim.guards_lost,
	       claim.state = 'p' AND claim.owner = wanted.owner AS owned
	  FROM orders wanted
	  JOIN "gate"."claims" claim ON claim.scope = wanted.scope AND claim.provider = wanted.provider
	       AND claim.event_id = wanted.event_id
	 ORDER BY wanted.ord
	   FOR UPDATE OF claim
), reopened AS (
	UPDATE "gate"."claims" claim
	   SET state = 'p',
	       owner = locked.owner,
	       fence = CASE WHEN locked.owned THEN claim.fence ELSE nextval('"gate"."fence"') END,
	       attempt = CASE WHEN locked.owned THEN claim.attempt ELSE least(claim.attempt, 32766) + 1 END,
	       claimed_at = CASE WHEN locked.owned THEN claim.claimed_at ELSE clock_timestamp() END,
	       lease_until = clock_timestamp() + locked.lease_ms * interval '1 millisecond',
	       next_attempt_at = NULL,
	       completed_at = NULL,
	       result = NULL,
	       execution_id = locked.execution_id,
	       error = locked.reason
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	   AND (locked.owned OR locked.state_before NOT IN ('p', 'f') AND locked.guards_lost IS NOT TRUE)
	RETURNING claim.*, locked.ord
), lowered AS (
	UPDATE "gate"."floor"
	   SET since = least(since, (SELECT min(first_seen_at) FROM reopened)), lowered = lowered + 1
	 WHERE EXISTS (SELECT FROM reopened)
)
SELECT wanted.ord,
       CASE
         WHEN reopened.ord IS NOT NULL THEN 'reopened'
         WHEN locked.ord IS NULL THEN 'not_found'
         WHEN locked.state_before IN ('p', 'f') THEN 'not_finished'
         ELSE 'guard_taken'
       END AS verdict,
       coalesce(reopened.state, locked.state_before) AS state,
       reopened.fence::text, reopened.attempt, reopened.stage, reopened.event_type,
       floor(extract(epoch FROM reopened.first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM reopened.lease_until) * 1000)::text AS lease_ms,
       payload.headers, encode(payload.body, 'base64') AS body
  FROM orders wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN reopened ON reopened.ord = wanted.ord
  LEFT JOIN "gate"."payloads" payload ON payload.scope = reopened.scope AND payload.provider = reopened.provider
       AND payload.event_id = reopened.event_id
