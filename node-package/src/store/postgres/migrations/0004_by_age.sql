-- Retention and recovery walk the claims by age. Claims come in the order of their age, so a few bytes per thousand of
-- them are enough: a btree would cost 25 bytes and a page write per claim. Nothing in it ever changes, so completing a
-- claim stays a HOT update.
CREATE INDEX IF NOT EXISTS "gate_claims_by_age" ON "gate"."claims" USING brin (first_seen_at) WITH (autosummarize = on)
