-- Our figures next to the provider's: what was delivered on each day, and each night's differences.

-- Delivered messages by the day of their delivery in the time zone of the business account; written with the statuses. Days before
-- this release have none.
CREATE TABLE delivery_day (
  channel_id uuid NOT NULL,
  day date NOT NULL,
  category text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  is_free boolean NOT NULL,
  messages bigint NOT NULL,
  -- Micro-units.
  cost bigint NOT NULL,
  PRIMARY KEY (channel_id, day, category, country, is_free)
) WITH (fillfactor = 50);

-- One row for each line of a day that differs from the provider's, or for a day that was not compared; written by the nightly
-- comparison, which replaces the rows of a day that are not booked.
CREATE TABLE price_comparison (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL,
  channel_id uuid NOT NULL,
  day date NOT NULL,
  state text NOT NULL CHECK (state IN ('DIFFERENT', 'NOT_COMPARED')),
  category text,
  country text,
  pricing_type text CHECK (pricing_type IN ('REGULAR', 'FREE')),
  our_messages bigint,
  our_cost bigint,
  their_messages bigint,
  their_cost bigint,
  -- What we charged too much, or too little if it is negative, with the workspace's markup taken into account.
  difference bigint,
  cause text,
  details text,
  compared_at timestamptz NOT NULL DEFAULT now(),
  -- When an operator booked the difference.
  booked_at timestamptz,
  UNIQUE NULLS NOT DISTINCT (channel_id, day, category, country, pricing_type)
);
CREATE INDEX price_comparison_channel ON price_comparison (channel_id, id);

-- The day, in the account's time zone, on which the last comparison was made.
ALTER TABLE business_account ADD COLUMN compared_on date;

ALTER TABLE notice
  DROP CONSTRAINT notice_kind_check,
  ADD CONSTRAINT notice_kind_check CHECK (kind IN ('template_status', 'template_category', 'channel_blocked', 'channel_quality',
    'messaging_limit', 'webhook_disabled', 'campaign_paused', 'campaign_failed', 'unlisted_code', 'low_balance', 'price_card',
    'asks_to_stop', 'price_difference')) NOT VALID;
