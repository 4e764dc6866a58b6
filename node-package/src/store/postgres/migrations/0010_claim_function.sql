-- Claims an event from SQL, by the rules by which the store claims, so that an application's procedure can claim and write
-- its business rows in one transaction: both are there after the commit, or neither. It runs with the caller's rights.
-- The claim is the caller's where `claimed` is true; then `owner` and `fence` are the receipt for completing it. Who wants
-- to learn what came of a claim whose answer was lost passes an owner of his own, and the same one again.
-- It waits for a rival's transaction that has claimed the same event, as long as lock_timeout allows. Under REPEATABLE READ
-- and SERIALIZABLE it never grants from an old snapshot: it fails with 40001 where a rival was faster, and the transaction
-- has to be run again.
CREATE OR REPLACE FUNCTION "gate"."claim"(
	scope text,
	provider text,
	event_id text,
	INOUT owner uuid DEFAULT pg_catalog.gen_random_uuid(),
	lease interval DEFAULT '15 minutes',
	max_attempts integer DEFAULT 5,
	unfinished text DEFAULT 'take_over',
	event_type text DEFAULT NULL,
	body_digest text DEFAULT NULL,
	changed_payload text DEFAULT 'duplicate',
	execution_id text DEFAULT NULL,
	OUT verdict text,
	OUT claimed boolean,
	OUT state text,
	OUT fence bigint,
	OUT attempt integer,
	OUT first_seen_at timestamptz,
	OUT lease_until timestamptz,
	OUT retry_after interval,
	OUT payload_changed boolean,
	OUT stage text,
	OUT result json
) LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $function$
-- The parameters bear the names of columns. In statements the columns are meant; `ask` holds the parameters.
#variable_conflict use_column
DECLARE
	on_claim CONSTANT boolean NOT NULL := coalesce(unfinished, '') = 'complete_on_claim';
	ask "gate"."claims"%ROWTYPE;
	known record;
	granted boolean;
	fault record;
BEGIN
	ask.scope := scope;
	ask.provider := provider;
	ask.event_id := event_id;
	ask.owner := owner;
	ask.event_type := left(event_type, 200);
	ask.execution_id := left(execution_id, 200);

	SELECT wrong.message, wrong.hint INTO fault
	  FROM (VALUES
	         (coalesce(octet_length(ask.scope), 0) NOT BETWEEN 1 AND 512, 'The scope has not 1 to 512 bytes',
	          'It says who consumes the event, for example ''billing''.'),
	         (coalesce(octet_length(ask.provider), 0) NOT BETWEEN 1 AND 200, 'The provider has not 1 to 200 bytes',
	          'It says who sent the event, for example ''stripe''.'),
	         (coalesce(octet_length(ask.event_id), 0) NOT BETWEEN 1 AND 512, 'The event_id has not 1 to 512 bytes',
	          'Pass the ID that the provider gave the event. Hash it where it is longer.'),
	         (ask.owner IS NULL, 'The owner is NULL', 'Leave it out, or pass a fresh UUID.'),
	         (NOT coalesce(lease > interval '0' AND lease <= interval '10 years', false),
	          'The lease is not between 0 and 10 years', 'Pass an interval, for example ''15 minutes''.'),
	         (coalesce(max_attempts, 0) NOT BETWEEN 1 AND 32767, 'The number of max_attempts is not 1 to 32767',
	          'Leave it out for 5.'),
	         (coalesce(unfinished, '') NOT IN ('take_over', 'hold', 'complete_on_claim'),
	          format('There is no policy %L for what is unfinished', unfinished),
	          'Choose take_over, hold or complete_on_claim.'),
	         (body_digest !~ '^sha256:[0-9a-f]{64}$', 'The body_digest has not the form sha256:<64 hex digits>',
	          'Pass ''sha256:'' || encode(sha256(body), ''hex''), or NULL.'),
	         (coalesce(changed_payload, '') NOT IN ('duplicate', 'reject'),
	          format('There is no policy %L for a changed payload', changed_payload), 'Choose duplicate or reject.')
	       ) AS wrong (is_so, message, hint)
	 WHERE wrong.is_so
	 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION '%', fault.message USING ERRCODE = 'invalid_parameter_value', HINT = fault.hint;
	END IF;
	ask.body_digest := decode(substr(body_digest, 8), 'hex');
	ask.hold := nullif(unfinished = 'hold', false);
	ask.max_attempts := nullif(max_attempts, 5);

	-- Each further round is caused by somebody else's commit.
	FOR turn IN 1..100 LOOP
		verdict := NULL;
		granted := false;
		SELECT claim.*, claim.xmin::text AS version INTO known
		  FROM "gate"."claims" claim
		 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id;
		IF NOT FOUND THEN
			INSERT INTO "gate"."claims" AS claim
			       (scope, provider, event_id, event_type, owner, body_digest, execution_id, hold, max_attempts, state,
			        first_seen_at, lease_until, completed_at)
			SELECT ask.scope, ask.provider, ask.event_id, ask.event_type, ask.owner, ask.body_digest, ask.execution_id,
			       ask.hold, ask.max_attempts, CASE WHEN on_claim THEN 'c' ELSE 'p' END, began.at,
			       CASE WHEN NOT on_claim THEN began.at + lease END, CASE WHEN on_claim THEN began.at END
			  FROM (SELECT clock_timestamp() AS at) began
			ON CONFLICT (scope, provider, event_id) DO NOTHING
			RETURNING claim.*, claim.xmin::text AS version INTO known;
			CONTINUE WHEN NOT FOUND;
			verdict := 'claimed';
			EXIT;
		END IF;

		verdict := CASE
			WHEN known.owner = ask.owner AND known.state = 'p' THEN 'reentrant'
			WHEN known.owner = ask.owner AND known.state = 'c' AND on_claim THEN 'reentrant'
			WHEN known.body_digest <> ask.body_digest AND changed_payload = 'reject' THEN 'payload_mismatch'
			WHEN known.state = 'c' THEN 'completed'
			WHEN known.state = 'd' THEN 'dead'
			WHEN known.state = 'u' THEN 'uncertain'
			WHEN known.lease_until > clock_timestamp() THEN 'in_progress'
			WHEN known.next_attempt_at > clock_timestamp() THEN 'backoff'
			WHEN known.state = 'p' AND (ask.hold OR known.hold) THEN 'held'
			WHEN known.attempt >= max_attempts THEN 'exhausted'
			WHEN known.state = 'f' THEN 'retried'
			ELSE 'taken_over'
		END;
		EXIT WHEN known.state = 'c' OR verdict NOT IN ('reentrant', 'retried', 'taken_over', 'held', 'exhausted');

		-- Only the version that was judged. This waits for whoever is changing it, and then finds another version.
		granted := verdict IN ('retried', 'taken_over');
		UPDATE "gate"."claims" claim
		   SET state = CASE
		         WHEN verdict = 'held' THEN 'u'
		         WHEN verdict = 'exhausted' THEN 'd'
		         WHEN granted AND on_claim THEN 'c'
		         ELSE 'p' END,
		       owner = CASE WHEN granted THEN ask.owner ELSE claim.owner END,
		       fence = CASE WHEN granted THEN nextval('"gate"."fence"') ELSE claim.fence END,
		       attempt = CASE WHEN granted THEN claim.attempt + 1 ELSE claim.attempt END,
		       claimed_at = CASE WHEN granted THEN clock_timestamp() ELSE claim.claimed_at END,
		       lease_until = CASE
		         WHEN verdict = 'reentrant' OR granted AND NOT on_claim THEN clock_timestamp() + lease END,
		       next_attempt_at = NULL,
		       completed_at = CASE WHEN granted AND on_claim THEN clock_timestamp() END,
		       hold = claim.hold OR granted AND ask.hold,
		       max_attempts = CASE WHEN granted THEN ask.max_attempts ELSE claim.max_attempts END,
		       execution_id = CASE WHEN granted THEN ask.execution_id ELSE claim.execution_id END
		 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id
		   AND claim.xmin::text = known.version
		RETURNING claim.*, claim.xmin::text AS version INTO known;
		EXIT WHEN FOUND;
	END LOOP;
	IF verdict IS NULL THEN
		RAISE EXCEPTION 'The record of this event kept changing' USING ERRCODE = 'serialization_failure',
			HINT = 'Nothing is known about the claim. Run the transaction again.';
	END IF;

	IF granted AND on_claim THEN
		-- An earlier owner may have saved the delivery, or said which version of which object it is about.
		DELETE FROM "gate"."payloads" payload
		 WHERE payload.scope = ask.scope AND payload.provider = ask.provider AND payload.event_id = ask.event_id
		   AND NOT payload.keep;
		INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
		SELECT ask.scope, known.subject_key, known.subject_version
		 WHERE known.subject_key IS NOT NULL
		ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version;
	END IF;

	claimed := verdict IN ('claimed', 'reentrant', 'retried', 'taken_over');
	state := CASE known.state WHEN 'p' THEN 'processing' WHEN 'f' THEN 'failed' WHEN 'u' THEN 'uncertain'
		WHEN 'c' THEN 'completed' ELSE 'dead' END;
	fence := CASE WHEN claimed THEN known.fence END;
	attempt := known.attempt;
	first_seen_at := known.first_seen_at;
	lease_until := known.lease_until;
	retry_after := CASE WHEN NOT claimed AND known.state IN ('p', 'f')
		THEN greatest(coalesce(known.lease_until, known.next_attempt_at) - clock_timestamp(), interval '0') END;
	payload_changed := coalesce(known.body_digest <> ask.body_digest, false);
	stage := known.stage;
	result := CASE WHEN NOT claimed THEN known.result END;
END
$function$
