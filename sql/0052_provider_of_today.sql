-- What the provider says of portfolios, numbers and templates, and campaigns whose price has risen.

-- The portfolio that owns the account: its accounts share one messaging limit. NULL: the account has a limit of its own.
ALTER TABLE business_account ADD COLUMN portfolio_id text COLLATE "C";

-- Whether the provider lets the number send, as it said at health_read_at; NULL: it has not said.
ALTER TABLE channel
  ADD COLUMN can_send text,
  ADD COLUMN can_send_details text,
  ADD COLUMN health_read_at timestamptz;

-- Who made the template: AUTO_GENERATED ones are the provider's own, which no campaign sends. NULL: it has not said.
ALTER TABLE template ADD COLUMN source text;

ALTER TABLE campaign
  -- The category whose prices the campaign began with, or was last started with; NULL before its start.
  ADD COLUMN priced_category text,
  DROP CONSTRAINT campaign_pause_reason,
  ADD CONSTRAINT campaign_pause_reason CHECK (pause_reason IN
    ('INSUFFICIENT_BALANCE', 'BROADCAST_QUOTA', 'TEMPLATE_UNAVAILABLE', 'CHANNEL_BLOCKED', 'MESSAGE_REJECTED', 'RECORD_RESTORED',
     'OPERATOR', 'FAILURES', 'MAX_COST', 'PRICE_RAISED')) NOT VALID;
