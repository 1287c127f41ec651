-- Money, in integer micro-units of the wallet's currency.

-- The money of one channel; written by recharges, claims and recorded outcomes. balance is the sum of the ledger's entries,
-- reserved is the part of it that messages without an outcome hold.
CREATE TABLE wallet (
  channel_id uuid PRIMARY KEY,
  workspace_id integer NOT NULL,
  currency text NOT NULL DEFAULT 'USD',
  balance bigint NOT NULL DEFAULT 0 CHECK (balance >= 0),
  reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  updated_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id),
  CHECK (reserved <= balance)
) WITH (fillfactor = 10);

-- Each change of a balance; written in the transaction of the change. Append-only.
CREATE TABLE ledger_entry (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel_id uuid NOT NULL REFERENCES wallet (channel_id),
  workspace_id integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('recharge', 'adjustment', 'charge', 'refund', 'correction')),
  amount bigint NOT NULL CHECK (amount <> 0),
  campaign_id uuid,
  message_id uuid,
  message_count integer,
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT ledger_entry_workspace FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id),
  CONSTRAINT ledger_entry_sign CHECK (
    CASE kind WHEN 'charge' THEN amount < 0 WHEN 'recharge' THEN amount > 0 WHEN 'refund' THEN amount > 0 ELSE true END)
);
CREATE INDEX ledger_entry_channel ON ledger_entry (channel_id, id);
-- Sums up what a campaign cost.
CREATE INDEX ledger_entry_campaign ON ledger_entry (campaign_id) INCLUDE (amount) WHERE campaign_id IS NOT NULL;
CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR DELETE ON ledger_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_entry_stays BEFORE TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Price of one message by template category and recipient country; country '' is every other country.
-- workspace_id NULL is the default card; a workspace's own rows win. Written by the admin commands.
CREATE TABLE rate_card (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer REFERENCES workspace (id),
  category text NOT NULL,
  country text COLLATE "C" NOT NULL DEFAULT '',
  price bigint NOT NULL CHECK (price >= 0),
  UNIQUE NULLS NOT DISTINCT (workspace_id, category, country)
);
INSERT INTO rate_card (category, country, price) VALUES
  ('MARKETING', '', 50000), ('UTILITY', '', 20000), ('AUTHENTICATION', '', 20000), ('SERVICE', '', 0),
  ('MARKETING', 'IN', 10700), ('UTILITY', 'IN', 1400), ('AUTHENTICATION', 'IN', 1400),
  ('MARKETING', 'US', 25000), ('UTILITY', 'US', 4000), ('AUTHENTICATION', 'US', 4000),
  ('MARKETING', 'BR', 62500), ('UTILITY', 'BR', 6800), ('AUTHENTICATION', 'BR', 6800),
  ('MARKETING', 'DE', 136500), ('UTILITY', 'DE', 55000), ('AUTHENTICATION', 'DE', 55000);
