-- Completes a claim from SQL, by the rules by which the store settles: judged under the row lock, with owner and fence. The
-- claim may have been made by the function beside this one or by a node, whose receipt was passed on. So the business rows,
-- the messages and the end of the event can be in one transaction.
-- Answers `settled`; `late` where the lease was over and nobody had taken over; `already` where this owner had completed it
-- before, which then gets the result if it had none. A claim that is no longer this owner's is an error (55000): the transaction must not go on, since somebody else
-- may do the same work. Who wants to see to it himself passes raise_if_fenced_out => false, is told `fenced_out`, and
-- nothing is changed.
CREATE OR REPLACE FUNCTION "gate"."complete"(
	scope text,
	provider text,
	event_id text,
	owner uuid,
	fence bigint,
	result json DEFAULT NULL,
	raise_if_fenced_out boolean DEFAULT true
) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $function$
#variable_conflict use_column
DECLARE
	ask "gate"."claims"%ROWTYPE;
	held record;
BEGIN
	ask.scope := scope;
	ask.provider := provider;
	ask.event_id := event_id;
	ask.owner := owner;
	ask.fence := fence;
	ask.result := result;
	IF ask.scope IS NULL OR ask.provider IS NULL OR ask.event_id IS NULL OR ask.owner IS NULL OR ask.fence IS NULL THEN
		RAISE EXCEPTION 'A part of the receipt is NULL' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Pass scope, provider, event_id, owner and fence of a claim that is yours: where claimed is false there is no fence.';
	END IF;
	IF octet_length(ask.result::text) > 262144 THEN
		RAISE EXCEPTION 'The result has % bytes, the limit is 262144', octet_length(ask.result::text)
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Store what duplicates need to know, for example an ID.';
	END IF;

	SELECT claim.state, claim.lease_until <= clock_timestamp() AS late, claim.subject_key, claim.subject_version INTO held
	  FROM "gate"."claims" claim
	 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id
	   AND claim.owner = ask.owner AND claim.fence = ask.fence
	   FOR UPDATE;
	IF held.state = 'c' THEN
		UPDATE "gate"."claims" claim
		   SET result = ask.result
		 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id
		   AND claim.result IS NULL AND ask.result IS NOT NULL;
		RETURN 'already';
	ELSIF held.state IS DISTINCT FROM 'p' THEN
		IF raise_if_fenced_out IS FALSE THEN
			RETURN 'fenced_out';
		END IF;
		RAISE EXCEPTION 'The event % of % is not this owner''s any more', quote_literal(ask.event_id), quote_literal(ask.provider)
			USING ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'Its lease was over and somebody took it over, or it has ended otherwise. Roll back: the work may be done elsewhere.';
	END IF;

	UPDATE "gate"."claims" claim
	   SET state = 'c', lease_until = NULL, completed_at = clock_timestamp(), result = ask.result, error = NULL
	 WHERE claim.scope = ask.scope AND claim.provider = ask.provider AND claim.event_id = ask.event_id;
	DELETE FROM "gate"."payloads" payload
	 WHERE payload.scope = ask.scope AND payload.provider = ask.provider AND payload.event_id = ask.event_id
	   AND NOT payload.keep;
	INSERT INTO "gate"."subjects" AS subject (scope, subject_key, version)
	SELECT ask.scope, held.subject_key, held.subject_version
	 WHERE held.subject_key IS NOT NULL
	ON CONFLICT (scope, subject_key) DO UPDATE SET version = excluded.version WHERE subject.version < excluded.version;
	RETURN CASE WHEN held.late THEN 'late' ELSE 'settled' END;
END
$function$
