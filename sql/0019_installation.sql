-- What this database works with, written at the first start and compared at every later one: a copy of the database that was
-- started elsewhere would send every message a second time.
CREATE TABLE installation (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- The id that Temporal gave the namespace, and the name it had.
  temporal_namespace_id text,
  temporal_namespace text,
  -- System identifier of the Postgres server and oid of the database. A physical backup and a standby have the same.
  postgres_id text,
  -- Id of the folder of uploaded files, which is kept in the folder as well. NULL while files are kept in a bucket.
  files_id uuid
);
INSERT INTO installation DEFAULT VALUES;

-- failing: a step of its workflow fails again and again.
ALTER TABLE campaign_standstill DROP CONSTRAINT campaign_standstill_kind_check,
  ADD CONSTRAINT campaign_standstill_kind_check CHECK (kind IN
    ('due', 'running', 'waiting', 'preparing', 'without_workflow', 'stuck', 'queued', 'failing')) NOT VALID;
-- The table holds a row per campaign that does not move.
ALTER TABLE campaign_standstill VALIDATE CONSTRAINT campaign_standstill_kind_check;
