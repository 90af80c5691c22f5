-- Tables and views of some schemas, with their columns and keys, as one JSON text. Only the catalog is read, no row.
SELECT coalesce(json_agg(described ORDER BY described.schema, described.name), '[]')::text
FROM (
  SELECT n.nspname AS schema, c.relname AS name,
    coalesce(obj_description(c.oid, 'pg_class'), '') AS description,
    (SELECT coalesce(json_agg(json_build_object(
        'name', a.attname,
        'native', upper(CASE t.typtype
          WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END),
        'nullable', NOT a.attnotnull,
        'description', coalesce(col_description(c.oid, a.attnum), ''),
        'values', (SELECT coalesce(json_agg(e.enumlabel ORDER BY e.enumsortorder), '[]')
                   FROM pg_enum e WHERE e.enumtypid = a.atttypid)
      ) ORDER BY a.attnum), '[]')
     FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    (SELECT coalesce(json_agg(a.attname ORDER BY k.place), '[]')
     FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
     WHERE i.indrelid = c.oid AND i.indisprimary) AS primary_key,
    (SELECT coalesce(json_agg(json_build_object(
        'columns', (SELECT json_agg(a.attname ORDER BY k.place)
                    FROM unnest(f.conkey) WITH ORDINALITY AS k(attnum, place)
                    JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum),
        'schema', rn.nspname, 'table', r.relname,
        'references', (SELECT json_agg(a.attname ORDER BY k.place)
                       FROM unnest(f.confkey) WITH ORDINALITY AS k(attnum, place)
                       JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.attnum)
      ) ORDER BY f.conname), '[]')
     FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
     WHERE f.conrelid = c.oid AND f.contype = 'f') AS foreign_keys
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY($1::text[]) AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT c.relispartition
) AS described
