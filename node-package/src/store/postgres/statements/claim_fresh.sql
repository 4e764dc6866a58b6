-- Claims the keys that nobody has, in one round trip; most deliveries end here. Answers a row for each claim made and
-- none for the others: those are known, or a rival was committing meanwhile, and claim_judge.sql says which.
-- Waits for a rival that has not committed yet and wins if that rolls back. Writes nothing for a key that is known: it is
-- not even tried, since that would use up a fence.
-- $1: asks as JSON, distinct and sorted (two statements never wait for each other); $2: how many, for the planner, who
-- would read the whole of a small table for the hundred rows it expects of JSON; $3: lock timeout.
WITH asks AS MATERIALIZED (
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
       floor(extract(epoch FROM completed_at) * 1000)::text AS completed_ms
