-- The numbers of the migrations that have run.
SELECT number FROM "gate"."migrations"
