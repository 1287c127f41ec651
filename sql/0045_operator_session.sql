-- Who is signed in to the dashboard: the hash of the cookie's value and the key it stands for. A session has no rights of its
-- own; its keys are looked up at every request.
CREATE TABLE operator_session (
  id_hash bytea PRIMARY KEY CHECK (length(id_hash) = 32),
  key_id text COLLATE "C" NOT NULL REFERENCES api_key (key_id),
  -- A second key, added to recharge.
  operator_key_id text COLLATE "C" REFERENCES api_key (key_id),
  seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX operator_session_expires_at ON operator_session (expires_at);

-- A link that signs in once: deleted by its use.
CREATE TABLE sign_in_link (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  key_id text COLLATE "C" NOT NULL REFERENCES api_key (key_id),
  expires_at timestamptz NOT NULL
);
