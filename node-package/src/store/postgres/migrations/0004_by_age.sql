-- Retention and recovery walk the claims by age. Nothing in it ever changes, so completing a claim stays a HOT update.
CREATE INDEX IF NOT EXISTS "gate_claims_by_age" ON "gate"."claims" (first_seen_at)
