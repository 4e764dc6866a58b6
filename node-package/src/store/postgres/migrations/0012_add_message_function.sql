-- Stores a message in the transaction of its caller: it is sent if and only if the transaction commits. The body is stored
-- as it was written. False where a message with this key is there already; it stays as it is.
CREATE OR REPLACE FUNCTION "gate"."add_message"(
	scope text,
	message_key text,
	topic text,
	body json,
	ordering_key text DEFAULT NULL,
	delay interval DEFAULT '0',
	provider text DEFAULT NULL,
	event_id text DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $function$
#variable_conflict use_column
DECLARE
	message "gate"."outbox"%ROWTYPE;
	fault record;
BEGIN
	message.scope := scope;
	message.message_key := message_key;
	message.topic := topic;
	message.body := body;
	message.ordering_key := ordering_key;
	message.provider := provider;
	message.event_id := event_id;
	SELECT wrong.message, wrong.hint INTO fault
	  FROM (VALUES
	         (coalesce(octet_length(message.scope), 0) NOT BETWEEN 1 AND 512, 'The scope has not 1 to 512 bytes',
	          'It says who sends the message, for example ''billing''.'),
	         (coalesce(octet_length(message.message_key), 0) NOT BETWEEN 1 AND 512, 'The message_key has not 1 to 512 bytes',
	          'It tells messages of the scope apart. For the receiver it is the idempotency key.'),
	         (coalesce(octet_length(message.topic), 0) NOT BETWEEN 1 AND 200, 'The topic has not 1 to 200 bytes',
	          'It says what the message is about, for example ''mail''.'),
	         (octet_length(message.ordering_key) NOT BETWEEN 1 AND 512, 'The ordering_key has not 1 to 512 bytes',
	          'Pass NULL where the order does not matter.'),
	         (coalesce(octet_length(message.body), 0) NOT BETWEEN 1 AND 262144, 'The body has not 1 to 262144 bytes of JSON',
	          'Send what the receiver needs to know, for example an ID.'),
	         (NOT coalesce(delay >= interval '0' AND delay <= interval '10 years', false),
	          'The delay is not between 0 and 10 years', 'Leave it out for none.')
	       ) AS wrong (is_so, message, hint)
	 WHERE wrong.is_so
	 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION '%', fault.message USING ERRCODE = 'invalid_parameter_value', HINT = fault.hint;
	END IF;

	INSERT INTO "gate"."outbox" (scope, message_key, topic, ordering_key, body, available_at, provider, event_id)
	VALUES (message.scope, message.message_key, message.topic, message.ordering_key, message.body,
	        clock_timestamp() + delay, message.provider, message.event_id)
	ON CONFLICT (scope, message_key) DO NOTHING;
	RETURN FOUND;
END
$function$
