-- Days of what is removed by age, made and dropped for the processes, which may not change the schema. While a table is a plain
-- one there is nothing to do.

CREATE FUNCTION first_id_of(day date) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex((extract(epoch FROM day) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Where the day begins in the key that the table is partitioned by, as a literal.
CREATE FUNCTION partition_bound(of text, day date) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE of WHEN 'provider_callback' THEN quote_literal(day || ' 00:00:00+00') ELSE quote_literal(public.first_id_of(day)) END;

-- Today and the week after it; how many were made. A lock that cannot be had soon is an error (55P03): nobody waits behind it
-- for longer.
CREATE FUNCTION make_partitions(of text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
  today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
  parent CONSTANT regclass := to_regclass('public.' || quote_ident(of));
  key CONSTANT text := CASE of WHEN 'provider_callback' THEN 'received_at' ELSE 'id' END;
  settings CONSTANT text := (
    SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = to_regclass('public.' || quote_ident(of || '_default')));
  stale text;
  day date;
  taken boolean;
  made int := 0;
BEGIN
  IF of NOT IN ('event', 'webhook_delivery', 'provider_callback') THEN
    RAISE EXCEPTION 'not partitioned by day: %', of;
  END IF;
  IF (SELECT relkind FROM pg_class WHERE oid = parent) <> 'p' THEN
    -- Of a partitioning that was begun and never finished: it would refuse rows from its day on.
    SELECT conname INTO stale FROM pg_constraint
      WHERE conrelid = parent AND conname LIKE of || '\_before\_%' AND to_date(right(conname, 8), 'YYYYMMDD') <= today + 2;
    IF stale IS NOT NULL THEN EXECUTE format('ALTER TABLE public.%I DROP CONSTRAINT %I', of, stale); END IF;
    RETURN 0;
  END IF;
  FOR day IN
    SELECT today + n FROM generate_series(0, 7) AS n
    WHERE to_regclass('public.' || quote_ident(of || to_char(today + n, '_YYYYMMDD'))) IS NULL AND NOT EXISTS (
      SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent = parent AND relname LIKE of || '\_before\_%' AND to_date(right(relname, 8), 'YYYYMMDD') > today + n)
  LOOP
    -- What came before its day was made stays where it is, and is removed row by row.
    EXECUTE format('SELECT EXISTS (SELECT FROM public.%I WHERE %2$I >= %3$s AND %2$I < %4$s)',
      of || '_default', key, public.partition_bound(of, day), public.partition_bound(of, day + 1)) INTO taken;
    CONTINUE WHEN taken;
    EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE) WITH (%s)',
      of || to_char(day, '_YYYYMMDD'), of, settings);
    -- Made apart and attached: the statements that run go on.
    EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%s) TO (%s)',
      of, of || to_char(day, '_YYYYMMDD'), public.partition_bound(of, day), public.partition_bound(of, day + 1));
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;

-- Statistics over all days: autovacuum looks at each day alone.
CREATE FUNCTION analyze_partitions(of text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
  IF of NOT IN ('event', 'webhook_delivery', 'provider_callback') THEN
    RAISE EXCEPTION 'not partitioned by day: %', of;
  END IF;
  EXECUTE format('ANALYZE ONLY public.%I', of);
END $$;

-- The earliest that is older than so many days and in which nothing is open; its name, or null. Locks as above.
CREATE FUNCTION drop_partition(of text, days int) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
  old text;
  is_open boolean;
BEGIN
  FOR old IN
    SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = to_regclass('public.' || quote_ident(of)) AND relname ~ '_\d{8}$'
      AND to_date(right(relname, 8), 'YYYYMMDD') + (relname !~ '_before_\d+$')::int
        <= (now() AT TIME ZONE 'UTC')::date - greatest(days, 1)
    ORDER BY right(relname, 8)
  LOOP
    EXECUTE format('SELECT EXISTS (' || CASE of
      WHEN 'event' THEN 'SELECT FROM public.%1$I WHERE fanned_out_at IS NULL'
      WHEN 'webhook_delivery' THEN
        'SELECT FROM public.%1$I WHERE state = ''pending'' AND dispatched_at IS NULL UNION ALL '
        'SELECT FROM public.%1$I WHERE state IN (''pending'', ''sending'') AND dispatched_at IS NOT NULL'
      WHEN 'provider_callback' THEN 'SELECT FROM public.waiting_callback JOIN public.%1$I USING (id)' END || ')', old) INTO is_open;
    IF NOT is_open THEN
      -- Holds up nobody but autovacuum, which gives way after a second.
      PERFORM set_config('lock_timeout', '5s', true);
      EXECUTE format('LOCK TABLE public.%I IN SHARE UPDATE EXCLUSIVE MODE', old);
      PERFORM set_config('lock_timeout', '200ms', true);
      EXECUTE format('DROP TABLE public.%I', old);
      RETURN old;
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

REVOKE EXECUTE ON FUNCTION make_partitions, analyze_partitions, drop_partition FROM PUBLIC;
