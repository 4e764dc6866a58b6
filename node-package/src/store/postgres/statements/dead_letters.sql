-- Reads the letters after $1, and those of $2 (numbers as text, with commas) that were missing before, in the order of
-- their numbers. A number is drawn before the letter is committed, so one that is missing may come later. With the record
-- of the event, unless that has gone on since: then it is NULL. $3: how many at most; fewer where their saved deliveries
-- are more than 16 MB, but one in any case.
WITH letters AS (
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
 ORDER BY letter.letter_id
