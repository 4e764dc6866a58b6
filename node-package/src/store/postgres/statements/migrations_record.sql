-- Remembers a migration, in its own transaction.
INSERT INTO "gate"."migrations" (number, name) VALUES ($1::integer, $2::text) ON CONFLICT DO NOTHING
