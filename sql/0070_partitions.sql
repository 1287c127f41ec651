-- no-transaction deferred
-- Events, deliveries and callbacks by day. Nothing is copied: the table of before becomes the partition of all days up to a week
-- from now, which retention empties as before. Each step ends in a transaction of its own, is left out where it was done, and
-- holds others up for as long as it waits for its lock itself; stopped anywhere, it is run again. make_partitions takes
-- the check away that a run of a week ago has left.

-- Rows of that week and before it.
DO $$
DECLARE
  of text;
  present text;
BEGIN
  FOREACH of IN ARRAY ARRAY['event', 'webhook_delivery', 'provider_callback'] LOOP
    CONTINUE WHEN (SELECT relkind FROM pg_class WHERE oid = of::regclass) = 'p';
    SELECT conname INTO present FROM pg_constraint WHERE conrelid = of::regclass AND conname LIKE of || '\_before\_%';
    CONTINUE WHEN to_date(right(present, 8), 'YYYYMMDD') > current_date + 3;
    -- Holds up nobody but autovacuum, which gives way after a second.
    PERFORM set_config('lock_timeout', '5s', true);
    EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', of);
    PERFORM set_config('lock_timeout', '500ms', true);
    IF present IS NOT NULL THEN EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', of, present); END IF;
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I < %s) NOT VALID',
      of, of || to_char((now() AT TIME ZONE 'UTC')::date + 7, '"_before_"YYYYMMDD'),
      CASE of WHEN 'provider_callback' THEN 'received_at' ELSE 'id' END,
      partition_bound(of, (now() AT TIME ZONE 'UTC')::date + 7));
    COMMIT;
  END LOOP;
END $$;

-- Reads them all, and holds nobody up.
DO $$
DECLARE
  of text;
  unchecked text;
BEGIN
  FOREACH of IN ARRAY ARRAY['event', 'webhook_delivery', 'provider_callback'] LOOP
    SELECT conname INTO unchecked FROM pg_constraint
      WHERE conrelid = of::regclass AND conname LIKE of || '\_before\_%' AND NOT convalidated;
    CONTINUE WHEN unchecked IS NULL;
    EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT %I', of, unchecked);
    COMMIT;
  END LOOP;
END $$;

-- The table gives its name, its indexes and the rights to it to one without rows, and becomes its first partition.
DO $$
DECLARE
  of text;
  bound text;
  before text;
  key text;
  day date;
  is_empty boolean;
  next_id bigint;
  settings text;
  definitions text[];
  names text[];
  rights record;
  one text;
BEGIN
  FOREACH of IN ARRAY ARRAY['event', 'webhook_delivery', 'provider_callback'] LOOP
    CONTINUE WHEN (SELECT relkind FROM pg_class WHERE oid = of::regclass) = 'p';
    PERFORM set_config('lock_timeout', '5s', true);
    EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', of);
    PERFORM set_config('lock_timeout', '500ms', true);
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', of);
    key := CASE of WHEN 'provider_callback' THEN 'received_at' ELSE 'id' END;
    SELECT conname INTO STRICT bound FROM pg_constraint
      WHERE conrelid = of::regclass AND conname LIKE of || '\_before\_%' AND convalidated;
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I)', of) INTO is_empty;
    day := CASE WHEN is_empty THEN (now() AT TIME ZONE 'UTC')::date ELSE to_date(right(bound, 8), 'YYYYMMDD') END;
    before := of || to_char(day, '"_before_"YYYYMMDD');
    settings := (SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = of::regclass);

    -- Nothing reads these, or they cannot be: an index without the key of the partitions is not unique.
    CASE of
      WHEN 'event' THEN DROP INDEX event_occurred_at;
      WHEN 'webhook_delivery' THEN DROP INDEX webhook_delivery_once, webhook_delivery_again;
      WHEN 'provider_callback' THEN
        DROP INDEX provider_callback_waiting;
        next_id := coalesce(pg_sequence_last_value(pg_get_serial_sequence(of, 'id')::regclass), 0) + 1;
        ALTER TABLE provider_callback ALTER COLUMN id DROP IDENTITY;
        ALTER TABLE provider_callback DROP CONSTRAINT provider_callback_pkey;
        ALTER TABLE provider_callback ADD CONSTRAINT provider_callback_pkey PRIMARY KEY USING INDEX provider_callback_key;
    END CASE;
    SELECT array_agg(pg_get_indexdef(indexrelid)) FILTER (WHERE NOT indisprimary), array_agg(relname::text)
      INTO definitions, names FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = of::regclass;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', of, before);
    FOREACH one IN ARRAY names LOOP
      EXECUTE format('ALTER INDEX %I RENAME TO %I', one, before || substr(one, length(of) + 1));
    END LOOP;

    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (%I)',
      of, before, key);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', of, bound);
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY (%s)', of, of || '_pkey',
      CASE key WHEN 'id' THEN 'id' ELSE 'id, received_at' END);
    FOREACH one IN ARRAY definitions LOOP EXECUTE one; END LOOP;
    IF next_id IS NOT NULL THEN
      EXECUTE format('ALTER TABLE provider_callback ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (START WITH %s)', next_id);
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%s)', of, before, partition_bound(of, day));
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', before, bound);
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT WITH (%s)', of || '_default', of, settings);
    FOR rights IN
      SELECT privilege_type, grantee::regrole AS grantee
      FROM pg_class CROSS JOIN aclexplode(relacl) WHERE oid = before::regclass AND grantee NOT IN (0, relowner)
    LOOP
      EXECUTE format('GRANT %s ON %I TO %s', rights.privilege_type, of, rights.grantee);
    END LOOP;
    PERFORM make_partitions(of);
    COMMIT;
  END LOOP;
END $$;
