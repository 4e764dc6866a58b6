-- Ends leases: exactly one row per end asked for. Judged under the row lock, with owner and fence: whoever lost the lease
-- changes nothing. Owner and fence stay, so an end asked for again is seen to be the same: `already`. A failure waits for
-- its next attempt; where no attempts are left the message is dead. $1: ends as JSON, distinct; $2: how many;
-- $3: lock timeout.
WITH ends AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, id bigint, owner uuid, fence bigint, sent boolean, error text, wait json, max_attempts integer)
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, message.state AS state_before, message.available_at,
	       CASE WHEN wanted.sent THEN 's' WHEN message.attempt >= wanted.max_attempts THEN 'd' ELSE 'p' END AS target,
	       floor((wanted.wait->>'part')::float8 * least((wanted.wait->>'cap_ms')::float8,
	         (wanted.wait->>'base_ms')::float8 * 2 ^ least(message.attempt - 1, 60))) AS wait_ms
	  FROM ends wanted
	  JOIN "gate"."outbox" message ON message.id = wanted.id AND message.owner = wanted.owner AND message.fence = wanted.fence
	 ORDER BY message.id
	   FOR UPDATE OF message
), ended AS (
	UPDATE "gate"."outbox" message
	   SET state = locked.target::"char",
	       lease_until = NULL,
	       available_at = clock_timestamp()
	         + CASE WHEN locked.target = 'p' THEN locked.wait_ms ELSE 0 END * interval '1 millisecond',
	       sent_at = CASE WHEN locked.target = 's' THEN clock_timestamp() END,
	       error = locked.error
	  FROM locked
	 WHERE message.id = locked.id AND locked.state_before = 'l'
	RETURNING message.id, message.state, message.available_at
)
SELECT wanted.ord,
       CASE
         WHEN ended.state = 's' THEN 'sent'
         WHEN ended.state = 'd' THEN 'dead'
         WHEN ended.state = 'p' THEN 'failed'
         WHEN (locked.state_before = 's') = wanted.sent AND locked.state_before <> 'l' THEN 'already'
         ELSE 'fenced_out'
       END AS verdict,
       CASE WHEN coalesce(ended.state, locked.state_before) = 'p' AND NOT wanted.sent THEN
         ceil(extract(epoch FROM coalesce(ended.available_at, locked.available_at)) * 1000)::text
       END AS next_attempt_ms
  FROM ends wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN ended ON ended.id = wanted.id
