-- Leases what is due and tells what it leased: what has been due longest, in the order of age. Nobody waits for a message
-- that somebody else is at.
-- Of the messages with one ordering key only the first in line, the oldest that is not sent, can be handed out. Which one
-- that is comes from the statement's snapshot, which does not care for locks: while another caller is just taking it, it
-- is still not sent, so the next one is not handed out in its place. Added in transactions that ran at the same time, two
-- have no order.
-- A lease that is over is handed out again, with a new fence, however often it has been: nobody knows whether it was sent,
-- and it must be at least once. A caller that has leases already, since the answer was lost, gets these and no others.
-- Its time grows with the messages that have an ordering key and are not sent, by less than a microsecond each; what has
-- been sent costs nothing.
-- $1: scope or NULL; $2: topic or NULL; $3: how many; $4: owner; $5: lease in ms; $6: lock timeout; $7: with no scope,
-- whether those of tests are searched, or all others.
WITH own AS MATERIALIZED (
	SELECT message.id
	  FROM (SELECT set_config('lock_timeout', $6, true)) patience, "gate"."outbox" message
	 WHERE message.owner = $4::uuid AND message.state = 'l'
	 ORDER BY message.id
	   FOR UPDATE OF message
), in_line AS MATERIALIZED (
	SELECT DISTINCT ON (scope, topic, ordering_key) id, state, available_at
	  FROM "gate"."outbox"
	 WHERE NOT EXISTS (SELECT FROM own)
	   AND ordering_key IS NOT NULL AND state IN ('p', 'l', 'd')
	   AND (scope = $1::text OR $1::text IS NULL AND starts_with(scope, 'test:') = $7::boolean)
	   AND ($2::text IS NULL OR topic = $2::text)
	 ORDER BY scope, topic, ordering_key, id
), candidates AS MATERIALIZED (
	-- More than are wanted, since others may be at some of them.
	(SELECT id
	   FROM in_line
	  WHERE state <> 'd' AND available_at <= (SELECT clock_timestamp())
	  ORDER BY available_at, id
	  LIMIT $3::integer + 1000)
	UNION ALL
	(SELECT id
	   FROM "gate"."outbox"
	  WHERE NOT EXISTS (SELECT FROM own)
	    AND ordering_key IS NULL AND state IN ('p', 'l') AND available_at <= (SELECT clock_timestamp())
	    AND (scope = $1::text OR $1::text IS NULL AND starts_with(scope, 'test:') = $7::boolean)
	    AND ($2::text IS NULL OR topic = $2::text)
	  ORDER BY available_at, id
	  LIMIT $3::integer + 1000)
), due AS MATERIALIZED (
	SELECT message.id
	  FROM candidates
	  JOIN "gate"."outbox" message USING (id)
	 WHERE message.state IN ('p', 'l') AND message.available_at <= (SELECT clock_timestamp())
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
