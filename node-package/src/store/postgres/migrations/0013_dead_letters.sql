-- For those who tell people: a row for each time that an event became uncertain or dead, in the order in which they did.
-- A trigger writes it, since many statements lead there, those of applications among them. It costs the others nothing
-- but a look at two letters. A row says no more than that it happened; what became of the event since, its record knows.
CREATE TABLE IF NOT EXISTS "gate"."dead_letters" (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	fence bigint NOT NULL,
	scope text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	event_id text COLLATE "C" NOT NULL
);
-- Those of the time before this table.
INSERT INTO "gate"."dead_letters" (fence, scope, provider, event_id)
SELECT fence, scope, provider, event_id
  FROM "gate"."claims"
 WHERE state IN ('u', 'd') AND NOT EXISTS (SELECT FROM "gate"."dead_letters")
 ORDER BY first_seen_at;
CREATE OR REPLACE FUNCTION "gate"."write_dead_letter"() RETURNS trigger LANGUAGE plpgsql AS '
BEGIN
	INSERT INTO "gate"."dead_letters" (fence, scope, provider, event_id)
	VALUES (NEW.fence, NEW.scope, NEW.provider, NEW.event_id);
	RETURN NULL;
END';
DROP TRIGGER IF EXISTS "gate_dead_letter" ON "gate"."claims";
-- Not where a person says that an uncertain event is dead: he knows.
CREATE TRIGGER "gate_dead_letter" AFTER UPDATE OF state ON "gate"."claims" FOR EACH ROW
	WHEN (NEW.state IN ('u', 'd') AND OLD.state NOT IN ('u', 'd'))
	EXECUTE FUNCTION "gate"."write_dead_letter"()
