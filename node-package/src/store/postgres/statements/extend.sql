-- Begins leases anew: exactly one row per lease asked for. Judged under the row lock: an owner that lost its claim, or
-- ended it, changes nothing. A lease that is over begins again, as long as nobody has taken over.
-- $1: leases as JSON, distinct and sorted; $2: how many; $3: lock timeout.
WITH leases AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, owner uuid, fence bigint, lease_ms bigint)
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before,
	       claim.state = 'p' AND claim.owner = wanted.owner AND claim.fence = wanted.fence AS owned
	  FROM leases wanted
	  JOIN "gate"."claims" claim ON claim.scope = wanted.scope AND claim.provider = wanted.provider
	       AND claim.event_id = wanted.event_id
	 ORDER BY wanted.ord
	   FOR UPDATE OF claim
), extended AS (
	UPDATE "gate"."claims" claim
	   SET lease_until = clock_timestamp() + locked.lease_ms * interval '1 millisecond'
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	   AND locked.owned
	RETURNING locked.ord, claim.lease_until
)
SELECT wanted.ord, locked.state_before AS state,
       CASE WHEN extended.ord IS NOT NULL THEN 'extended' ELSE 'fenced_out' END AS verdict,
       floor(extract(epoch FROM extended.lease_until) * 1000)::text AS lease_ms
  FROM leases wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN extended ON extended.ord = wanted.ord
