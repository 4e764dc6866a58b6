-- As settle.sql, and for claims that something belongs to, in the same transaction: a completed claim's saved delivery goes,
-- its object has a new version, its messages are stored. So they are where the claim was completed before: it may have been
-- completed when it was claimed, and by their keys each is stored once. IDs of messages follow the order given, locks the
-- order of the keys: see outbox_add.sql.
WITH ends AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, owner uuid, fence bigint, state "char", error text,
	         wait json, max_attempts integer, result text, resumed boolean, outbox json)
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before, claim.lease_until <= clock_timestamp() AS late,
	       claim.owner = wanted.owner AND claim.fence = wanted.fence AS owned,
	       claim.state = 'p' OR claim.state = 'f' AND wanted.resumed AS open,
	       claim.state = 'c' AND wanted.state = 'c' AS done_before,
	       claim.result IS NULL AND wanted.result IS NOT NULL AS result_is_new,
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
	   AND locked.owned AND (locked.open OR locked.done_before AND locked.result_is_new)
	RETURNING claim.scope, claim.provider, claim.event_id, claim.state, claim.subject_key, claim.subject_version
), thrown_away AS (
	DELETE FROM "gate"."payloads" payload
	 USING settled
	 WHERE payload.scope = settled.scope AND payload.provider = settled.provider
	   AND payload.event_id = settled.event_id AND settled.state = 'c' AND NOT payload.keep
), newest AS (
	INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
	SELECT scope, subject_key, max(subject_version)
	  FROM settled
	 WHERE state = 'c' AND subject_key IS NOT NULL
	 GROUP BY scope, subject_key
	 ORDER BY scope, subject_key
	ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version
), messages AS MATERIALIZED (
	SELECT message.*, nextval('"gate"."outbox_id"') AS id
	  FROM (SELECT locked.provider, locked.event_id, message.*
	          FROM locked LEFT JOIN settled USING (scope, provider, event_id)
	         CROSS JOIN json_to_recordset(locked.outbox) AS message (
	                 place integer, scope text, message_key text, topic text, ordering_key text, body text, delay_ms bigint)
	         WHERE settled.state = 'c' OR locked.owned AND locked.done_before
	         ORDER BY locked.ord, message.place) message
), sent AS (
	INSERT INTO "gate"."outbox" (id, scope, message_key, topic, ordering_key, body, available_at, provider, event_id)
	SELECT id, scope, message_key, topic, ordering_key, body, clock_timestamp() + delay_ms * interval '1 millisecond',
	       provider, event_id
	  FROM messages
	 ORDER BY scope COLLATE "C", message_key COLLATE "C"
	ON CONFLICT (scope, message_key) DO NOTHING
)
SELECT wanted.ord,
       CASE
         WHEN locked.owned IS NOT TRUE THEN 'fenced_out'
         WHEN locked.state_before = locked.target THEN 'already'
         WHEN settled.state IS NOT NULL THEN CASE WHEN locked.late THEN 'late' ELSE 'settled' END
         ELSE 'fenced_out'
       END AS verdict,
       coalesce(settled.state, locked.state_before) AS state
  FROM ends wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN settled ON settled.scope = wanted.scope AND settled.provider = wanted.provider
       AND settled.event_id = wanted.event_id
