-- The provider's message templates.

-- A template as last seen by a sync or reported by a callback; the provider is the source of truth.
CREATE TABLE template (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  business_account_id text COLLATE "C" NOT NULL,
  provider_template_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  language text NOT NULL,
  category text NOT NULL,
  status text NOT NULL,
  -- The provider's time of the report that set status; reports come late, twice and in any order.
  status_reported_at timestamptz,
  -- The category that the provider has announced, and when it takes effect.
  upcoming_category text,
  upcoming_category_at timestamptz,
  parameter_format text NOT NULL DEFAULT 'POSITIONAL',
  -- The provider's components array, verbatim.
  components jsonb NOT NULL,
  quality text,
  rejected_reason text,
  -- When a sync last found the template at the provider.
  synced_at timestamptz NOT NULL DEFAULT now(),
  -- Set when a complete sync no longer found it; the status is then DELETED.
  vanished_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id),
  UNIQUE (business_account_id, provider_template_id),
  FOREIGN KEY (workspace_id, business_account_id) REFERENCES business_account (workspace_id, id)
);
CREATE INDEX template_name ON template (workspace_id, name, language);
