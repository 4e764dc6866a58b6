// Written by `node scripts/embed-sql.mjs` from the .sql files beside this folder. Do not edit.

export const statements = {
	advance: `WITH steps AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, owner uuid, fence bigint, stage text, stages text[])
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before, claim.stage AS stage_before,
	       claim.state = 'p' AND claim.owner = wanted.owner AND claim.fence = wanted.fence AS owned,
	       CASE WHEN claim.stage IS NULL THEN 0 ELSE array_position(wanted.stages, claim.stage) END AS place_before,
	       array_position(wanted.stages, wanted.stage) AS place
	  FROM steps wanted
	  JOIN "gate"."claims" claim ON claim.scope = wanted.scope AND claim.provider = wanted.provider
	       AND claim.event_id = wanted.event_id
	 ORDER BY wanted.ord
	   FOR UPDATE OF claim
), advanced AS (
	UPDATE "gate"."claims" claim
	   SET stage = locked.stage
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	   AND locked.owned AND locked.place_before < locked.place
	RETURNING locked.ord, claim.stage
)
SELECT wanted.ord, locked.state_before AS state, locked.stage_before,
       CASE
         WHEN advanced.ord IS NOT NULL THEN 'advanced'
         WHEN NOT coalesce(locked.owned, false) THEN 'fenced_out'
         WHEN locked.place_before IS NULL THEN 'unknown_stage'
         ELSE 'already_there'
       END AS verdict,
       coalesce(advanced.stage, locked.stage_before) AS stage
  FROM steps wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN advanced ON advanced.ord = wanted.ord`,
	claim_fresh: `WITH asks AS MATERIALIZED (
	SELECT ask.*, clock_timestamp() AS now
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS ask (
	         ord integer, scope text, provider text, event_id text, event_type text, owner uuid, body_digest text,
	         lease_ms bigint, max_attempts smallint, on_claim boolean, on_hold boolean, execution_id text)
	 LIMIT $2::integer
)
INSERT INTO "gate"."claims" AS claim
       (scope, provider, event_id, event_type, owner, body_digest, execution_id, hold, max_attempts, state, first_seen_at,
        lease_until, completed_at)
SELECT ask.scope, ask.provider, ask.event_id, ask.event_type, ask.owner, decode(ask.body_digest, 'hex'), ask.execution_id,
       nullif(ask.on_hold, false), nullif(ask.max_attempts, 5),
       CASE WHEN ask.on_claim THEN 'c' ELSE 'p' END, ask.now,
       CASE WHEN NOT ask.on_claim THEN ask.now + ask.lease_ms * interval '1 millisecond' END,
       CASE WHEN ask.on_claim THEN ask.now END
  FROM asks ask
 WHERE NOT EXISTS (
         SELECT FROM "gate"."claims" known
          WHERE known.scope = ask.scope AND known.provider = ask.provider AND known.event_id = ask.event_id)
 ORDER BY ask.ord
ON CONFLICT (scope, provider, event_id) DO NOTHING
RETURNING scope, provider, event_id, fence::text, state, attempt, stage,
       floor(extract(epoch FROM first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM first_seen_at) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM completed_at) * 1000)::text AS completed_ms`,
	claim_fresh_full: `WITH asks AS MATERIALIZED (
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
  LEFT JOIN won USING (scope, provider, event_id)`,
	claim_fresh_guarded: `WITH asks AS MATERIALIZED (
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
  LEFT JOIN won USING (scope, provider, event_id)`,
	claim_grant: `WITH asks AS MATERIALIZED (
	SELECT ask.*, clock_timestamp() AS now, ask.verdict IN ('claimed', 'retried', 'taken_over') AS granted
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS ask (
	         ord integer, scope text, provider text, event_id text, event_type text, owner uuid, body_digest text,
	         lease_ms bigint, max_attempts smallint, on_claim boolean, on_hold boolean, execution_id text, guards json,
	         subject_key text, subject_version numeric, payload json, outbox json, verdict text, version text)
	 LIMIT $2::integer
), wanted AS MATERIALIZED (
	SELECT ask.ord, ask.scope, ask.provider, ask.event_id, guard.kind, guard.provider AS guard_provider,
	       decode(guard.key, 'hex') AS guard_key, guard.holding, guard.version
	  FROM asks ask
	 CROSS JOIN json_to_recordset(ask.guards) AS guard (kind "char", provider text, key text, holding text, version bigint)
	 WHERE ask.granted
), guards_made AS (
	INSERT INTO "gate"."guards" (kind, scope, provider, guard_key, holder_provider, holder_event_id)
	SELECT kind, scope, guard_provider, guard_key, provider, event_id
	  FROM wanted
	 WHERE holding = 'free'
	 ORDER BY scope COLLATE "C", kind, guard_provider COLLATE "C", guard_key
	ON CONFLICT (scope, kind, provider, guard_key) DO NOTHING
	RETURNING scope, holder_provider AS provider, holder_event_id AS event_id
), guards_locked AS MATERIALIZED (
	SELECT wanted.*, held.holder_provider, held.holder_event_id,
	       (held.holder_provider, held.holder_event_id) <> (wanted.provider, wanted.event_id) AS foreign_holder
	  FROM wanted
	  JOIN "gate"."guards" held ON held.scope = wanted.scope AND held.kind = wanted.kind
	       AND held.provider = wanted.guard_provider AND held.guard_key = wanted.guard_key
	       AND held.version = wanted.version
	 WHERE wanted.holding = 'open' AND (SELECT count(*) FROM guards_made) >= 0
	 ORDER BY held.scope, held.kind, held.provider, held.guard_key
	   FOR UPDATE OF held
), records_locked AS MATERIALIZED (
	SELECT record.ord, record.dead_holder, claim.scope, claim.provider, claim.event_id
	  FROM (SELECT ord, scope, provider, event_id, version, false AS dead_holder FROM asks WHERE verdict <> 'claimed'
	        UNION ALL
	        SELECT ord, scope, holder_provider, holder_event_id, NULL, true FROM guards_locked WHERE foreign_holder) record
	  JOIN "gate"."claims" claim ON claim.scope = record.scope AND claim.provider = record.provider
	       AND claim.event_id = record.event_id
	 WHERE CASE WHEN record.dead_holder THEN claim.state = 'd' ELSE claim.xmin::text = record.version END
	 ORDER BY claim.scope, claim.provider, claim.event_id
	   FOR UPDATE OF claim
), guards_free AS MATERIALIZED (
	SELECT locked.*, holder.event_id IS NOT NULL AS from_the_dead
	  FROM guards_locked locked
	  LEFT JOIN (SELECT DISTINCT scope, provider, event_id FROM records_locked WHERE dead_holder) holder
	    ON holder.scope = locked.scope AND holder.provider = locked.holder_provider
	   AND holder.event_id = locked.holder_event_id
	 WHERE NOT locked.foreign_holder OR holder.event_id IS NOT NULL
	    OR NOT EXISTS (
	         SELECT FROM "gate"."claims" known
	          WHERE known.scope = locked.scope AND known.provider = locked.holder_provider
	            AND known.event_id = locked.holder_event_id)
), guards_taken AS (
	UPDATE "gate"."guards" held
	   SET holder_provider = free.provider, holder_event_id = free.event_id, version = nextval('"gate"."fence"')
	  FROM guards_free free
	 WHERE held.scope = free.scope AND held.kind = free.kind AND held.provider = free.guard_provider
	   AND held.guard_key = free.guard_key
	RETURNING held.scope, held.holder_provider AS provider, held.holder_event_id AS event_id
), bereft AS (
	UPDATE "gate"."claims" claim
	   SET guards_lost = true
	  FROM guards_free free
	 WHERE claim.scope = free.scope AND claim.provider = free.holder_provider AND claim.event_id = free.holder_event_id
	   AND free.foreign_holder AND free.from_the_dead
), won AS MATERIALIZED (
	SELECT scope, provider, event_id, count(*) AS guards_won
	  FROM (SELECT * FROM guards_made UNION ALL SELECT * FROM guards_taken) guard
	 GROUP BY scope, provider, event_id
), ready AS MATERIALIZED (
	SELECT ask.*, coalesce(won.guards_won, 0) AS guards_won
	  FROM asks ask LEFT JOIN won USING (scope, provider, event_id)
	 WHERE coalesce(won.guards_won, 0) = (SELECT count(*) FROM wanted WHERE wanted.ord = ask.ord)
	   AND (ask.verdict = 'claimed' OR EXISTS (
	         SELECT FROM records_locked locked WHERE locked.ord = ask.ord AND NOT locked.dead_holder))
	   AND NOT EXISTS (
	         SELECT FROM "gate"."subjects" newest
	          WHERE ask.granted AND newest.scope = ask.scope AND newest.subject_key = ask.subject_key
	            AND newest.version > ask.subject_version)
), made AS (
	INSERT INTO "gate"."claims" AS claim
	       (scope, provider, event_id, event_type, owner, body_digest, execution_id, hold, max_attempts,
	        subject_key, subject_version, state, first_seen_at, lease_until, completed_at)
	SELECT scope, provider, event_id, event_type, owner, decode(body_digest, 'hex'), execution_id,
	       nullif(on_hold, false), nullif(max_attempts, 5), subject_key, subject_version,
	       CASE WHEN on_claim THEN 'c' ELSE 'p' END, now,
	       CASE WHEN NOT on_claim THEN now + lease_ms * interval '1 millisecond' END,
	       CASE WHEN on_claim THEN now END
	  FROM ready
	 WHERE verdict = 'claimed'
	 ORDER BY ord
	ON CONFLICT (scope, provider, event_id) DO NOTHING
	RETURNING claim.*
), moved AS (
	UPDATE "gate"."claims" claim
	   SET state = CASE
	         WHEN locked.verdict = 'held' THEN 'u'
	         WHEN locked.verdict = 'exhausted' THEN 'd'
	         WHEN locked.verdict = 'superseded' THEN 'c'
	         WHEN locked.granted AND locked.on_claim THEN 'c'
	         ELSE 'p' END,
	       owner = CASE WHEN locked.granted THEN locked.owner ELSE claim.owner END,
	       fence = CASE WHEN locked.granted OR locked.verdict = 'superseded' THEN nextval('"gate"."fence"') ELSE claim.fence END,
	       attempt = CASE WHEN locked.granted THEN claim.attempt + 1 ELSE claim.attempt END,
	       claimed_at = CASE WHEN locked.granted THEN clock_timestamp() ELSE claim.claimed_at END,
	       lease_until = CASE
	         WHEN locked.verdict = 'reentrant' OR locked.granted AND NOT locked.on_claim
	         THEN clock_timestamp() + locked.lease_ms * interval '1 millisecond' END,
	       next_attempt_at = NULL,
	       completed_at = CASE WHEN locked.verdict = 'superseded' OR locked.granted AND locked.on_claim
	         THEN clock_timestamp() END,
	       error = CASE WHEN locked.verdict = 'superseded' THEN 'superseded by a newer event' ELSE claim.error END,
	       hold = claim.hold OR locked.granted AND nullif(locked.on_hold, false),
	       max_attempts = CASE WHEN locked.granted THEN nullif(locked.max_attempts, 5) ELSE claim.max_attempts END,
	       subject_key = CASE WHEN locked.granted AND locked.subject_key IS NOT NULL
	         THEN locked.subject_key ELSE claim.subject_key END,
	       subject_version = CASE WHEN locked.granted AND locked.subject_key IS NOT NULL
	         THEN locked.subject_version ELSE claim.subject_version END,
	       execution_id = CASE WHEN locked.granted THEN locked.execution_id ELSE claim.execution_id END
	  FROM ready locked
	 WHERE locked.verdict <> 'claimed'
	   AND claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	RETURNING claim.*
), changed AS MATERIALIZED (
	SELECT * FROM made UNION ALL SELECT * FROM moved
), saved AS (
	INSERT INTO "gate"."payloads" (scope, provider, event_id, keep, headers, body)
	SELECT scope, provider, event_id, (payload->>'keep')::boolean, payload->>'headers', decode(payload->>'body', 'base64')
	  FROM ready JOIN changed USING (scope, provider, event_id)
	 WHERE ready.granted AND payload IS NOT NULL AND state = 'p'
	ON CONFLICT (scope, provider, event_id)
	DO UPDATE SET keep = excluded.keep, headers = excluded.headers, body = excluded.body
	    WHERE EXISTS (
	            SELECT FROM made
	             WHERE made.scope = excluded.scope AND made.provider = excluded.provider
	               AND made.event_id = excluded.event_id)
), thrown_away AS (
	DELETE FROM "gate"."payloads" payload
	 USING changed
	 WHERE payload.scope = changed.scope AND payload.provider = changed.provider
	   AND payload.event_id = changed.event_id AND changed.state = 'c' AND NOT payload.keep
), newest AS (
	INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
	SELECT scope, subject_key, max(subject_version)
	  FROM changed
	 WHERE state = 'c' AND subject_key IS NOT NULL
	 GROUP BY scope, subject_key
	 ORDER BY scope, subject_key
	ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version
), messages AS MATERIALIZED (
	SELECT message.*, nextval('"gate"."outbox_id"') AS id
	  FROM (SELECT provider, event_id, message.*
	          FROM ready JOIN changed USING (scope, provider, event_id)
	         CROSS JOIN json_to_recordset(outbox) AS message (
	                 place integer, scope text, message_key text, topic text, ordering_key text, body text, delay_ms bigint)
	         WHERE ready.granted
	         ORDER BY ready.ord, message.place) message
), sent AS (
	INSERT INTO "gate"."outbox" (id, scope, message_key, topic, ordering_key, body, available_at, provider, event_id)
	SELECT id, scope, message_key, topic, ordering_key, body, clock_timestamp() + delay_ms * interval '1 millisecond',
	       provider, event_id
	  FROM messages
	 ORDER BY scope COLLATE "C", message_key COLLATE "C"
	ON CONFLICT (scope, message_key) DO NOTHING
)
SELECT ask.ord, claim.fence::text, claim.state, claim.attempt, claim.stage, claim.execution_id,
       coalesce(claim.body_digest <> decode(ask.body_digest, 'hex'), false) AS payload_changed,
       floor(extract(epoch FROM claim.first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(claim.claimed_at, claim.first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM claim.lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM claim.completed_at) * 1000)::text AS completed_ms,
       1 / CASE WHEN claim.fence IS NULL AND won.guards_won > 0 THEN 0 ELSE 1 END AS whole
  FROM asks ask
  LEFT JOIN changed claim USING (scope, provider, event_id)
  LEFT JOIN won USING (scope, provider, event_id)`,
	claim_guards: `WITH asks AS MATERIALIZED (
	SELECT ask.*, clock_timestamp() AS now
	  FROM json_to_recordset($1::json) AS ask (
	         ord integer, scope text, provider text, event_id text, body_digest text, guards json)
	 LIMIT $2::integer
)
SELECT ask.ord, guard.ord AS guard_ord,
       CASE
         WHEN held.version IS NULL THEN 'free'
         WHEN holder.state IS NULL OR (holder.provider, holder.event_id) = (ask.provider, ask.event_id) THEN 'open'
         ELSE 'rival'
       END AS holding,
       held.version::text AS version,
       holder.fence::text, holder.state, holder.attempt, holder.stage, holder.execution_id, holder.result::text AS result,
       coalesce(holder.body_digest <> decode(ask.body_digest, 'hex'), false) AS payload_changed,
       floor(extract(epoch FROM holder.first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(holder.claimed_at, holder.first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM holder.lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM holder.completed_at) * 1000)::text AS completed_ms,
       CASE WHEN holder.state IN ('p', 'f') THEN
         greatest(ceil(extract(epoch FROM coalesce(holder.lease_until, holder.next_attempt_at) - ask.now) * 1000), 0)::text
       END AS retry_after_ms
  FROM asks ask
 CROSS JOIN json_to_recordset(ask.guards) AS guard (ord integer, kind "char", provider text, key text)
  LEFT JOIN "gate"."guards" held
    ON held.scope = ask.scope AND held.kind = guard.kind AND held.provider = guard.provider
   AND held.guard_key = decode(guard.key, 'hex')
  LEFT JOIN "gate"."claims" holder
    ON holder.scope = ask.scope AND holder.provider = held.holder_provider AND holder.event_id = held.holder_event_id
   AND holder.state <> 'd'
 ORDER BY ask.ord, guard.ord`,
	claim_judge: `WITH asks AS MATERIALIZED (
	SELECT ask.*, clock_timestamp() AS now
	  FROM json_to_recordset($1::json) AS ask (
	         ord integer, scope text, provider text, event_id text, owner uuid, body_digest text, max_attempts integer,
	         on_claim boolean, on_hold boolean, reject_changed boolean)
	 LIMIT $2::integer
)
SELECT ask.ord,
       CASE
         WHEN claim.state IS NULL THEN 'claimed'
         WHEN claim.owner = ask.owner AND claim.state = 'p' THEN 'reentrant'
         WHEN claim.owner = ask.owner AND claim.state = 'c' AND ask.on_claim THEN 'reentrant'
         WHEN claim.body_digest <> decode(ask.body_digest, 'hex') AND ask.reject_changed THEN 'payload_mismatch'
         WHEN claim.state = 'c' THEN 'completed'
         WHEN claim.state = 'd' THEN 'dead'
         WHEN claim.state = 'u' THEN 'uncertain'
         WHEN claim.lease_until > ask.now THEN 'in_progress'
         WHEN claim.next_attempt_at > ask.now THEN 'backoff'
         WHEN claim.state = 'p' AND (ask.on_hold OR claim.hold) THEN 'held'
         WHEN claim.attempt >= ask.max_attempts THEN 'exhausted'
         WHEN claim.state = 'f' THEN 'retried'
         ELSE 'taken_over'
       END AS verdict,
       claim.xmin::text AS version,
       claim.fence::text, claim.state, claim.attempt, claim.stage, claim.execution_id, claim.result::text AS result,
       coalesce(claim.body_digest <> decode(ask.body_digest, 'hex'), false) AS payload_changed,
       floor(extract(epoch FROM claim.first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(claim.claimed_at, claim.first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM claim.lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM claim.completed_at) * 1000)::text AS completed_ms,
       CASE WHEN claim.state IN ('p', 'f') THEN
         greatest(ceil(extract(epoch FROM coalesce(claim.lease_until, claim.next_attempt_at) - ask.now) * 1000), 0)::text
       END AS retry_after_ms
  FROM asks ask
  LEFT JOIN "gate"."claims" claim
    ON claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id`,
	claim_subjects: `WITH asks AS MATERIALIZED (
	SELECT ask.*
	  FROM json_to_recordset($1::json) AS ask (ord integer, scope text, subject_key text, subject_version numeric)
	 LIMIT $2::integer
)
SELECT ask.ord, coalesce(newest.version > ask.subject_version, false) AS superseded,
       floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS now_ms
  FROM asks ask
  LEFT JOIN "gate"."subjects" newest ON newest.scope = ask.scope AND newest.subject_key = ask.subject_key`,
	dead_letters: `WITH letters AS (
	SELECT letter.id AS letter_id, claim.*, payload.headers, payload.body,
	       coalesce(sum(octet_length(payload.headers) + octet_length(payload.body)) OVER in_order, 0) AS bytes_with_it,
	       coalesce(sum(octet_length(payload.headers) + octet_length(payload.body)) OVER earlier_ones, 0) AS bytes_before
	  FROM (SELECT * FROM "gate"."dead_letters"
	         WHERE id > $1::bigint OR id = ANY (string_to_array($2, ',')::bigint[])
	         ORDER BY id
	         LIMIT $3::integer) letter
	  LEFT JOIN "gate"."claims" claim ON claim.scope = letter.scope AND claim.provider = letter.provider
	       AND claim.event_id = letter.event_id AND claim.fence = letter.fence AND claim.state IN ('u', 'd')
	  LEFT JOIN "gate"."payloads" payload ON payload.scope = claim.scope AND payload.provider = claim.provider
	       AND payload.event_id = claim.event_id
	WINDOW in_order AS (ORDER BY letter.id), earlier_ones AS (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT letter.letter_id::text AS letter_id, scope, provider, event_id, state, event_type, attempt,
       replace(owner::text, '-', '') AS owner, fence::text, stage, execution_id, error, result::text AS result,
       encode(body_digest, 'hex') AS body_digest,
       floor(extract(epoch FROM first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(claimed_at, first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM next_attempt_at) * 1000)::text AS next_attempt_ms,
       floor(extract(epoch FROM completed_at) * 1000)::text AS completed_ms,
       headers, encode(body, 'base64') AS body
  FROM letters letter
 WHERE bytes_with_it <= 16777216 OR bytes_before = 0
 ORDER BY letter.letter_id`,
	extend: `WITH leases AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, owner uuid, fence bigint, lease_ms bigint)
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before,
	       claim.state = 'p' AND claim.owner = wanted.owner AND claim.fence = wanted.fence AS owned
	  FROM leases wanted
	  JOIN "gate"."claims" claim ON claim.scope = wanted.scope AND claim.provider = wanted.provider
	       AND claim.event_id = wanted.event_id
	 ORDER BY wanted.ord
	   FOR UPDATE OF claim
), extended AS (
	UPDATE "gate"."claims" claim
	   SET lease_until = clock_timestamp() + locked.lease_ms * interval '1 millisecond'
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	   AND locked.owned
	RETURNING locked.ord, claim.lease_until
)
SELECT wanted.ord, locked.state_before AS state,
       CASE WHEN extended.ord IS NOT NULL THEN 'extended' ELSE 'fenced_out' END AS verdict,
       floor(extract(epoch FROM extended.lease_until) * 1000)::text AS lease_ms
  FROM leases wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN extended ON extended.ord = wanted.ord`,
	find: `SELECT state, event_type, attempt, replace(owner::text, '-', '') AS owner, fence::text, stage, execution_id, error, result::text AS result,
       encode(body_digest, 'hex') AS body_digest,
       floor(extract(epoch FROM first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(claimed_at, first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM next_attempt_at) * 1000)::text AS next_attempt_ms,
       floor(extract(epoch FROM completed_at) * 1000)::text AS completed_ms
  FROM "gate"."claims"
 WHERE scope = $1 AND provider = $2 AND event_id = $3`,
	find_payload: `SELECT payload.headers, encode(payload.body, 'base64') AS body
  FROM "gate"."payloads" payload
  JOIN "gate"."claims" claim USING (scope, provider, event_id)
 WHERE payload.scope = $1 AND payload.provider = $2 AND payload.event_id = $3`,
	floor_bound: `SELECT least(
         clock_timestamp() - interval '1 hour',
         (SELECT min(coalesce(activity.xact_start, '-infinity'))
            FROM pg_locks held
            LEFT JOIN pg_stat_activity activity ON activity.pid = held.pid
           WHERE held.locktype = 'relation' AND held.relation = '"gate"."claims"'::regclass
             AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND held.mode = 'RowExclusiveLock' AND held.pid IS DISTINCT FROM pg_backend_pid())
       )::text AS bound`,
	floor_raise: `WITH seen AS MATERIALIZED (
	SELECT since, lowered FROM "gate"."floor"
), oldest AS MATERIALIZED (
	SELECT min(claim.first_seen_at) AS first_seen_at
	  FROM "gate"."claims" claim
	 WHERE claim.first_seen_at BETWEEN (SELECT since FROM seen) AND (SELECT 'infinity'::timestamptz)
	   AND claim.state IN ('p', 'f') AND NOT starts_with(claim.scope, 'test:')
), free AS MATERIALIZED (
	SELECT kept.ctid FROM "gate"."floor" kept, seen WHERE kept.lowered = seen.lowered FOR UPDATE OF kept SKIP LOCKED
)
UPDATE "gate"."floor" kept
   SET since = least((SELECT first_seen_at FROM oldest), $1::timestamptz)
  FROM free
 WHERE kept.ctid = free.ctid AND kept.since < least((SELECT first_seen_at FROM oldest), $1::timestamptz)`,
	grants: `GRANT USAGE ON SCHEMA "gate" TO "gate_role";
GRANT SELECT, INSERT, UPDATE, DELETE ON "gate"."claims", "gate"."guards", "gate"."payloads", "gate"."subjects", "gate"."floor",
	"gate"."outbox", "gate"."dead_letters" TO "gate_role";
GRANT SELECT ON "gate"."migrations" TO "gate_role";
GRANT USAGE ON SEQUENCE "gate"."fence", "gate"."outbox_id" TO "gate_role"`,
	inspect: `SELECT pg_is_in_recovery() AS standby,
       current_user AS role,
       EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS schema_exists,
       (SELECT coalesce(json_object_agg(relation.relname, relation.facts), '{}')::text
          FROM (
            SELECT class.relname,
                   json_build_object(
                     'kind', class.relkind,
                     'persistence', class.relpersistence,
                     'usable', CASE class.relkind
                        WHEN 'S' THEN has_sequence_privilege(class.oid, 'USAGE')
                        ELSE has_table_privilege(class.oid, 'SELECT') END,
                     'writable', class.relkind = 'S' OR (
                        has_table_privilege(class.oid, 'INSERT') AND has_table_privilege(class.oid, 'UPDATE')),
                     'columns', (
                        SELECT json_agg(attname) FROM pg_attribute
                         WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped)
                   ) AS facts
              FROM pg_class class
              JOIN pg_namespace namespace ON namespace.oid = class.relnamespace
             WHERE namespace.nspname = $1 AND class.relname = ANY (string_to_array($2, ','))
          ) relation) AS relations`,
	list: `SELECT scope, provider, event_id, state, event_type, attempt, replace(owner::text, '-', '') AS owner, fence::text, stage,
       execution_id, error, result::text AS result, encode(body_digest, 'hex') AS body_digest,
       floor(extract(epoch FROM first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(claimed_at, first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM next_attempt_at) * 1000)::text AS next_attempt_ms,
       floor(extract(epoch FROM completed_at) * 1000)::text AS completed_ms
  FROM "gate"."claims"
 WHERE ($1::text IS NULL OR state::text = ANY (string_to_array($1, ',')))
   AND ($2::text IS NULL OR scope = $2)
   AND ($3::text IS NULL OR provider = $3)
   AND ($4::text IS NULL OR event_type = $4)
   AND ($5::float8 IS NULL OR first_seen_at >= to_timestamp($5 / 1000))
   AND ($6::float8 IS NULL OR first_seen_at < to_timestamp($6 / 1000))
   AND ($7::text IS NULL OR execution_id = $7)
   AND (NOT $8::boolean OR first_seen_at BETWEEN coalesce((SELECT since FROM "gate"."floor"), '-infinity')
                                             AND (SELECT 'infinity'::timestamptz))
 ORDER BY first_seen_at DESC
 LIMIT $9::bigint`,
	migrations_applied: `SELECT number FROM "gate"."migrations"`,
	migrations_create: `CREATE TABLE IF NOT EXISTS "gate"."migrations" (
	number integer PRIMARY KEY,
	name text NOT NULL,
	applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)`,
	migrations_lock: `SELECT pg_advisory_xact_lock(hashtextextended('"gate"."migrations"', 0))`,
	migrations_record: `INSERT INTO "gate"."migrations" (number, name) VALUES ($1::integer, $2::text) ON CONFLICT DO NOTHING`,
	outbox_add: `WITH messages AS MATERIALIZED (
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
  FROM messages LEFT JOIN added USING (id)`,
	outbox_next: `WITH own AS MATERIALIZED (
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
 ORDER BY leased.id`,
	outbox_settle: `WITH ends AS MATERIALIZED (
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
  LEFT JOIN ended ON ended.id = wanted.id`,
	outbox_show: `SELECT id::text, scope, message_key, topic, ordering_key, body, attempt, error,
       floor(extract(epoch FROM created_at) * 1000)::text AS created_ms
  FROM "gate"."outbox"
 WHERE state IN ('p', 'l') AND available_at <= (SELECT clock_timestamp())
   AND (scope = $1::text OR $1::text IS NULL AND starts_with(scope, 'test:') = $4::boolean)
   AND ($2::text IS NULL OR topic = $2::text)
 ORDER BY available_at, id
 LIMIT $3::integer`,
	patience: `SELECT set_config('lock_timeout', $1, true)`,
	recover: `WITH search AS MATERIALIZED (
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
 ORDER BY moved.first_seen_at`,
	reopen: `WITH orders AS MATERIALIZED (
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
       AND payload.event_id = reopened.event_id`,
	resolve: `WITH orders AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, fence bigint, state "char", wait json, result text,
	         reason text)
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before,
	       coalesce(claim.fence <> wanted.fence, false) AS fenced_out,
	       floor((wanted.wait->>'part')::float8 * least((wanted.wait->>'cap_ms')::float8,
	         (wanted.wait->>'base_ms')::float8 * 2 ^ least(claim.attempt - 1, 60))) AS wait_ms
	  FROM orders wanted
	  JOIN "gate"."claims" claim ON claim.scope = wanted.scope AND claim.provider = wanted.provider
	       AND claim.event_id = wanted.event_id
	 ORDER BY wanted.ord
	   FOR UPDATE OF claim
), resolved AS (
	UPDATE "gate"."claims" claim
	   SET state = locked.state,
	       lease_until = NULL,
	       next_attempt_at = CASE WHEN locked.state = 'f'
	         THEN clock_timestamp() + locked.wait_ms * interval '1 millisecond' END,
	       completed_at = CASE WHEN locked.state = 'c' THEN clock_timestamp() END,
	       result = CASE WHEN locked.state = 'c' THEN locked.result::json END,
	       error = locked.reason
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	   AND locked.state_before = 'u' AND NOT locked.fenced_out
	RETURNING claim.*, locked.ord
), thrown_away AS (
	DELETE FROM "gate"."payloads" payload
	 USING resolved
	 WHERE payload.scope = resolved.scope AND payload.provider = resolved.provider
	   AND payload.event_id = resolved.event_id AND resolved.state = 'c' AND NOT payload.keep
), newest AS (
	INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
	SELECT scope, subject_key, max(subject_version)
	  FROM resolved
	 WHERE state = 'c' AND subject_key IS NOT NULL
	 GROUP BY scope, subject_key
	 ORDER BY scope, subject_key
	ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version
), lowered AS (
	UPDATE "gate"."floor"
	   SET since = least(since, (SELECT min(first_seen_at) FROM resolved WHERE state = 'f')), lowered = lowered + 1
	 WHERE EXISTS (SELECT FROM resolved WHERE state = 'f')
)
SELECT wanted.ord,
       CASE
         WHEN resolved.ord IS NOT NULL THEN 'resolved'
         WHEN locked.ord IS NULL THEN 'not_found'
         WHEN locked.fenced_out THEN 'fenced_out'
         WHEN locked.state_before = wanted.state THEN 'already'
         ELSE 'not_uncertain'
       END AS verdict,
       coalesce(resolved.state, locked.state_before) AS state
  FROM orders wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN resolved ON resolved.ord = wanted.ord`,
	schema_create: `CREATE SCHEMA IF NOT EXISTS "gate"`,
	settle: `WITH ends AS MATERIALIZED (
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
       AND settled.event_id = wanted.event_id`,
	settle_full: `WITH ends AS MATERIALIZED (
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
       AND settled.event_id = wanted.event_id`,
} as const;

export const migrations = [
	{ number: 1, name: '0001_fence', sql: `CREATE SEQUENCE IF NOT EXISTS "gate"."fence" AS bigint CACHE 1` },
	{ number: 2, name: '0002_claims', sql: `CREATE TABLE IF NOT EXISTS "gate"."claims" (
	fence bigint NOT NULL DEFAULT nextval('"gate"."fence"'),
	first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	claimed_at timestamptz,
	lease_until timestamptz,
	next_attempt_at timestamptz,
	completed_at timestamptz,
	attempt smallint NOT NULL DEFAULT 1 CHECK (attempt > 0),
	state "char" NOT NULL CHECK (state IN ('p', 'f', 'u', 'c', 'd')),
	owner uuid NOT NULL,
	scope text COLLATE "C" NOT NULL CHECK (octet_length(scope) BETWEEN 1 AND 512),
	provider text COLLATE "C" NOT NULL CHECK (octet_length(provider) BETWEEN 1 AND 200),
	event_id text COLLATE "C" NOT NULL CHECK (octet_length(event_id) BETWEEN 1 AND 512),
	event_type text,
	body_digest bytea CHECK (octet_length(body_digest) = 32),
	execution_id text,
	error text,
	result json,
	PRIMARY KEY (scope, provider, event_id),
	CHECK ((lease_until IS NOT NULL) = (state = 'p')),
	CHECK ((next_attempt_at IS NOT NULL) = (state = 'f')),
	CHECK ((completed_at IS NOT NULL) = (state = 'c'))
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)` },
	{ number: 3, name: '0003_guards', sql: `CREATE TABLE IF NOT EXISTS "gate"."guards" (
	version bigint NOT NULL DEFAULT nextval('"gate"."fence"'),
	kind "char" NOT NULL CHECK (kind IN ('k', 'd')),
	scope text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	guard_key bytea NOT NULL CHECK (octet_length(guard_key) BETWEEN 1 AND 512),
	holder_provider text COLLATE "C" NOT NULL,
	holder_event_id text COLLATE "C" NOT NULL,
	PRIMARY KEY (scope, kind, provider, guard_key)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)` },
	{ number: 4, name: '0004_by_age', sql: `CREATE INDEX IF NOT EXISTS "gate_claims_by_age" ON "gate"."claims" USING brin (first_seen_at) WITH (autosummarize = on)` },
	{ number: 5, name: '0005_lifecycle', sql: `ALTER TABLE "gate"."claims"
	ADD COLUMN IF NOT EXISTS stage text,
	ADD COLUMN IF NOT EXISTS hold boolean,
	ADD COLUMN IF NOT EXISTS max_attempts smallint CHECK (max_attempts > 0),
	ADD COLUMN IF NOT EXISTS guards_lost boolean,
	ADD COLUMN IF NOT EXISTS subject_key text COLLATE "C" CHECK (octet_length(subject_key) BETWEEN 1 AND 512),
	ADD COLUMN IF NOT EXISTS subject_version numeric CHECK ((subject_version IS NULL) = (subject_key IS NULL))` },
	{ number: 6, name: '0006_payloads', sql: `CREATE TABLE IF NOT EXISTS "gate"."payloads" (
	scope text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	event_id text COLLATE "C" NOT NULL,
	keep boolean NOT NULL,
	headers text NOT NULL,
	body bytea NOT NULL,
	PRIMARY KEY (scope, provider, event_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)` },
	{ number: 7, name: '0007_subjects', sql: `CREATE TABLE IF NOT EXISTS "gate"."subjects" (
	scope text COLLATE "C" NOT NULL,
	subject_key text COLLATE "C" NOT NULL CHECK (octet_length(subject_key) BETWEEN 1 AND 512),
	version numeric NOT NULL,
	PRIMARY KEY (scope, subject_key)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)` },
	{ number: 8, name: '0008_floor', sql: `CREATE TABLE IF NOT EXISTS "gate"."floor" (since, lowered) AS SELECT '-infinity'::timestamptz, 0::bigint` },
	{ number: 9, name: '0009_outbox', sql: `CREATE SEQUENCE IF NOT EXISTS "gate"."outbox_id" AS bigint CACHE 1;
CREATE TABLE IF NOT EXISTS "gate"."outbox" (
	id bigint PRIMARY KEY DEFAULT nextval('"gate"."outbox_id"'),
	fence bigint,
	created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	available_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	lease_until timestamptz,
	sent_at timestamptz,
	owner uuid,
	attempt integer NOT NULL DEFAULT 0,
	state "char" NOT NULL DEFAULT 'p' CHECK (state IN ('p', 'l', 's', 'd')),
	scope text COLLATE "C" NOT NULL CHECK (octet_length(scope) BETWEEN 1 AND 512),
	message_key text COLLATE "C" NOT NULL CHECK (octet_length(message_key) BETWEEN 1 AND 512),
	topic text COLLATE "C" NOT NULL CHECK (octet_length(topic) BETWEEN 1 AND 200),
	ordering_key text COLLATE "C" CHECK (octet_length(ordering_key) BETWEEN 1 AND 512),
	body text NOT NULL CHECK (octet_length(body) <= 262144),
	error text,
	provider text COLLATE "C",
	event_id text COLLATE "C",
	CONSTRAINT "gate_outbox_key" UNIQUE (scope, message_key),
	CHECK ((lease_until IS NOT NULL) = (state = 'l')),
	CHECK ((sent_at IS NOT NULL) = (state = 's')),
	CHECK (state NOT IN ('l', 's') OR owner IS NOT NULL AND fence IS NOT NULL)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX IF NOT EXISTS "gate_outbox_due_of_topic" ON "gate"."outbox" (scope, topic, available_at, id)
	WHERE ordering_key IS NULL AND state IN ('p', 'l');
CREATE INDEX IF NOT EXISTS "gate_outbox_due" ON "gate"."outbox" (available_at, id)
	WHERE ordering_key IS NULL AND state IN ('p', 'l');
CREATE INDEX IF NOT EXISTS "gate_outbox_in_line" ON "gate"."outbox" (scope, topic, ordering_key, id)
	WHERE ordering_key IS NOT NULL AND state IN ('p', 'l', 'd');
CREATE INDEX IF NOT EXISTS "gate_outbox_of_owner" ON "gate"."outbox" (owner) WHERE state = 'l'` },
	{ number: 10, name: '0010_claim_function', sql: `CREATE OR REPLACE FUNCTION "gate"."claim"(
	scope text,
	provider text,
	event_id text,
	INOUT owner uuid DEFAULT pg_catalog.gen_random_uuid(),
	lease interval DEFAULT '15 minutes',
	max_attempts integer DEFAULT 5,
	unfinished text DEFAULT 'take_over',
	event_type text DEFAULT NULL,
	body_digest text DEFAULT NULL,
	changed_payload text DEFAULT 'duplicate',
	execution_id text DEFAULT NULL,
	OUT verdict text,
	OUT claimed boolean,
	OUT state text,
	OUT fence bigint,
	OUT attempt integer,
	OUT first_seen_at timestamptz,
	OUT lease_until timestamptz,
	OUT retry_after interval,
	OUT payload_changed boolean,
	OUT stage text,
	OUT result json
) LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $function$
#variable_conflict use_column
DECLARE
	on_claim CONSTANT boolean NOT NULL := coalesce(unfinished, '') = 'complete_on_claim';
	ask "gate"."claims"%ROWTYPE;
	known record;
	granted boolean;
	fault record;
BEGIN
	ask.scope := scope;
	ask.provider := provider;
	ask.event_id := event_id;
	ask.owner := owner;
	ask.event_type := left(event_type, 200);
	ask.execution_id := left(execution_id, 200);

	SELECT wrong.message, wrong.hint INTO fault
	  FROM (VALUES
	         (coalesce(octet_length(ask.scope), 0) NOT BETWEEN 1 AND 512, 'The scope has not 1 to 512 bytes',
	          'It says who consumes the event, for example ''billing''.'),
	         (coalesce(octet_length(ask.provider), 0) NOT BETWEEN 1 AND 200, 'The provider has not 1 to 200 bytes',
	          'It says who sent the event, for example ''stripe''.'),
	         (coalesce(octet_length(ask.event_id), 0) NOT BETWEEN 1 AND 512, 'The event_id has not 1 to 512 bytes',
	          'Pass the ID that the provider gave the event. Hash it where it is longer.'),
	         (ask.owner IS NULL, 'The owner is NULL', 'Leave it out, or pass a fresh UUID.'),
	         (NOT coalesce(lease > interval '0' AND lease <= interval '10 years', false),
	          'The lease is not between 0 and 10 years', 'Pass an interval, for example ''15 minutes''.'),
	         (coalesce(max_attempts, 0) NOT BETWEEN 1 AND 32767, 'The number of max_attempts is not 1 to 32767',
	          'Leave it out for 5.'),
	         (coalesce(unfinished, '') NOT IN ('take_over', 'hold', 'complete_on_claim'),
	          format('There is no policy %L for what is unfinished', unfinished),
	          'Choose take_over, hold or complete_on_claim.'),
	         (body_digest !~ '^sha256:[0-9a-f]{64}$', 'The body_digest has not the form sha256:<64 hex digits>',
	          'Pass ''sha256:'' || encode(sha256(body), ''hex''), or NULL.'),
	         (coalesce(changed_payload, '') NOT IN ('duplicate', 'reject'),
	          format('There is no policy %L for a changed payload', changed_payload), 'Choose duplicate or reject.')
	       ) AS wrong (is_so, message, hint)
	 WHERE wrong.is_so
	 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION '%', fault.message USING ERRCODE = 'invalid_parameter_value', HINT = fault.hint;
	END IF;
	ask.body_digest := decode(substr(body_digest, 8), 'hex');
	ask.hold := nullif(unfinished = 'hold', false);
	ask.max_attempts := nullif(max_attempts, 5);
	FOR turn IN 1..100 LOOP
		verdict := NULL;
		granted := false;
		SELECT claim.*, claim.xmin::text AS version INTO known
		  FROM "gate"."claims" claim
		 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id;
		IF NOT FOUND THEN
			INSERT INTO "gate"."claims" AS claim
			       (scope, provider, event_id, event_type, owner, body_digest, execution_id, hold, max_attempts, state,
			        first_seen_at, lease_until, completed_at)
			SELECT ask.scope, ask.provider, ask.event_id, ask.event_type, ask.owner, ask.body_digest, ask.execution_id,
			       ask.hold, ask.max_attempts, CASE WHEN on_claim THEN 'c' ELSE 'p' END, began.at,
			       CASE WHEN NOT on_claim THEN began.at + lease END, CASE WHEN on_claim THEN began.at END
			  FROM (SELECT clock_timestamp() AS at) began
			ON CONFLICT (scope, provider, event_id) DO NOTHING
			RETURNING claim.*, claim.xmin::text AS version INTO known;
			CONTINUE WHEN NOT FOUND;
			verdict := 'claimed';
			EXIT;
		END IF;

		verdict := CASE
			WHEN known.owner = ask.owner AND known.state = 'p' THEN 'reentrant'
			WHEN known.owner = ask.owner AND known.state = 'c' AND on_claim THEN 'reentrant'
			WHEN known.body_digest <> ask.body_digest AND changed_payload = 'reject' THEN 'payload_mismatch'
			WHEN known.state = 'c' THEN 'completed'
			WHEN known.state = 'd' THEN 'dead'
			WHEN known.state = 'u' THEN 'uncertain'
			WHEN known.lease_until > clock_timestamp() THEN 'in_progress'
			WHEN known.next_attempt_at > clock_timestamp() THEN 'backoff'
			WHEN known.state = 'p' AND (ask.hold OR known.hold) THEN 'held'
			WHEN known.attempt >= max_attempts THEN 'exhausted'
			WHEN known.state = 'f' THEN 'retried'
			ELSE 'taken_over'
		END;
		EXIT WHEN known.state = 'c' OR verdict NOT IN ('reentrant', 'retried', 'taken_over', 'held', 'exhausted');
		granted := verdict IN ('retried', 'taken_over');
		UPDATE "gate"."claims" claim
		   SET state = CASE
		         WHEN verdict = 'held' THEN 'u'
		         WHEN verdict = 'exhausted' THEN 'd'
		         WHEN granted AND on_claim THEN 'c'
		         ELSE 'p' END,
		       owner = CASE WHEN granted THEN ask.owner ELSE claim.owner END,
		       fence = CASE WHEN granted THEN nextval('"gate"."fence"') ELSE claim.fence END,
		       attempt = CASE WHEN granted THEN claim.attempt + 1 ELSE claim.attempt END,
		       claimed_at = CASE WHEN granted THEN clock_timestamp() ELSE claim.claimed_at END,
		       lease_until = CASE
		         WHEN verdict = 'reentrant' OR granted AND NOT on_claim THEN clock_timestamp() + lease END,
		       next_attempt_at = NULL,
		       completed_at = CASE WHEN granted AND on_claim THEN clock_timestamp() END,
		       hold = claim.hold OR granted AND ask.hold,
		       max_attempts = CASE WHEN granted THEN ask.max_attempts ELSE claim.max_attempts END,
		       execution_id = CASE WHEN granted THEN ask.execution_id ELSE claim.execution_id END
		 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id
		   AND claim.xmin::text = known.version
		RETURNING claim.*, claim.xmin::text AS version INTO known;
		EXIT WHEN FOUND;
	END LOOP;
	IF verdict IS NULL THEN
		RAISE EXCEPTION 'The record of this event kept changing' USING ERRCODE = 'serialization_failure',
			HINT = 'Nothing is known about the claim. Run the transaction again.';
	END IF;

	IF granted AND on_claim THEN
		DELETE FROM "gate"."payloads" payload
		 WHERE payload.scope = ask.scope AND payload.provider = ask.provider AND payload.event_id = ask.event_id
		   AND NOT payload.keep;
		INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
		SELECT ask.scope, known.subject_key, known.subject_version
		 WHERE known.subject_key IS NOT NULL
		ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version;
	END IF;

	claimed := verdict IN ('claimed', 'reentrant', 'retried', 'taken_over');
	state := CASE known.state WHEN 'p' THEN 'processing' WHEN 'f' THEN 'failed' WHEN 'u' THEN 'uncertain'
		WHEN 'c' THEN 'completed' ELSE 'dead' END;
	fence := CASE WHEN claimed THEN known.fence END;
	attempt := known.attempt;
	first_seen_at := known.first_seen_at;
	lease_until := known.lease_until;
	retry_after := CASE WHEN NOT claimed AND known.state IN ('p', 'f')
		THEN greatest(coalesce(known.lease_until, known.next_attempt_at) - clock_timestamp(), interval '0') END;
	payload_changed := coalesce(known.body_digest <> ask.body_digest, false);
	stage := known.stage;
	result := CASE WHEN NOT claimed THEN known.result END;
END
$function$` },
	{ number: 11, name: '0011_complete_function', sql: `CREATE OR REPLACE FUNCTION "gate"."complete"(
	scope text,
	provider text,
	event_id text,
	owner uuid,
	fence bigint,
	result json DEFAULT NULL,
	raise_if_fenced_out boolean DEFAULT true
) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $function$
#variable_conflict use_column
DECLARE
	ask "gate"."claims"%ROWTYPE;
	held record;
BEGIN
	ask.scope := scope;
	ask.provider := provider;
	ask.event_id := event_id;
	ask.owner := owner;
	ask.fence := fence;
	ask.result := result;
	IF ask.scope IS NULL OR ask.provider IS NULL OR ask.event_id IS NULL OR ask.owner IS NULL OR ask.fence IS NULL THEN
		RAISE EXCEPTION 'A part of the receipt is NULL' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Pass scope, provider, event_id, owner and fence of a claim that is yours: where claimed is false there is no fence.';
	END IF;
	IF octet_length(ask.result::text) > 262144 THEN
		RAISE EXCEPTION 'The result has % bytes, the limit is 262144', octet_length(ask.result::text)
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Store what duplicates need to know, for example an ID.';
	END IF;

	SELECT claim.state, claim.lease_until <= clock_timestamp() AS late, claim.subject_key, claim.subject_version INTO held
	  FROM "gate"."claims" claim
	 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id
	   AND claim.owner = ask.owner AND claim.fence = ask.fence
	   FOR UPDATE;
	IF held.state = 'c' THEN
		UPDATE "gate"."claims" claim
		   SET result = ask.result
		 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id
		   AND claim.result IS NULL AND ask.result IS NOT NULL;
		RETURN 'already';
	ELSIF held.state IS DISTINCT FROM 'p' THEN
		IF raise_if_fenced_out IS FALSE THEN
			RETURN 'fenced_out';
		END IF;
		RAISE EXCEPTION 'The event % of % is not this owner''s any more', quote_literal(ask.event_id), quote_literal(ask.provider)
			USING ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'Its lease was over and somebody took it over, or it has ended otherwise. Roll back: the work may be done elsewhere.';
	END IF;

	UPDATE "gate"."claims" claim
	   SET state = 'c', lease_until = NULL, completed_at = clock_timestamp(), result = ask.result, error = NULL
	 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id;
	DELETE FROM "gate"."payloads" payload
	 WHERE payload.scope = ask.scope AND payload.provider = ask.provider AND payload.event_id = ask.event_id
	   AND NOT payload.keep;
	INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
	SELECT ask.scope, held.subject_key, held.subject_version
	 WHERE held.subject_key IS NOT NULL
	ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version;
	RETURN CASE WHEN held.late THEN 'late' ELSE 'settled' END;
END
$function$` },
	{ number: 12, name: '0012_add_message_function', sql: `CREATE OR REPLACE FUNCTION "gate"."add_message"(
	scope text,
	message_key text,
	topic text,
	body json,
	ordering_key text DEFAULT NULL,
	delay interval DEFAULT '0',
	provider text DEFAULT NULL,
	event_id text DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $function$
#variable_conflict use_column
DECLARE
	message "gate"."outbox"%ROWTYPE;
	fault record;
BEGIN
	message.scope := scope;
	message.message_key := message_key;
	message.topic := topic;
	message.body := body;
	message.ordering_key := ordering_key;
	message.provider := provider;
	message.event_id := event_id;
	SELECT wrong.message, wrong.hint INTO fault
	  FROM (VALUES
	         (coalesce(octet_length(message.scope), 0) NOT BETWEEN 1 AND 512, 'The scope has not 1 to 512 bytes',
	          'It says who sends the message, for example ''billing''.'),
	         (coalesce(octet_length(message.message_key), 0) NOT BETWEEN 1 AND 512, 'The message_key has not 1 to 512 bytes',
	          'It tells messages of the scope apart. For the receiver it is the idempotency key.'),
	         (coalesce(octet_length(message.topic), 0) NOT BETWEEN 1 AND 200, 'The topic has not 1 to 200 bytes',
	          'It says what the message is about, for example ''mail''.'),
	         (octet_length(message.ordering_key) NOT BETWEEN 1 AND 512, 'The ordering_key has not 1 to 512 bytes',
	          'Pass NULL where the order does not matter.'),
	         (coalesce(octet_length(message.body), 0) NOT BETWEEN 1 AND 262144, 'The body has not 1 to 262144 bytes of JSON',
	          'Send what the receiver needs to know, for example an ID.'),
	         (NOT coalesce(delay >= interval '0' AND delay <= interval '10 years', false),
	          'The delay is not between 0 and 10 years', 'Leave it out for none.')
	       ) AS wrong (is_so, message, hint)
	 WHERE wrong.is_so
	 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION '%', fault.message USING ERRCODE = 'invalid_parameter_value', HINT = fault.hint;
	END IF;

	INSERT INTO "gate"."outbox" (scope, message_key, topic, ordering_key, body, available_at, provider, event_id)
	VALUES (message.scope, message.message_key, message.topic, message.ordering_key, message.body,
	        clock_timestamp() + delay, message.provider, message.event_id)
	ON CONFLICT (scope, message_key) DO NOTHING;
	RETURN FOUND;
END
$function$` },
	{ number: 13, name: '0013_dead_letters', sql: `CREATE TABLE IF NOT EXISTS "gate"."dead_letters" (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	fence bigint NOT NULL,
	scope text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	event_id text COLLATE "C" NOT NULL
);
INSERT INTO "gate"."dead_letters" (fence, scope, provider, event_id)
SELECT fence, scope, provider, event_id
  FROM "gate"."claims"
 WHERE state IN ('u', 'd') AND NOT EXISTS (SELECT FROM "gate"."dead_letters")
 ORDER BY first_seen_at;
CREATE OR REPLACE FUNCTION "gate"."write_dead_letter"() RETURNS trigger LANGUAGE plpgsql AS '
BEGIN
	INSERT INTO "gate"."dead_letters" (fence, scope, provider, event_id)
	VALUES (NEW.fence, NEW.scope, NEW.provider, NEW.event_id);
	RETURN NULL;
END';
DROP TRIGGER IF EXISTS "gate_dead_letter" ON "gate"."claims";
CREATE TRIGGER "gate_dead_letter" AFTER UPDATE OF state ON "gate"."claims" FOR EACH ROW
	WHEN (NEW.state IN ('u', 'd') AND OLD.state NOT IN ('u', 'd'))
	EXECUTE FUNCTION "gate"."write_dead_letter"()` },
] as const;
