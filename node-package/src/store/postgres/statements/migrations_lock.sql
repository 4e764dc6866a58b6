-- Lets one process at a time migrate these tables. Ends with the transaction, so it works behind any pooler.
SELECT pg_advisory_xact_lock(hashtextextended('"gate"."migrations"', 0))
