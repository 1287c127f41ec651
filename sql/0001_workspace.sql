-- Workspaces, and the business accounts and channels that they own.
-- Every tenant table carries workspace_id and is referenced by (workspace_id, id), so that no row can point into another workspace.

CREATE FUNCTION refuse_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE restrict_violation USING MESSAGE = format('%s on "%s" is refused: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END $$;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;

-- One row per customer; written by `admin create-workspace` and by operators.
CREATE TABLE workspace (
  id integer GENERATED ALWAYS AS IDENTITY (START WITH 1001) PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  -- When campaigns with MARKETING templates may send (src/domain/campaigns/sending-window.ts); NULL: always.
  sending_window jsonb,
  created_at timestamptz NOT NULL DEFAULT now()
);
-- A workspace is never deleted and keeps its id, so that bulk inserts need not lock it.
CREATE TRIGGER workspace_stays BEFORE DELETE OR UPDATE OF id ON workspace
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('workspaces stay');

-- Features of a workspace; written by the admin commands. broadcasts_per_month NULL means unlimited.
CREATE TABLE workspace_feature (
  workspace_id integer PRIMARY KEY REFERENCES workspace (id),
  schedule_campaigns boolean NOT NULL DEFAULT true,
  targeted_segments boolean NOT NULL DEFAULT true,
  broadcasts_per_month integer CHECK (broadcasts_per_month >= 0)
);

-- How many campaigns a workspace has started in a month; written when a campaign starts for the first time.
CREATE TABLE broadcast_usage (
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- First day of the UTC calendar month.
  month date NOT NULL,
  used integer NOT NULL DEFAULT 0 CHECK (used >= 0),
  PRIMARY KEY (workspace_id, month)
);

-- An account at the provider, under the provider's own id; written by the admin commands and by the provider's callbacks.
CREATE TABLE business_account (
  id text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  templates_synced_at timestamptz,
  -- How many different people the account may send to in 24 hours, over all its numbers; NULL means no limit.
  messaging_limit integer CHECK (messaging_limit > 0),
  -- The provider's time of the report that set messaging_limit; older reports change nothing.
  messaging_limit_reported_at timestamptz,
  -- The provider's last report about the account: {"field", "event", "at", ...}.
  notice jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id)
);

-- One sending number; written by the admin commands, by refusals of the provider and by its callbacks.
CREATE TABLE channel (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  business_account_id text COLLATE "C" NOT NULL,
  phone_number_id text COLLATE "C" NOT NULL UNIQUE,
  display_phone_number text NOT NULL,
  access_token_encrypted bytea NOT NULL,
  messages_per_second integer NOT NULL DEFAULT 80 CHECK (messages_per_second BETWEEN 1 AND 100000),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'blocked')),
  block_reason text,
  -- When the provider's restriction ends automatically.
  blocked_until timestamptz,
  -- ISO 3166 alpha-2 codes to which this channel never sends.
  blocked_countries text[] NOT NULL DEFAULT '{}',
  -- The automatic responder whose session an inbound message starts.
  responder text NOT NULL DEFAULT 'none' CHECK (responder IN ('none', 'chatbot', 'assistant')),
  -- Marketing templates go through the provider's endpoint for them.
  marketing_endpoint boolean NOT NULL DEFAULT false,
  -- The provider's last report: LOW when it flagged the number, GOOD when it withdrew the flag.
  quality text CHECK (quality IN ('LOW', 'GOOD')),
  quality_reported_at timestamptz,
  -- The provider's last refusal that concerns the whole channel: its code, what it is about, and when.
  refusal_code integer,
  refusal_cause text CHECK (refusal_cause IN ('token', 'payment', 'policy', 'limit', 'number', 'address')),
  refused_at timestamptz,
  CHECK ((refusal_code IS NULL) = (refusal_cause IS NULL) AND (refusal_code IS NULL) = (refused_at IS NULL)),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id),
  FOREIGN KEY (workspace_id, business_account_id) REFERENCES business_account (workspace_id, id)
);
CREATE INDEX channel_business_account ON channel (business_account_id);
