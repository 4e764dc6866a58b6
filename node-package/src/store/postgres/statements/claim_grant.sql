-- Does what claim_judge.sql, claim_subjects.sql and claim_guards.sql found possible, under the locks, and only to records
-- and guards that are still in the version those saw. Answers a row for each claim that was moved or made; the others
-- changed meanwhile and have to be judged again. An event gets all its guards or nothing: see claim_fresh_guarded.sql for
-- 22012. Guards that are its own already get a new version too: somebody may be about to take them, having seen this event
-- dead or deleted. A dead event that loses a guard is marked, so that it is not reopened beside the new holder.
-- Locks: guards to be made, guards to be taken, then records in the order of their keys (the dead holders' among them),
-- and claims to be made come last. What comes with a claim: see claim_fresh_full.sql.
-- $1: asks as JSON, distinct and sorted; $2: how many; $3: lock timeout.
WITH asks AS MATERIALIZED (
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
	       -- Superseded, it is nobody's any more: whoever still is at it must not be told that he has completed it.
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
	-- The original stays, unless it is of a claim that is gone.
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
  LEFT JOIN won USING (scope, provider, event_id)
