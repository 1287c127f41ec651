-- Daily partitions of event, webhook_delivery and provider_callback, created ahead and dropped by age.
-- The application's role may not change the schema: it calls these functions of the owner.

-- The smallest uuidv7 of a UTC day.
CREATE FUNCTION first_id_of(day date) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex((extract(epoch FROM day) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Lower bound of the day's partition as an SQL literal: a time for provider_callback, an id for the other tables.
CREATE FUNCTION partition_bound(of text, day date) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE of WHEN 'provider_callback' THEN quote_literal(day || ' 00:00:00+00') ELSE quote_literal(public.first_id_of(day)) END;

-- Creates the missing partitions of today and of the next seven days; returns how many. Fails with 55P03 if it does not get the
-- lock within 200 ms, so that no other statement waits longer behind it.
CREATE FUNCTION make_partitions(of text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
  today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
  key CONSTANT text := CASE of WHEN 'provider_callback' THEN 'received_at' ELSE 'id' END;
  settings CONSTANT text := (
    SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = to_regclass('public.' || quote_ident(of || '_default')));
  day date;
  taken boolean;
  created int := 0;
BEGIN
  IF of NOT IN ('event', 'webhook_delivery', 'provider_callback') THEN
    RAISE EXCEPTION 'not partitioned by day: %', of;
  END IF;
  FOR day IN
    SELECT today + n FROM generate_series(0, 7) AS n
    WHERE to_regclass('public.' || quote_ident(of || to_char(today + n, '_YYYYMMDD'))) IS NULL
  LOOP
    -- A day with rows in the default partition gets no partition; its rows stay there and are deleted row by row.
    EXECUTE format('SELECT EXISTS (SELECT FROM public.%I WHERE %2$I >= %3$s AND %2$I < %4$s)',
      of || '_default', key, public.partition_bound(of, day), public.partition_bound(of, day + 1)) INTO taken;
    CONTINUE WHEN taken;
    EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE) WITH (%s)',
      of || to_char(day, '_YYYYMMDD'), of, settings);
    -- Attached in a second statement, because that needs a weaker lock on the parent: running statements go on.
    EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%s) TO (%s)',
      of, of || to_char(day, '_YYYYMMDD'), public.partition_bound(of, day), public.partition_bound(of, day + 1));
    created := created + 1;
  END LOOP;
  RETURN created;
END $$;

-- Updates the statistics of the whole table: autovacuum analyzes partitions, never their parent.
CREATE FUNCTION analyze_partitions(of text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
  IF of NOT IN ('event', 'webhook_delivery', 'provider_callback') THEN
    RAISE EXCEPTION 'not partitioned by day: %', of;
  END IF;
  EXECUTE format('ANALYZE ONLY public.%I', of);
END $$;

-- Drops the earliest partition that is older than the given number of days and has no open rows; returns its name, or NULL if
-- there is none. Fails with 55P03 like make_partitions.
CREATE FUNCTION drop_partition(of text, days int) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
  old text;
  is_open boolean;
BEGIN
  FOR old IN
    SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = to_regclass('public.' || quote_ident(of)) AND relname ~ '_\d{8}$'
      AND to_date(right(relname, 8), 'YYYYMMDD') + 1 <= (now() AT TIME ZONE 'UTC')::date - greatest(days, 1)
    ORDER BY right(relname, 8)
  LOOP
    EXECUTE format('SELECT EXISTS (' || CASE of
      WHEN 'event' THEN 'SELECT FROM public.%1$I WHERE fanned_out_at IS NULL'
      WHEN 'webhook_delivery' THEN
        'SELECT FROM public.%1$I WHERE state = ''pending'' AND dispatched_at IS NULL UNION ALL '
        'SELECT FROM public.%1$I WHERE state IN (''pending'', ''sending'') AND dispatched_at IS NOT NULL'
      WHEN 'provider_callback' THEN 'SELECT FROM public.waiting_callback JOIN public.%1$I USING (id)' END || ')', old) INTO is_open;
    IF NOT is_open THEN
      -- Waits for autovacuum, which Postgres cancels after a second (deadlock_timeout). No other statement conflicts with this
      -- lock, so none waits meanwhile.
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

-- The default partitions take rows whose day has no partition; their settings are those of every new partition.
CREATE TABLE provider_callback_default PARTITION OF provider_callback DEFAULT WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE TABLE event_default PARTITION OF event DEFAULT WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
CREATE TABLE webhook_delivery_default PARTITION OF webhook_delivery DEFAULT
  WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
SELECT make_partitions('provider_callback'), make_partitions('event'), make_partitions('webhook_delivery');
