-- Recipients of campaigns, and the claims under which they are sent to.

-- One row per person of an audience, skipped ones included; written by the preparation, then by claims, recorded outcomes
-- and status callbacks. id is also the message id that travels to the provider.
CREATE TABLE recipient (
  campaign_id uuid NOT NULL,
  -- Order of sending, from 1, without gaps over the campaign's rows.
  position integer NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  contact_id uuid,
  -- E.164 digits; NULL when the input was no phone number.
  phone_number text COLLATE "C",
  country text COLLATE "C" NOT NULL DEFAULT '',
  -- False for skipped rows.
  sendable boolean NOT NULL,
  state text NOT NULL CHECK (state IN
    ('PENDING', 'CLAIMED', 'ACCEPTED', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'UNKNOWN', 'SKIPPED', 'CANCELLED')),
  reason text,
  reason_detail text,
  line_number integer,
  -- Values of the template slots that differ from recipient to recipient.
  variables text[],
  attempts smallint NOT NULL DEFAULT 0,
  -- The open claim; NULL again once the outcome is recorded, so that recording it twice changes nothing.
  claim_id uuid,
  -- Micro-units reserved at the claim, then charged.
  price bigint NOT NULL DEFAULT 0,
  settlement text NOT NULL DEFAULT 'none' CHECK (settlement IN ('none', 'reserved', 'charged', 'refunded')),
  provider_message_id text COLLATE "C",
  -- Bit set of provider statuses already recorded: 1 sent, 2 delivered, 4 read, 8 failed.
  statuses_seen smallint NOT NULL DEFAULT 0,
  accepted_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (campaign_id, position),
  CONSTRAINT recipient_price_not_negative CHECK (price >= 0),
  CONSTRAINT recipient_sendable_unless_skipped CHECK (sendable = (state <> 'SKIPPED'))
-- 45 %: a page has room for a second version of each of its rows, so that a claim's updates stay heap-only (HOT).
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.5,
  autovacuum_vacuum_cost_delay = 1);
-- ANALYZE is to report a thousand recipients for each campaign. The reason stands beside contact (0003).
ALTER TABLE recipient ALTER COLUMN campaign_id SET (n_distinct = -0.001);
CREATE UNIQUE INDEX recipient_id ON recipient (id);
CREATE UNIQUE INDEX recipient_phone_number ON recipient (campaign_id, phone_number) WHERE sendable;
CREATE INDEX recipient_skipped_number ON recipient (campaign_id, phone_number) WHERE NOT sendable;
CREATE INDEX recipient_reason ON recipient (campaign_id, position) WHERE reason IS NOT NULL;
-- These two indexes find the recipients of one contact, for an export or an erasure.
CREATE INDEX recipient_skipped_contact ON recipient (contact_id) WHERE NOT sendable AND contact_id IS NOT NULL;
CREATE INDEX recipient_without_number ON recipient (contact_id)
  WHERE sendable AND phone_number IS NULL AND contact_id IS NOT NULL;

-- Replaces a foreign key to campaign, whose check of every row was a third of the time of a bulk load: checks once per statement.
-- Locks the campaign's row as a foreign key would, so that it cannot be deleted before the recipients are committed.
CREATE FUNCTION require_recipient_campaign() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wanted uuid;
BEGIN
  FOR wanted IN SELECT DISTINCT campaign_id FROM inserted LOOP
    PERFORM FROM campaign WHERE id = wanted FOR KEY SHARE;
    IF NOT FOUND THEN
      RAISE foreign_key_violation USING MESSAGE = 'A recipient must belong to a campaign', TABLE = 'recipient',
        CONSTRAINT = 'recipient_campaign';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER recipient_campaign AFTER INSERT ON recipient REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION require_recipient_campaign();
CREATE TRIGGER recipient_campaign_stays BEFORE UPDATE OF campaign_id ON recipient
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('a recipient stays in its campaign');

CREATE FUNCTION delete_campaign_recipients() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM recipient USING deleted WHERE recipient.campaign_id = deleted.id;
  RETURN NULL;
END $$;
CREATE TRIGGER campaign_recipients AFTER DELETE ON campaign REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION delete_campaign_recipients();

-- Recipients that went back to PENDING behind claimed_position; written when outcomes are recorded, deleted by the next claim.
CREATE TABLE recipient_retry (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  position integer NOT NULL,
  not_before timestamptz NOT NULL,
  PRIMARY KEY (campaign_id, position)
);
CREATE INDEX recipient_retry_due ON recipient_retry (campaign_id, not_before);

-- An open claim: a batch whose outcomes are not all recorded; written by the claim, deleted with the last recorded outcome.
-- A claim that outlives the grace period belongs to a process that died, and its recipients become UNKNOWN.
CREATE TABLE campaign_claim (
  id uuid PRIMARY KEY,
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  -- The campaign's epoch under which the batch was claimed.
  epoch integer NOT NULL,
  -- Recipients whose outcome is not recorded yet.
  open integer NOT NULL CHECK (open > 0),
  -- The batch lies between these positions.
  first_position integer NOT NULL,
  last_position integer NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX campaign_claim_campaign ON campaign_claim (campaign_id, claimed_at);

-- Finds the recipient of a status callback that does not carry our id; written when an acceptance is recorded.
-- A table of its own: an index on a column of recipient that an update changes would make the update write all indexes.
CREATE TABLE provider_message (
  -- hashtextextended(provider_message_id, 0)
  hash bigint NOT NULL,
  recipient_id uuid NOT NULL,
  -- First in the index, so that retention, which removes whole days, deletes neighbouring entries.
  day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date
);
CREATE INDEX provider_message_day ON provider_message (day, hash);
