-- What a role needs that may not create tables.
GRANT USAGE ON SCHEMA "gate" TO "gate_role";
GRANT SELECT, INSERT, UPDATE, DELETE ON "gate"."claims", "gate"."guards", "gate"."payloads", "gate"."subjects", "gate"."floor",
	"gate"."outbox", "gate"."dead_letters" TO "gate_role";
GRANT SELECT ON "gate"."migrations" TO "gate_role";
GRANT USAGE ON SEQUENCE "gate"."fence", "gate"."outbox_id" TO "gate_role"
