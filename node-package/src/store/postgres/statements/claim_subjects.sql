-- Says of each ask whether a newer event for the same object has been completed: exactly one row per ask, from the
-- statement's snapshot, nothing written. That is final, since the newest version only grows.
-- $1: asks as JSON; $2: how many.
WITH asks AS MATERIALIZED (
	SELECT ask.*
	  FROM json_to_recordset($1::json) AS ask (ord integer, scope text, subject_key text, subject_version numeric)
	 LIMIT $2::integer
)
SELECT ask.ord, coalesce(newest.version > ask.subject_version, false) AS superseded,
       floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS now_ms
  FROM asks ask
  LEFT JOIN "gate"."subjects" newest ON newest.scope = ask.scope AND newest.subject_key = ask.subject_key
