-- People a workspace knows, their tags, and segments (saved filters).

CREATE TABLE contact (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- E.164 digits without the plus sign; NULL only for a person known by the provider's user id alone.
  phone_number text COLLATE "C" CHECK (phone_number ~ '^[0-9]{5,15}$'),
  -- Calling code, a prefix of phone_number.
  country_code text COLLATE "C" NOT NULL DEFAULT '',
  -- ISO 3166 alpha-2, for prices; '' when the calling code belongs to no country.
  country text COLLATE "C" NOT NULL DEFAULT '',
  provider_user_id text COLLATE "C",
  first_name text NOT NULL DEFAULT '',
  last_name text NOT NULL DEFAULT '',
  chat_name text NOT NULL DEFAULT '',
  email text NOT NULL DEFAULT '',
  source text NOT NULL,
  subscribed boolean NOT NULL DEFAULT true,
  -- {"<fieldId>": "<value>"}
  custom_fields jsonb NOT NULL DEFAULT '{}',
  dob timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  UNIQUE (workspace_id, id),
  CHECK (phone_number IS NOT NULL OR provider_user_id IS NOT NULL)
);
CREATE UNIQUE INDEX contact_phone_number ON contact (workspace_id, phone_number) INCLUDE (id, deleted_at);
CREATE UNIQUE INDEX contact_provider_user_id ON contact (workspace_id, provider_user_id)
  WHERE provider_user_id IS NOT NULL;
-- Search by prefix, in this order; partial, so that an import of bare numbers does not pay for them.
CREATE INDEX contact_first_name ON contact (workspace_id, (lower(first_name) COLLATE "C"), id)
  WHERE first_name <> '';
CREATE INDEX contact_last_name ON contact (workspace_id, (lower(last_name) COLLATE "C"), id)
  WHERE last_name <> '';
CREATE INDEX contact_email ON contact (workspace_id, (lower(email) COLLATE "C"), id)
  WHERE email <> '';

CREATE TABLE tag (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  name text NOT NULL,
  text_color text NOT NULL,
  background_color text NOT NULL,
  created_by text NOT NULL,
  search tsvector GENERATED ALWAYS AS (to_tsvector('simple', name)) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id)
);
CREATE INDEX tag_name ON tag (workspace_id, name, id);
CREATE INDEX tag_created_by ON tag (workspace_id, created_by, name, id);
CREATE INDEX tag_search ON tag USING gin (search);

CREATE TABLE contact_tag (
  workspace_id integer NOT NULL,
  contact_id uuid NOT NULL,
  tag_id uuid NOT NULL,
  PRIMARY KEY (contact_id, tag_id),
  FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, tag_id) REFERENCES tag (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_tag_tag ON contact_tag (tag_id, contact_id);

CREATE TABLE segment (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  name text NOT NULL,
  match text NOT NULL CHECK (match IN ('all', 'any')),
  -- [{"field", "operator", "value"?}], validated before it is stored.
  conditions jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id)
);
CREATE INDEX segment_name ON segment (workspace_id, name, id);
