-- What became of a campaign minute by minute, counted where the rows of its recipients change: to read it from a million
-- recipients would take seconds. What was sent before this table is not in it.
CREATE TABLE campaign_minute (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  at timestamptz NOT NULL,
  accepted integer NOT NULL DEFAULT 0,
  delivered integer NOT NULL DEFAULT 0,
  read integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  PRIMARY KEY (campaign_id, at)
) WITH (fillfactor = 50);
