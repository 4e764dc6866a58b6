-- Reads one record, for people and tests; never a basis for a claim.
SELECT state, event_type, attempt, replace(owner::text, '-', '') AS owner, fence::text, stage, execution_id, error, result::text AS result,
       encode(body_digest, 'hex') AS body_digest,
       floor(extract(epoch FROM first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(claimed_at, first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM next_attempt_at) * 1000)::text AS next_attempt_ms,
       floor(extract(epoch FROM completed_at) * 1000)::text AS completed_ms
  FROM "gate"."claims"
 WHERE scope = $1 AND provider = $2 AND event_id = $3
