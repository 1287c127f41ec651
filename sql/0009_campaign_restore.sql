-- What the doctor settled after the database had been taken back to an earlier time: who may have been sent a message in
-- the time whose records are lost is UNKNOWN, up to a position. Kept, so that it is done once and can be looked up.
CREATE TABLE campaign_restore (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  -- The records hold everything up to here, and nothing of the time until stopped_at.
  backup_at timestamptz NOT NULL,
  stopped_at timestamptz NOT NULL,
  -- The campaign may have been claimed up to this position in that time.
  up_to_position integer NOT NULL,
  recipients integer NOT NULL,
  settled_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (campaign_id, backup_at)
);
