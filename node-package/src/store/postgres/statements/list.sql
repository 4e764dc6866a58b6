-- Reads records by what is known of them, newest first, for people and tests; never a basis for a claim. A condition whose
-- parameter is NULL holds for all. $8: only those that may be unfinished by the floor (0008), see recover.sql for the form.
SELECT scope, provider, event_id, state, event_type, attempt, replace(owner::text, '-', '') AS owner, fence::text, stage,
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
 LIMIT $9::bigint
