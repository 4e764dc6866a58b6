-- What is there, from the catalogue only: needs no right on any table. $1: schema, $2: names of the relations.
SELECT pg_is_in_recovery() AS standby,
       current_user AS role,
       EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS schema_exists,
       (SELECT coalesce(json_object_agg(relation.relname, relation.facts), '{}')::text
          FROM (
            SELECT class.relname,
                   json_build_object(
                     'kind', class.relkind,
                     'persistence', class.relpersistence,
                     'usable', CASE class.relkind
                        WHEN 'S' THEN has_sequence_privilege(class.oid, 'USAGE')
                        ELSE has_table_privilege(class.oid, 'SELECT') END,
                     'writable', class.relkind = 'S' OR (
                        has_table_privilege(class.oid, 'INSERT') AND has_table_privilege(class.oid, 'UPDATE')),
                     'columns', (
                        SELECT json_agg(attname) FROM pg_attribute
                         WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped)
                   ) AS facts
              FROM pg_class class
              JOIN pg_namespace namespace ON namespace.oid = class.relnamespace
             WHERE namespace.nspname = $1 AND class.relname = ANY (string_to_array($2, ','))
          ) relation) AS relations
