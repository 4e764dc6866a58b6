-- What a claim remembers between its making and its end. Every column is NULL for most claims, and a NULL takes no room.
ALTER TABLE "gate"."claims"
	-- How far an owner came, see advance.sql.
	ADD COLUMN IF NOT EXISTS stage text,
	-- Somebody who claimed it wants it held for a person once its lease is over.
	ADD COLUMN IF NOT EXISTS hold boolean,
	-- NULL: 5.
	ADD COLUMN IF NOT EXISTS max_attempts smallint CHECK (max_attempts > 0),
	-- While it was dead, another event took one of its guards.
	ADD COLUMN IF NOT EXISTS guards_lost boolean,
	-- What the event is about and how new it is, for `superseded`.
	ADD COLUMN IF NOT EXISTS subject_key text COLLATE "C" CHECK (octet_length(subject_key) BETWEEN 1 AND 512),
	ADD COLUMN IF NOT EXISTS subject_version numeric CHECK ((subject_version IS NULL) = (subject_key IS NULL))
