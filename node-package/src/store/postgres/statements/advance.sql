-- Moves claims to a later stage, never back: exactly one row per step asked for. Judged under the row lock: an owner that
-- lost its claim, or ended it, changes nothing.
-- $1: steps as JSON, distinct and sorted; $2: how many; $3: lock timeout.
WITH steps AS MATERIALIZED (
	SELECT wanted.*
	  FROM (SELECT set_config('lock_timeout', $3, true)) patience,
	       json_to_recordset($1::json) AS wanted (
	         ord integer, scope text, provider text, event_id text, owner uuid, fence bigint, stage text, stages text[])
	 LIMIT $2::integer
), locked AS MATERIALIZED (
	SELECT wanted.*, claim.state AS state_before, claim.stage AS stage_before,
	       claim.state = 'p' AND claim.owner = wanted.owner AND claim.fence = wanted.fence AS owned,
	       CASE WHEN claim.stage IS NULL THEN 0 ELSE array_position(wanted.stages, claim.stage) END AS place_before,
	       array_position(wanted.stages, wanted.stage) AS place
	  FROM steps wanted
	  JOIN "gate"."claims" claim ON claim.scope = wanted.scope AND claim.provider = wanted.provider
	       AND claim.event_id = wanted.event_id
	 ORDER BY wanted.ord
	   FOR UPDATE OF claim
), advanced AS (
	UPDATE "gate"."claims" claim
	   SET stage = locked.stage
	  FROM locked
	 WHERE claim.scope = locked.scope AND claim.provider = locked.provider AND claim.event_id = locked.event_id
	   AND locked.owned AND locked.place_before < locked.place
	RETURNING locked.ord, claim.stage
)
SELECT wanted.ord, locked.state_before AS state, locked.stage_before,
       CASE
         WHEN advanced.ord IS NOT NULL THEN 'advanced'
         WHEN NOT coalesce(locked.owned, false) THEN 'fenced_out'
         WHEN locked.place_before IS NULL THEN 'unknown_stage'
         ELSE 'already_there'
       END AS verdict,
       coalesce(advanced.stage, locked.stage_before) AS stage
  FROM steps wanted
  LEFT JOIN locked ON locked.ord = wanted.ord
  LEFT JOIN advanced ON advanced.ord = wanted.ord
