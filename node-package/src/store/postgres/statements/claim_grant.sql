-- Does what claim_judge.sql and claim_guards.sql found possible, under the locks, and only to records and guards that are
-- still in the version those two saw. Answers a row for each claim that was moved or made; the others changed meanwhile
-- and have to be judged again. An event gets all its guards or nothing: see claim_fresh_guarded.sql for 22012. Guards that
-- are its own already get a new version too: somebody may be about to take them, having seen this event dead or deleted.
-- $1: asks as JSON, distinct and sorted; $2: how many; $3: lock timeout.
WITH asks AS MATERIALIZED (
	SELECT ask.*, clock_timestamp() AS now, ask.verdict IN ('claimed', 'retried', 'taken_over') AS granted
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS ask (
	         ord integer, scope text, provider text, event_id text, event_type text, owner uuid, body_digest text,
	         lease_ms bigint, on_claim boolean, execution_id text, guards json, verdict text, version text)
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
	SELECT wanted.*
	  FROM wanted
	  JOIN "gate"."guards" held ON held.scope = wanted.scope AND held.kind = wanted.kind
	       AND held.provider = wanted.guard_provider AND held.guard_key = wanted.guard_key
	       AND held.version = wanted.version
	 WHERE wanted.holding = 'open' AND (SELECT count(*) FROM guards_made) >= 0
	 ORDER BY held.scope, held.kind, held.provider, held.guard_key
	   FOR UPDATE OF held
), guards_taken AS (
	UPDATE "gate"."guards" held
	   SET holder_provider = locked.provider, holder_event_id = locked.event_id, version = nextval('"gate"."fence"')
	  FROM guards_locked locked
	 WHERE held.scope = locked.scope AND held.kind = locked.kind AND held.provider = locked.guard_provider
	   AND held.guard_key = locked.guard_key
	RETURNING held.scope, held.holder_provider AS provider, held.holder_event_id AS event_id
), won AS MATERIALIZED (
	SELECT scope, provider, event_id, count(*) AS guards_won
	  FROM (SELECT * FROM guards_made UNION ALL SELECT * FROM guards_taken) guard
	 GROUP BY scope, provider, event_id
), ready AS MATERIALIZED (
	SELECT ask.*, coalesce(won.guards_won, 0) AS guards_won
	  FROM asks ask LEFT JOIN won USING (scope, provider, event_id)
	 WHERE coalesce(won.guards_won, 0) = (SELECT count(*) FROM wanted WHERE wanted.ord = ask.ord)
), made AS (
	INSERT INTO "gate"."claims" AS claim
	       (scope, provider, event_id, event_type, owner, body_digest, execution_id, state, first_seen_at, lease_until,
        completed_at)
	SELECT scope, provider, event_id, event_type, owner, decode(body_digest, 'hex'), execution_id,
	       CASE WHEN on_claim THEN 'c' ELSE 'p' END, now,
	       CASE WHEN NOT on_claim THEN now + lease_ms * interval '1 millisecond' END,
	       CASE WHEN on_claim THEN now END
	  FROM ready
	 WHERE verdict = 'claimed'
	 ORDER BY ord
	ON CONFLICT (scope, provider, event_id) DO NOTHING
	RETURNING claim.*
), locked AS MATERIALIZED (
	SELECT ready.*
	  FROM ready
	  JOIN "gate"."claims" claim ON claim.scope = ready.scope AND claim.provider = ready.provider
	       AND claim.event_id = ready.event_id AND claim.xmin::text = ready.version
	 WHERE ready.verdict <> 'claimed' AND (SELECT count(*) FROM made) >= 0
	 ORDER BY ready.ord
	   FOR UPDATE OF claim
), moved AS (
	UPDATE "gate"."claims" claim
	   SET state = CASE
	         WHEN locked.verdict = 'held' THEN 'u'
	         WHEN locked.verdict = 'exhausted' THEN 'd'
	         WHEN locked.granted AND locked.on_claim THEN 'c'
	         ELSE 'p' END,
	       owner = CASE WHEN locked.granted THEN locked.owner ELSE claim.owner END,
	       fence = CASE WHEN locked.granted THEN nextval('"gate"."fence"') ELSE claim.fence END,
	       attempt = CASE WHEN locked.granted THEN claim.attempt + 1 ELSE claim.attempt END,
	       claimed_at = CASE WHEN locked.granted THEN clock_timestamp() ELSE claim.claimed_at END,
	       lease_until = CASE
	         WHEN locked.verdict = 'reentrant' OR locked.granted AND NOT locked.on_claim
	         THEN clock_timestamp() + locked.lease_ms * interval '1 millisecond' END,
	       next_attempt_at = NULL,
	       completed_at = CASE WHEN locked.granted AND locked.on_claim THEN clock_timestamp() END,
	       execution_id = CASE WHEN locked.granted THEN locked.execution_id ELSE claim.execution_id END
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	RETURNING claim.*
)
SELECT ask.ord, claim.fence::text, claim.state, claim.attempt, claim.stage, claim.execution_id,
       coalesce(claim.body_digest <> decode(ask.body_digest, 'hex'), false) AS payload_changed,
       floor(extract(epoch FROM claim.first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(claim.claimed_at, claim.first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM claim.lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM claim.completed_at) * 1000)::text AS completed_ms,
       1 / CASE WHEN claim.fence IS NULL AND won.guards_won > 0 THEN 0 ELSE 1 END AS whole
  FROM asks ask
  LEFT JOIN (SELECT * FROM made UNION ALL SELECT * FROM moved) claim USING (scope, provider, event_id)
  LEFT JOIN won USING (scope, provider, event_id)
