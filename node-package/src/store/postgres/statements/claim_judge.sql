-- Says what each key's record means for its ask, from the statement's snapshot: exactly one row per ask, nothing written.
-- A refusal is final. The other verdicts are only what claim_grant.sql may do, if the record is still in this version:
-- a grant is never decided here. `claimed` here means that no record exists.
WITH asks AS MATERIALIZED (
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
         -- Before the attempts are looked at: what the interrupted one did, only a person can say.
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
    ON claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id
