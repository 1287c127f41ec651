-- Notices about wallets: a balance that falls below the channel's threshold, and prices that are missing or old.

ALTER TABLE wallet
  -- Micro-units; NULL: no notice.
  ADD COLUMN low_balance_threshold bigint,
  -- When the available amount was found below the threshold; NULL while it is not.
  ADD COLUMN low_balance_since timestamptz;

-- What was last reported about the prices of a business account, so that it is reported once.
CREATE TABLE price_notice (
  business_account_id text PRIMARY KEY,
  -- Currency and first day of the card; without a day if there is no card.
  reported text NOT NULL
);

ALTER TABLE notice
  DROP CONSTRAINT notice_kind_check,
  ADD CONSTRAINT notice_kind_check CHECK (kind IN ('template_status', 'template_category', 'channel_blocked', 'channel_quality',
    'messaging_limit', 'webhook_disabled', 'campaign_paused', 'campaign_failed', 'unlisted_code', 'low_balance', 'price_card')) NOT VALID;
