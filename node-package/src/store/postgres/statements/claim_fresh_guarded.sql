-- As claim_fresh.sql, for asks with guard keys: claims an event together with all its guards, or neither. It only tries
-- where neither the event nor any of its guards is known. Guards first, in the order of their key, then events: all
-- statements take locks in this order. Where a rival took the event, or one guard of several, in the middle of it, the
-- statement fails with 22012 and so undoes what it had written; the caller runs it again and then sees the rival.
WITH asks AS MATERIALIZED (
	SELECT ask.*, clock_timestamp() AS now
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS ask (
	         ord integer, scope text, provider text, event_id text, event_type text, owner uuid, body_digest text,
	         lease_ms bigint, max_attempts smallint, on_claim boolean, on_hold boolean, execution_id text, guards json)
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
	       (scope, provider, event_id, event_type, owner, body_digest, execution_id, hold, max_attempts, state,
	        first_seen_at, lease_until, completed_at)
	SELECT open.scope, open.provider, open.event_id, open.event_type, open.owner, decode(open.body_digest, 'hex'),
	       open.execution_id, nullif(open.on_hold, false), nullif(open.max_attempts, 5),
	       CASE WHEN open.on_claim THEN 'c' ELSE 'p' END, open.now,
	       CASE WHEN NOT open.on_claim THEN open.now + open.lease_ms * interval '1 millisecond' END,
	       CASE WHEN open.on_claim THEN open.now END
	  FROM open LEFT JOIN won USING (scope, provider, event_id)
	 WHERE coalesce(won.guards_won, 0) = open.guards_wanted
	 ORDER BY open.ord
	ON CONFLICT (scope, provider, event_id) DO NOTHING
	RETURNING claim.*
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
