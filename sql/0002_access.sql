-- API keys, sessions of the dashboard, idempotency keys, the audit log, and notices.

-- A key of the API; written by `admin create-key` and `revoke-key`.
CREATE TABLE api_key (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  channel_id uuid,
  scope text NOT NULL CHECK (scope IN ('channel', 'workspace', 'operator')),
  key_id text COLLATE "C" NOT NULL UNIQUE,
  -- HMAC-SHA256 of the secret under the pepper named by pepper_id; the secret itself is never stored.
  secret_hash bytea NOT NULL CHECK (length(secret_hash) = 32),
  pepper_id text NOT NULL,
  last4 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Written at most every five minutes.
  last_used_at timestamptz,
  revoked_at timestamptz,
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id),
  CHECK ((scope = 'channel') = (channel_id IS NOT NULL))
);

-- A browser that is signed in: the hash of its cookie, and its keys; written by the dashboard's sign-in.
-- The session has the rights of its keys, which are looked up at every request.
CREATE TABLE operator_session (
  id_hash bytea PRIMARY KEY CHECK (length(id_hash) = 32),
  key_id text COLLATE "C" NOT NULL REFERENCES api_key (key_id),
  -- An operator's key added to the session, for actions that only operators may take.
  operator_key_id text COLLATE "C" REFERENCES api_key (key_id),
  seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX operator_session_expires_at ON operator_session (expires_at);
CREATE INDEX operator_session_key ON operator_session (key_id, seen_at);

-- A link that signs in once; written by `npm start` and `admin sign-in-link`, deleted by its use.
CREATE TABLE sign_in_link (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  key_id text COLLATE "C" NOT NULL REFERENCES api_key (key_id),
  expires_at timestamptz NOT NULL
);

-- A request with an Idempotency-Key; written in the transaction that creates what was requested.
-- status and body are NULL while the request runs.
CREATE TABLE idempotency_key (
  workspace_id integer NOT NULL REFERENCES workspace (id),
  route text NOT NULL,
  key text NOT NULL,
  request_sha256 bytea NOT NULL,
  response_status smallint,
  response_body text,
  -- Id of the record that the request creates: distinguishes a crashed single send from one that never began.
  resource_id uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, route, key)
);
CREATE INDEX idempotency_key_created_at ON idempotency_key (created_at);

-- Audit entries; written in the transaction of the change, without personal data. Append-only.
CREATE TABLE audit_entry (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- The API key or the admin command that acted; both NULL where the service itself acted.
  key_id text COLLATE "C",
  command text,
  action text NOT NULL,
  object_id text NOT NULL,
  request_id text,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_entry_list ON audit_entry (workspace_id, id DESC);
CREATE INDEX audit_entry_object ON audit_entry (workspace_id, object_id, id DESC);
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON audit_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Notices for a workspace's users; each is written in the transaction of the change it reports, and deleted after 90 days.
CREATE TABLE notice (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  kind text NOT NULL CHECK (kind IN ('template_status', 'template_category', 'channel_blocked', 'channel_quality',
    'messaging_limit', 'webhook_disabled', 'campaign_paused', 'campaign_failed')),
  subject_type text NOT NULL CHECK (subject_type IN ('template', 'channel', 'business_account', 'webhook', 'campaign')),
  subject_id text COLLATE "C" NOT NULL,
  -- Name of the subject at that time.
  subject_name text NOT NULL,
  message text NOT NULL,
  -- Cut to milliseconds, as the API shows it: marking notices as read up to this instant then includes this one.
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
  read_at timestamptz
);
CREATE INDEX notice_list ON notice (workspace_id, id DESC);
CREATE INDEX notice_unread ON notice (workspace_id, id DESC) WHERE read_at IS NULL;
