-- Reads what was saved with one claim. Nothing that was left behind by a claim that is gone.
SELECT payload.headers, encode(payload.body, 'base64') AS body
  FROM "gate"."payloads" payload
  JOIN "gate"."claims" claim USING (scope, provider, event_id)
 WHERE payload.scope = $1 AND payload.provider = $2 AND payload.event_id = $3
