-- Reads the letters after $1, and those of $2 (numbers as text, with commas) that were missing before, in the order of
-- their numbers. A number is drawn before the letter is committed, so one that is missing may come later. With the record
-- of the event, unless that has gone on since: then it is NULL. $3: how many.
SELECT letter.id::text AS letter_id, claim.scope, claim.provider, claim.event_id, claim.state, claim.event_type,
       claim.attempt, replace(claim.owner::text, '-', '') AS owner, claim.fence::text, claim.stage, claim.execution_id,
       claim.error, claim.result::text AS result, encode(claim.body_digest, 'hex') AS body_digest,
       floor(extract(epoch FROM claim.first_seen_at) * 1000)::text AS first_seen_ms,
       floor(extract(epoch FROM coalesce(claim.claimed_at, claim.first_seen_at)) * 1000)::text AS claimed_ms,
       floor(extract(epoch FROM claim.lease_until) * 1000)::text AS lease_ms,
       floor(extract(epoch FROM claim.next_attempt_at) * 1000)::text AS next_attempt_ms,
       floor(extract(epoch FROM claim.completed_at) * 1000)::text AS completed_ms,
       payload.headers, encode(payload.body, 'base64') AS body
  FROM (SELECT * FROM "gate"."dead_letters"
         WHERE id > $1::bigint OR id = ANY (string_to_array($2, ',')::bigint[])
         ORDER BY id
         LIMIT $3::integer) letter
  LEFT JOIN "gate"."claims" claim ON claim.scope = letter.scope AND claim.provider = letter.provider
       AND claim.event_id = letter.event_id AND claim.fence = letter.fence AND claim.state IN ('u', 'd')
  LEFT JOIN "gate"."payloads" payload ON payload.scope = claim.scope AND payload.provider = claim.provider
       AND payload.event_id = claim.event_id
 ORDER BY letter.id
