-- Giving back what was not delivered in time, and what a wallet could not pay for.

-- Seconds for which the provider tries to deliver a message; NULL: the default of the category.
ALTER TABLE template ADD COLUMN message_send_ttl_seconds integer;

-- Started campaigns with messages that may have to be given back; written by the trigger below, advanced and deleted by the
-- loop that gives back.
CREATE TABLE campaign_expiry (
  campaign_id uuid PRIMARY KEY,
  -- As of the start.
  ttl_seconds integer NOT NULL,
  -- Every recipient up to this position is looked at.
  after_position integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX campaign_expiry_due ON campaign_expiry (due_at);

-- Whichever release starts the campaign; with the owner's rights, because the role of a running 1.0.0 gets its rights to new
-- tables only after the migration.
CREATE FUNCTION watch_campaign_expiry() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.campaign_expiry (campaign_id, ttl_seconds, due_at)
  SELECT NEW.id, ttl, now() + make_interval(secs => ttl, hours => 24) FROM (
    SELECT coalesce(message_send_ttl_seconds, CASE category WHEN 'AUTHENTICATION' THEN 600 ELSE 2592000 END) AS ttl
    FROM public.template WHERE id = NEW.template_id) AS template
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER campaign_expiry AFTER UPDATE OF status ON campaign FOR EACH ROW
  WHEN (NEW.status = 'RUNNING' AND OLD.status <> 'RUNNING') EXECUTE FUNCTION watch_campaign_expiry();
-- Campaigns in mid-send. Those that ended before this release stay as they were charged.
INSERT INTO campaign_expiry (campaign_id, ttl_seconds, due_at)
SELECT campaign.id, ttl, now() + make_interval(secs => ttl, hours => 24)
FROM campaign JOIN template ON template.id = campaign.template_id
CROSS JOIN LATERAL (SELECT CASE category WHEN 'AUTHENTICATION' THEN 600 ELSE 2592000 END AS ttl) AS lasts
WHERE campaign.status IN ('RUNNING', 'PAUSED');

-- When a message outside campaigns is given back unless it is delivered by then. Messages of earlier releases have none, and those
-- that a running 1.0.0 writes get the longest time.
ALTER TABLE message ADD COLUMN expires_at timestamptz;
ALTER TABLE message ALTER COLUMN expires_at SET DEFAULT now() + interval '31 days';

-- Sum of the channel's rows in uncollected.
ALTER TABLE wallet ADD COLUMN uncollected bigint NOT NULL DEFAULT 0;
-- What late charges could not take from the wallet; taken first from the next recharge. Guarded by the lock of the wallet. No
-- foreign key to recipient or message: the debt stays when they are deleted.
CREATE TABLE uncollected (
  message_id uuid PRIMARY KEY,
  channel_id uuid NOT NULL,
  campaign_id uuid,
  -- False for a message outside campaigns, and for a campaign's test message: not part of the campaign's counters.
  is_recipient boolean NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX uncollected_channel ON uncollected (channel_id, created_at, message_id);

-- The card whose prices a message delivered at that moment costs; NULL: the example applies.
CREATE FUNCTION price_card_at(channel uuid, at timestamptz) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT price_card.id
  FROM wallet JOIN channel ON channel.id = wallet.channel_id
  JOIN business_account ON business_account.id = channel.business_account_id
  JOIN price_card ON price_card.currency = wallet.currency AND price_card.name IS NULL
  WHERE wallet.channel_id = $1
    AND price_card.effective_on::timestamp AT TIME ZONE coalesce(business_account.time_zone, 'UTC') <= $2
  ORDER BY price_card.effective_on DESC, price_card.loaded_at DESC LIMIT 1
$$;

-- Always one row: what the workspace pays on top of the card's price at that moment.
CREATE FUNCTION price_markup_at(channel uuid, at timestamptz) RETURNS TABLE (factor numeric, fixed bigint)
LANGUAGE sql STABLE AS $$
  SELECT coalesce(markup.factor, 1), coalesce(markup.fixed, 0)
  FROM channel JOIN business_account ON business_account.id = channel.business_account_id
  LEFT JOIN LATERAL (
    SELECT price_markup.factor, price_markup.fixed FROM price_markup
    WHERE price_markup.workspace_id = channel.workspace_id
      AND price_markup.effective_on <= ($2 AT TIME ZONE coalesce(business_account.time_zone, 'UTC'))::date
    ORDER BY price_markup.effective_on DESC, price_markup.id DESC LIMIT 1
  ) AS markup ON true
  WHERE channel.id = $1
$$;
