-- Shape A, for comparison: one statement for everything. Refuses from the snapshot, else ON CONFLICT DO UPDATE, which
-- judges again under the row lock. Needs the column `last_verdict` to tell the two apart, and a rival's loser writes.
-- $1: asks as JSON; $2: how many; $3: lock timeout.
WITH asks AS MATERIALIZED (
	SELECT ask.*, clock_timestamp() AS now
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS ask (
	         ord integer, scope text, provider text, event_id text, event_type text, owner uuid, body_digest text,
	         lease_ms bigint, max_attempts integer, on_claim boolean, on_hold boolean, reject_changed boolean, execution_id text)
	 LIMIT $2::integer
), seen AS MATERIALIZED (
	SELECT * FROM (
		SELECT ask.ord, claim.*, CASE
		         WHEN claim.owner = ask.owner AND claim.state = 'p' THEN NULL
		         WHEN claim.body_digest <> decode(ask.body_digest, 'hex') AND ask.reject_changed THEN 'payload_mismatch'
		         WHEN claim.state = 'c' THEN 'completed'
		         WHEN claim.state = 'd' THEN 'dead'
		         WHEN claim.state = 'u' THEN 'uncertain'
		         WHEN claim.lease_until > ask.now THEN 'in_progress'
		         WHEN claim.next_attempt_at > ask.now THEN 'backoff'
		       END AS verdict
		  FROM asks ask
		  JOIN "gate"."claims" claim ON claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id
	) judged WHERE verdict IS NOT NULL
), upserted AS (
	INSERT INTO "gate"."claims" AS claim
	       (scope, provider, event_id, event_type, owner, body_digest, execution_id, state, first_seen_at, lease_until,
	        last_verdict)
	SELECT ask.scope, ask.provider, ask.event_id, ask.event_type, ask.owner, decode(ask.body_digest, 'hex'), ask.execution_id,
	       'p', ask.now, ask.now + ask.lease_ms * interval '1 millisecond', 'claimed'
	  FROM asks ask
	 WHERE NOT EXISTS (SELECT FROM seen WHERE seen.ord = ask.ord)
	 ORDER BY ask.ord
	ON CONFLICT (scope, provider, event_id) DO UPDATE
	   SET (state, owner, fence, attempt, lease_until, next_attempt_at, last_verdict) = (
	         SELECT CASE WHEN judged.verdict IN ('retried', 'taken_over') THEN 'p'
	                     WHEN judged.verdict = 'exhausted' THEN 'd' ELSE claim.state END,
	                CASE WHEN judged.verdict IN ('retried', 'taken_over') THEN excluded.owner ELSE claim.owner END,
	                CASE WHEN judged.verdict IN ('retried', 'taken_over') THEN nextval('"gate"."fence"') ELSE claim.fence END,
	                claim.attempt + (judged.verdict IN ('retried', 'taken_over'))::integer,
	                CASE WHEN judged.verdict IN ('retried', 'taken_over', 'reentrant') THEN excluded.lease_until
	                     WHEN judged.verdict = 'exhausted' THEN NULL ELSE claim.lease_until END,
	                CASE WHEN judged.verdict IN ('retried', 'exhausted') THEN NULL ELSE claim.next_attempt_at END,
	                judged.verdict
	           FROM (SELECT CASE
	                   WHEN claim.owner = excluded.owner AND claim.state = 'p' THEN 'reentrant'
	                   WHEN claim.state = 'c' THEN 'completed'
	                   WHEN claim.state = 'd' THEN 'dead'
	                   WHEN claim.state = 'u' THEN 'uncertain'
	                   WHEN claim.lease_until > clock_timestamp() THEN 'in_progress'
	                   WHEN claim.next_attempt_at > clock_timestamp() THEN 'backoff'
	                   WHEN claim.attempt >= 5 THEN 'exhausted'
	                   WHEN claim.state = 'f' THEN 'retried'
	                   ELSE 'taken_over' END AS verdict) judged)
	RETURNING claim.*
)
SELECT ask.ord, coalesce(seen.verdict, upserted.last_verdict) AS verdict,
       coalesce(seen.state, upserted.state) AS state, upserted.fence::text,
       coalesce(seen.attempt, upserted.attempt) AS attempt, coalesce(seen.execution_id, upserted.execution_id) AS execution_id,
       coalesce(seen.result, upserted.result)::text AS result,
       floor(extract(epoch FROM coalesce(seen.first_seen_at, upserted.first_seen_at)) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(seen.lease_until, upserted.lease_until)) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM coalesce(seen.completed_at, upserted.completed_at)) * 1000)::text AS completed_ms
  FROM asks ask
  LEFT JOIN seen ON seen.ord = ask.ord
  LEFT JOIN upserted ON upserted.scope = ask.scope AND upserted.provider = ask.provider AND upserted.event_id = ask.event_id
