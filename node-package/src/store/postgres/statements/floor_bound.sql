-- How high the floor may be at most: an hour of room for a clock that is set back, and below the claims of transactions
-- that are not committed yet. Whoever writes claims has the table locked, which every role may see; where the role may not
-- see since when, the floor stays. Read before floor_raise.sql looks at the claims: a transaction is seen here or there.
SELECT least(
         clock_timestamp() - interval '1 hour',
         (SELECT min(coalesce(activity.xact_start, '-infinity'))
            FROM pg_locks held
            LEFT JOIN pg_stat_activity activity ON activity.pid = held.pid
           WHERE held.locktype = 'relation' AND held.relation = '"gate"."claims"'::regclass
             AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND held.mode = 'RowExclusiveLock' AND held.pid IS DISTINCT FROM pg_backend_pid())
       )::text AS bound
