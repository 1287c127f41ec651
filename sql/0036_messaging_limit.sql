-- Different people that an account has written to in 24 hours outside their service windows, where it has a limit: one row
-- per person and account, and how many there are by tens of minutes, so that a claim adds up 145 numbers and no people.
CREATE TABLE account_reach (
  business_account_id text COLLATE "C" NOT NULL,
  -- hashtextextended(the number, or of somebody without one the id of the contact, 0).
  person bigint NOT NULL,
  -- Ten minutes in which the person was last written to.
  at timestamptz NOT NULL,
  PRIMARY KEY (business_account_id, person)
) WITH (fillfactor = 70);

CREATE TABLE account_reach_count (
  business_account_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  people integer NOT NULL,
  PRIMARY KEY (business_account_id, at)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- When the person last wrote: a service window of 24 hours begins then.
ALTER TABLE conversation ADD COLUMN inbound_at timestamptz;

-- Marketing templates go by the provider's endpoint for them.
ALTER TABLE channel ADD COLUMN marketing_endpoint boolean NOT NULL DEFAULT false;
