-- As claim_fresh_guarded.sql, and with what may come with a claim: the delivery itself, the object that the event is about
-- and messages to be sent, all in the transaction of the claim. An event that is older than the newest completed one for
-- its object is not tried. IDs of messages follow the order given, locks the order of the keys: see outbox_add.sql.
WITH asks AS MATERIALIZED (
	SELECT ask.*, clock_timestamp() AS now
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS ask (
	         ord integer, scope text, provider text, event_id text, event_type text, owner uuid, body_digest text,
	         lease_ms bigint, max_attempts smallint, on_claim boolean, on_hold boolean, execution_id text, guards json,
	         subject_key text, subject_version numeric, payload json, outbox json)
	 LIMIT $2::integer
), wanted AS MATERIALIZED (
	SELECT ask.ord, ask.scope, ask.provider, ask.event_id, guard.kind, guard.provider AS guard_provider,
	       decode(guard.key, 'hex') AS guard_key
	  FROM asks ask, json_to_recordset(ask.guards) AS guard (kind "char", provider text, key text)
), open AS MATERIALIZED (
	SELECT ask.*, (SELECT count(*) FROM wanted WHERE wanted.ord = ask.ord) AS guards_wanted
	  FROM asks ask
	 WHERE NOT EXISTS (
	         SELECT FROM "gate"."claims" known
	          WHERE known.scope = ask.scope AND known.provider = ask.provider AND known.event_id = ask.event_id)
	   AND NOT EXISTS (
	         SELECT FROM wanted
	           JOIN "gate"."guards" known ON known.scope = wanted.scope AND known.kind = wanted.kind
	                AND known.provider = wanted.guard_provider AND known.guard_key = wanted.guard_key
	          WHERE wanted.ord = ask.ord)
	   AND NOT EXISTS (
	         SELECT FROM "gate"."subjects" newest
	          WHERE newest.scope = ask.scope AND newest.subject_key = ask.subject_key
	            AND newest.version > ask.subject_version)
), guarded AS (
	INSERT INTO "gate"."guards" (kind, scope, provider, guard_key, holder_provider, holder_event_id)
	SELECT wanted.kind, wanted.scope, wanted.guard_provider, wanted.guard_key, wanted.provider, wanted.event_id
	  FROM wanted JOIN open USING (ord)
	 ORDER BY wanted.scope COLLATE "C", wanted.kind, wanted.guard_provider COLLATE "C", wanted.guard_key
	ON CONFLICT (scope, kind, provider, guard_key) DO NOTHING
	RETURNING scope, holder_provider AS provider, holder_event_id AS event_id
), won AS MATERIALIZED (
	SELECT scope, provider, event_id, count(*) AS guards_won FROM guarded GROUP BY scope, provider, event_id
), fresh AS (
	INSERT INTO "gate"."claims" AS claim
	       (scope, provider, event_id, event_type, owner, body_digest, execution_id, hold, max_attempts,
	        subject_key, subject_version, state, first_seen_at, lease_until, completed_at)
	SELECT open.scope, open.provider, open.event_id, open.event_type, open.owner, decode(open.body_digest, 'hex'),
	       open.execution_id, nullif(open.on_hold, false), nullif(open.max_attempts, 5), open.subject_key, open.subject_version,
	       CASE WHEN open.on_claim THEN 'c' ELSE 'p' END, open.now,
	       CASE WHEN NOT open.on_claim THEN open.now + open.lease_ms * interval '1 millisecond' END,
	       CASE WHEN open.on_claim THEN open.now END
	  FROM open LEFT JOIN won USING (scope, provider, event_id)
	 WHERE coalesce(won.guards_won, 0) = open.guards_wanted
	 ORDER BY open.ord
	ON CONFLICT (scope, provider, event_id) DO NOTHING
	RETURNING claim.*
), saved AS (
	INSERT INTO "gate"."payloads" (scope, provider, event_id, keep, headers, body)
	SELECT scope, provider, event_id, (payload->>'keep')::boolean, payload->>'headers', decode(payload->>'body', 'base64')
	  FROM open JOIN fresh USING (scope, provider, event_id)
	 WHERE payload IS NOT NULL AND state = 'p'
	-- What is there is of a claim that is gone.
	ON CONFLICT (scope, provider, event_id)
	DO UPDATE SET keep = excluded.keep, headers = excluded.headers, body = excluded.body
), newest AS (
	INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
	SELECT scope, subject_key, max(subject_version)
	  FROM fresh
	 WHERE state = 'c' AND subject_key IS NOT NULL
	 GROUP BY scope, subject_key
	 ORDER BY scope, subject_key
	ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version
), messages AS MATERIALIZED (
	SELECT message.*, nextval('"gate"."outbox_id"') AS id
	  FROM (SELECT provider, event_id, message.*
	          FROM open JOIN fresh USING (scope, provider, event_id)
	         CROSS JOIN json_to_recordset(outbox) AS message (
	                 place integer, scope text, message_key text, topic text, ordering_key text, body text, delay_ms bigint)
	         ORDER BY open.ord, message.place) message
), sent AS (
	INSERT INTO "gate"."outbox" (id, scope, message_key, topic, ordering_key, body, available_at, provider, event_id)
	SELECT id, scope, message_key, topic, ordering_key, body, clock_timestamp() + delay_ms * interval '1 millisecond',
	       provider, event_id
	  FROM messages
	 ORDER BY scope COLLATE "C", message_key COLLATE "C"
	ON CONFLICT (scope, message_key) DO NOTHING
)
SELECT open.scope, open.provider, open.event_id, fresh.fence::text, fresh.state, fresh.attempt, fresh.stage,
       floor(extract(epoch FROM fresh.first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM fresh.first_seen_at) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM fresh.lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM fresh.completed_at) * 1000)::text AS completed_ms,
       1 / CASE WHEN fresh.fence IS NULL AND won.guards_won > 0 THEN 0 ELSE 1 END AS whole
  FROM open
  LEFT JOIN fresh USING (scope, provider, event_id)
  LEFT JOIN won USING (scope, provider, event_id)
