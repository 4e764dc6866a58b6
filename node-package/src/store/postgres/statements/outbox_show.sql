-- Reads messages that are due, oldest first, and leaves them as they are: for a person who wants to see one.
-- $1: scope or NULL; $2: topic or NULL; $3: how many; $4: with no scope, whether those of tests are searched, or all others.
SELECT id::text, scope, message_key, topic, ordering_key, body, attempt, error,
       floor(extract(epoch FROM created_at) * 1000)::text AS created_ms
  FROM "gate"."outbox"
 WHERE state IN ('p', 'l') AND available_at <= (SELECT clock_timestamp())
   AND (scope = $1::text OR $1::text IS NULL AND starts_with(scope, 'test:') = $4::boolean)
   AND ($2::text IS NULL OR topic = $2::text)
 ORDER BY available_at, id
 LIMIT $3::integer
