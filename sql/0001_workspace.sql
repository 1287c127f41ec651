-- Workspaces, the business accounts and channels they own, API keys and features.
-- Every tenant table carries workspace_id and is referenced by (workspace_id, id), so that a row can never point into another workspace.

CREATE TABLE workspace (
  id integer GENERATED ALWAYS AS IDENTITY (START WITH 1001) PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- id is the provider's own id: one business account belongs to one workspace.
CREATE TABLE business_account (
  id text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  templates_synced_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id)
);

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
  -- ISO 3166 alpha-2 codes to which this channel never sends.
  blocked_countries text[] NOT NULL DEFAULT '{}',
  -- Which automatic responder an inbound message starts a session of.
  responder text NOT NULL DEFAULT 'none' CHECK (responder IN ('none', 'chatbot', 'assistant')),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id),
  FOREIGN KEY (workspace_id, business_account_id) REFERENCES business_account (workspace_id, id)
);
CREATE INDEX channel_business_account ON channel (business_account_id);

-- The paced token bucket of a channel: next_at is when the next unleased token falls due.
CREATE TABLE channel_rate (
  channel_id uuid PRIMARY KEY REFERENCES channel (id),
  next_at timestamptz NOT NULL DEFAULT now(),
  -- 1 = the full rate; halved by the provider's throttling answers, recovers additively.
  factor double precision NOT NULL DEFAULT 1 CHECK (factor > 0 AND factor <= 1),
  factor_changed_at timestamptz NOT NULL DEFAULT now(),
  -- No token falls due before this instant (the provider asked for silence).
  held_until timestamptz
) WITH (fillfactor = 10);

CREATE TABLE api_key (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  channel_id uuid,
  scope text NOT NULL CHECK (scope IN ('channel', 'workspace', 'operator')),
  key_id text COLLATE "C" NOT NULL UNIQUE,
  -- HMAC-SHA256 of the secret under the pepper that pepper_id names; the secret itself is never stored.
  secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
  pepper_id text NOT NULL,
  last4 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id),
  CHECK ((scope = 'channel') = (channel_id IS NOT NULL))
);

-- One row per workspace. broadcasts_per_month NULL means unlimited.
CREATE TABLE workspace_feature (
  workspace_id integer PRIMARY KEY REFERENCES workspace (id),
  schedule_campaigns boolean NOT NULL DEFAULT true,
  targeted_segments boolean NOT NULL DEFAULT true,
  broadcasts_per_month integer CHECK (broadcasts_per_month >= 0)
);

CREATE TABLE broadcast_usage (
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- First day of the UTC calendar month.
  month date NOT NULL,
  used integer NOT NULL DEFAULT 0 CHECK (used >= 0),
  PRIMARY KEY (workspace_id, month)
);

-- Written in the transaction of what the request created; status and body are NULL while the request runs.
CREATE TABLE idempotency_key (
  workspace_id integer NOT NULL REFERENCES workspace (id),
  route text NOT NULL,
  key text NOT NULL,
  request_sha256 bytea NOT NULL,
  response_status smallint,
  response_body text,
  -- What the request was creating, so that a crashed single send can be told apart from one that never began.
  resource_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, route, key)
);
CREATE INDEX idempotency_key_created_at ON idempotency_key (created_at);
