-- Makes the schema where it is missing.
CREATE SCHEMA IF NOT EXISTS "gate"
