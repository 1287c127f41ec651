-- Price cards as the provider publishes them, with the day from which they apply.

-- As the provider reports them; NULL until it has. They decide a card's currency and the moment at which it begins.
ALTER TABLE business_account
  ADD COLUMN currency text,
  ADD COLUMN time_zone text;

-- One published list of prices; written by load-prices and POST /api/prices. Append-only, like its markets and prices: what a
-- message cost stays explainable.
CREATE TABLE price_card (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  -- `example` for the prices of rate_card, which no provider published; NULL for all others.
  name text UNIQUE,
  currency text NOT NULL,
  -- Applies from 00:00 of this day in the time zone of the business account.
  effective_on date NOT NULL,
  -- Name of the file.
  source text NOT NULL,
  -- Of the file's bytes, in hex.
  sha256 text NOT NULL,
  loaded_at timestamptz NOT NULL DEFAULT now(),
  -- Id of the API key, or `admin`.
  loaded_by text NOT NULL,
  UNIQUE (currency, effective_on, sha256)
);
-- The market whose prices a country pays; country '' is every other country.
CREATE TABLE price_card_market (
  card_id uuid NOT NULL REFERENCES price_card (id),
  country text COLLATE "C" NOT NULL,
  market text COLLATE "C" NOT NULL,
  PRIMARY KEY (card_id, country)
);
-- Micro-units of the card's currency. Prices of a tier apply from the message tier_from + 1 of a month on.
CREATE TABLE price_card_price (
  card_id uuid NOT NULL REFERENCES price_card (id),
  market text COLLATE "C" NOT NULL,
  category text NOT NULL,
  tier_from bigint NOT NULL DEFAULT 0 CHECK (tier_from >= 0),
  -- NULL: without end.
  tier_to bigint CHECK (tier_to > tier_from),
  price bigint NOT NULL CHECK (price >= 0),
  PRIMARY KEY (card_id, category, market, tier_from)
);
-- What a workspace pays for a message: the card's price times factor, plus fixed micro-units. Append-only; the last row counts.
CREATE TABLE price_markup (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspace (id),
  effective_on date NOT NULL,
  factor numeric NOT NULL CHECK (factor >= 0),
  fixed bigint NOT NULL CHECK (fixed >= 0),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX price_markup_workspace ON price_markup (workspace_id, effective_on DESC, id DESC);

CREATE TRIGGER price_card_append_only BEFORE UPDATE OR DELETE ON price_card
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER price_card_market_append_only BEFORE UPDATE OR DELETE ON price_card_market
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER price_card_price_append_only BEFORE UPDATE OR DELETE ON price_card_price
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER price_markup_append_only BEFORE UPDATE OR DELETE ON price_markup
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

INSERT INTO price_card (name, currency, effective_on, source, sha256, loaded_by)
VALUES ('example', 'USD', '1970-01-01', 'example', '', 'migration');

-- The card in force for a channel, and those that begin within `ahead`, because a message that is sent now may be delivered
-- then. No row: the example applies.
CREATE FUNCTION price_cards_of(channel uuid, ahead interval) RETURNS TABLE (card_id uuid, starts_at timestamptz)
LANGUAGE sql STABLE AS $$
  WITH card AS MATERIALIZED (
    SELECT price_card.id, price_card.loaded_at, price_card.effective_on,
      price_card.effective_on::timestamp AT TIME ZONE coalesce(business_account.time_zone, 'UTC') AS starts_at
    FROM wallet JOIN channel ON channel.id = wallet.channel_id
    JOIN business_account ON business_account.id = channel.business_account_id
    JOIN price_card ON price_card.currency = wallet.currency AND price_card.name IS NULL
    WHERE wallet.channel_id = $1
  ), present AS MATERIALIZED (
    SELECT id, starts_at FROM card WHERE starts_at <= now() ORDER BY effective_on DESC, loaded_at DESC LIMIT 1
  )
  SELECT id, starts_at FROM present
  UNION ALL
  SELECT id, starts_at FROM card
  WHERE starts_at > now() AND starts_at <= now() + ahead AND EXISTS (SELECT FROM present)
$$;

-- Always one row.
CREATE FUNCTION price_markup_of(channel uuid) RETURNS TABLE (factor numeric, fixed bigint)
LANGUAGE sql STABLE AS $$
  SELECT coalesce(markup.factor, 1), coalesce(markup.fixed, 0)
  FROM channel JOIN business_account ON business_account.id = channel.business_account_id
  LEFT JOIN LATERAL (
    SELECT price_markup.factor, price_markup.fixed FROM price_markup
    WHERE price_markup.workspace_id = channel.workspace_id
      AND price_markup.effective_on <= (now() AT TIME ZONE coalesce(business_account.time_zone, 'UTC'))::date
    ORDER BY price_markup.effective_on DESC, price_markup.id DESC LIMIT 1
  ) AS markup ON true
  WHERE channel.id = $1
$$;
