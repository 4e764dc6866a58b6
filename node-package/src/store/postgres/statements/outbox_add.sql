-- Adds messages: exactly one row per message, in no order. One whose key is there already is left out, whatever it says;
-- where a rival is just adding the key, this waits for its end. IDs follow the order given, which is the order of sending;
-- locks follow the order of the keys, so two statements never wait for each other.
-- $1: messages as JSON, distinct; $2: how many, for the planner; $3: lock timeout.
WITH messages AS MATERIALIZED (
	SELECT message.*, nextval('"gate"."outbox_id"') AS id
	  FROM (SELECT message.*
	          FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	               json_to_recordset($1::json) AS message (
	                 ord integer, scope text, message_key text, topic text, ordering_key text, body text, delay_ms bigint)
	         ORDER BY ord
	         LIMIT $2::integer) message
), added AS (
	INSERT INTO "gate"."outbox" AS message (id, scope, message_key, topic, ordering_key, body, available_at)
	SELECT id, scope, message_key, topic, ordering_key, body, clock_timestamp() + delay_ms * interval '1 millisecond'
	  FROM messages
	 ORDER BY scope COLLATE "C", message_key COLLATE "C"
	ON CONFLICT (scope, message_key) DO NOTHING
	RETURNING message.id
)
SELECT messages.ord, added.id IS NOT NULL AS added
  FROM messages LEFT JOIN added USING (id)
