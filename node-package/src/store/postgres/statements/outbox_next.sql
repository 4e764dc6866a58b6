-- Leases what is due and tells what it leased: what has been due longest, in the order of age. Nobody waits for a message that somebody else is at.
-- Of the messages with one ordering key only the oldest that is not sent is looked at. That is asked of the statement's
-- snapshot, which does not care for locks: while another caller is just taking the oldest one, it is still not sent, so
-- the next one is not handed out in its place. Added in transactions that ran at the same time, two have no order.
-- A lease that is over is handed out again, with a new fence, however often it has been: nobody knows whether it was sent,
-- and it must be at least once. A caller that has leases already, since the answer was lost, gets these and no others.
-- Takes long only where thousands are due that may not be sent yet: each is looked at.
-- $1: scope or NULL; $2: topic or NULL; $3: how many; $4: owner; $5: lease in ms; $6: lock timeout.
WITH own AS MATERIALIZED (
	SELECT message.id
	  FROM (SELECT set_config('lock_timeout', $6, true)) patience, "gate"."outbox" message
	 WHERE message.owner = $4::uuid AND message.state = 'l'
	 ORDER BY message.id
	   FOR UPDATE OF message
), due AS MATERIALIZED (
	SELECT message.id
	  FROM "gate"."outbox" message
	 WHERE NOT EXISTS (SELECT FROM own)
	   AND message.state IN ('p', 'l')
	   AND message.available_at <= (SELECT clock_timestamp())
	   AND ($1::text IS NULL OR message.scope = $1::text)
	   AND ($2::text IS NULL OR message.topic = $2::text)
	   AND (message.ordering_key IS NULL OR NOT EXISTS (
	         SELECT FROM "gate"."outbox" older
	          WHERE older.scope = message.scope AND older.topic = message.topic
	            AND older.ordering_key = message.ordering_key AND older.id < message.id
	            AND older.state IN ('p', 'l', 'd')))
	 ORDER BY message.available_at, message.id
	 LIMIT $3::integer
	   FOR UPDATE OF message SKIP LOCKED
), taken AS MATERIALIZED (
	SELECT id, false AS anew, clock_timestamp() + $5::bigint * interval '1 millisecond' AS lease_until FROM own
	UNION ALL
	SELECT id, true, clock_timestamp() + $5::bigint * interval '1 millisecond' FROM due
), leased AS (
	UPDATE "gate"."outbox" message
	   SET state = 'l',
	       owner = $4::uuid,
	       fence = CASE WHEN taken.anew THEN nextval('"gate"."fence"') ELSE message.fence END,
	       attempt = message.attempt + CASE WHEN taken.anew THEN 1 ELSE 0 END,
	       lease_until = taken.lease_until,
	       available_at = taken.lease_until
	  FROM taken
	 WHERE message.id = taken.id
	RETURNING message.*
)
SELECT id::text, replace(owner::text, '-', '') AS owner, fence::text, scope, message_key, topic, ordering_key, body,
       attempt, error,
       floor(extract(epoch FROM created_at) * 1000)::text AS created_ms,
       floor(extract(epoch FROM lease_until) * 1000)::text AS lease_ms
  FROM leased
 ORDER BY leased.id
