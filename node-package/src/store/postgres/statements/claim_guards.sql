-- Looks who holds the guards of each ask: one row per guard, from the statement's snapshot, nothing written.
-- `rival`: another event's claim, not dead: a refusal, and final. `free`: no such guard. `open`: it is this event's own,
-- or its holder is dead or deleted; claim_grant.sql may take it if it is still in this version.
WITH asks AS MATERIALIZED (
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
 ORDER BY ask.ord, guard.ord
