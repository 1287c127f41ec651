-- The erasure of a person: the row stays for what refers to it, without anything about the person.
ALTER TABLE contact ADD COLUMN erased_at timestamptz;
ALTER TABLE contact DROP CONSTRAINT contact_check;
ALTER TABLE contact ADD CONSTRAINT contact_known
  CHECK (phone_number IS NOT NULL OR provider_user_id IS NOT NULL OR erased_at IS NOT NULL) NOT VALID;

-- The key of the hashes below, under SECRETS_KEY: without it the numbers could be tried one by one.
CREATE TABLE erasure_key (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL UNIQUE REFERENCES workspace (id),
  key_encrypted bytea NOT NULL
);

-- Numbers of erased people who had unsubscribed, so that an import does not write to them again.
CREATE TABLE opted_out_number (
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- HMAC-SHA256 of the E.164 digits.
  hash bytea NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (workspace_id, hash)
);
