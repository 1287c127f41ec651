-- Contacts, their identities at the provider, tags, segments (saved filters), and what an erasure leaves.

-- A person known to a workspace; written by the API, by imports of campaigns and by inbound messages.
-- There is no key on id alone: a contact is always looked up within its workspace.
CREATE TABLE contact (
  id uuid NOT NULL DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  -- E.164 digits without the plus sign; NULL for a person known by the provider's user id alone.
  -- ltrim checks for digits at a quarter of the cost of a regular expression; an import checks millions of numbers.
  phone_number text COLLATE "C" CONSTRAINT contact_phone_number_digits
    CHECK (ltrim(phone_number, '0123456789') = '' AND octet_length(phone_number) BETWEEN 5 AND 15),
  -- By these numbers an export or an erasure finds the recipients of campaigns before a change of number.
  former_numbers text[] COLLATE "C",
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
  -- The provider's time of the person's last opt-out or opt-in, or ours of an opt-out by the API; an earlier one that arrives
  -- late is ignored.
  consent_at timestamptz,
  -- {"<fieldId>": "<value>"}
  custom_fields jsonb NOT NULL DEFAULT '{}',
  dob timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  -- Set by an erasure: the row stays because other rows refer to it, without anything about the person.
  erased_at timestamptz,
  UNIQUE (workspace_id, id),
  CONSTRAINT contact_known CHECK (phone_number IS NOT NULL OR provider_user_id IS NOT NULL OR erased_at IS NOT NULL)
) WITH (fillfactor = 90);
ALTER TABLE contact REPLICA IDENTITY USING INDEX contact_workspace_id_id_key;
-- ANALYZE is to report a thousand contacts for each workspace. If every workspace so far had one, it would report one; the planner
-- would then look a contact up by its workspace alone, and a claim would read all contacts of a workspace for each recipient.
-- STATISTICS 1: of a small table ANALYZE would list every workspace, and the planner would expect no row of one that is not listed.
ALTER TABLE contact ALTER COLUMN workspace_id SET (n_distinct = -0.001), ALTER COLUMN workspace_id SET STATISTICS 1;
CREATE UNIQUE INDEX contact_number ON contact (workspace_id, phone_number);
CREATE UNIQUE INDEX contact_provider_user_id ON contact (workspace_id, provider_user_id)
  WHERE provider_user_id IS NOT NULL;
-- Search by prefix; partial, so that an import of bare numbers does not write them.
CREATE INDEX contact_first_name ON contact (workspace_id, (lower(first_name) COLLATE "C"), id) WHERE first_name <> '';
CREATE INDEX contact_last_name ON contact (workspace_id, (lower(last_name) COLLATE "C"), id) WHERE last_name <> '';
CREATE INDEX contact_chat_name ON contact (workspace_id, (lower(chat_name) COLLATE "C"), id) WHERE chat_name <> '';
CREATE INDEX contact_email ON contact (workspace_id, (lower(email) COLLATE "C"), id) WHERE email <> '';

-- Replaces a foreign key to workspace: one check per statement instead of one per imported row.
CREATE FUNCTION require_contact_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT workspace_id FROM inserted) AS given
             WHERE NOT EXISTS (SELECT FROM workspace WHERE workspace.id = given.workspace_id)) THEN
    RAISE foreign_key_violation USING MESSAGE = 'A contact must belong to a workspace', TABLE = 'contact',
      CONSTRAINT = 'contact_workspace';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER contact_workspace AFTER INSERT ON contact REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION require_contact_workspace();
CREATE TRIGGER contact_workspace_stays BEFORE UPDATE OF workspace_id ON contact
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('a contact stays in its workspace');

-- Further ids of a contact at the provider: numbers in the provider's form (Mexico 521…, Brazil without the ninth digit) and
-- user ids. An id of digits alone is a number. Written from the provider's answers and callbacks.
CREATE TABLE contact_identity (
  workspace_id integer NOT NULL,
  provider_id text COLLATE "C" NOT NULL CHECK (provider_id <> ''),
  contact_id uuid NOT NULL,
  learned_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, provider_id),
  FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_identity_contact ON contact_identity (contact_id);

-- When a contact's number changes, the provider's spellings of the old number no longer identify it, and the contact keeps the old
-- number unless it is erased.
CREATE FUNCTION change_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM contact_identity WHERE contact_id = OLD.id AND provider_id ~ '^[0-9]+$';
  -- Each number once, however often a contact changes between two.
  NEW.former_numbers := CASE WHEN NEW.erased_at IS NULL
    THEN array_append(array_remove(OLD.former_numbers, OLD.phone_number), OLD.phone_number) END;
  RETURN NEW;
END $$;
CREATE TRIGGER contact_number_changed BEFORE UPDATE OF phone_number ON contact
  FOR EACH ROW WHEN (OLD.phone_number IS NOT NULL AND OLD.phone_number IS DISTINCT FROM NEW.phone_number)
  EXECUTE FUNCTION change_number();

-- Contacts who opted out while another transaction held their row; read by claims, so that an import does not delay an opt-out.
-- Written by the worker that applies callbacks, deleted when the opt-out is applied to the contact.
CREATE TABLE waiting_opt_out (
  workspace_id integer NOT NULL,
  contact_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, contact_id)
);

-- Each opt-out and opt-in of a contact; written by the statement that changes contact.subscribed.
CREATE TABLE contact_consent (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  contact_id uuid NOT NULL,
  subscribed boolean NOT NULL,
  -- person: wrote a word such as STOP, changed a setting in the provider's app, or the provider refused a message because of
  -- such a setting. api: by a request.
  source text NOT NULL CHECK (source IN ('person', 'api')),
  at timestamptz NOT NULL,
  FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_consent_contact ON contact_consent (contact_id, id DESC);

-- A label for contacts; written by the API.
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

-- Which contact has which tag; written by the API.
CREATE TABLE contact_tag (
  workspace_id integer NOT NULL,
  contact_id uuid NOT NULL,
  tag_id uuid NOT NULL,
  PRIMARY KEY (contact_id, tag_id),
  FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, tag_id) REFERENCES tag (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_tag_tag ON contact_tag (tag_id, contact_id);

-- A saved filter of contacts; written by the API.
CREATE TABLE segment (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  name text NOT NULL,
  match text NOT NULL CHECK (match IN ('all', 'any')),
  -- [{"field", "operator", "value"?}], validated before it is stored.
  conditions jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX segment_name ON segment (workspace_id, name, id);

-- One HMAC key per workspace for opted_out_number, encrypted under SECRETS_KEY; written with the first row of a workspace, or by
-- its first erasure.
-- Hashes without a key could be reversed by trying every number.
CREATE TABLE erasure_key (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL UNIQUE REFERENCES workspace (id),
  key_encrypted bytea NOT NULL
);

-- Numbers and provider ids of people without a contact who opted out: erased ones, and those who chose so in the provider's app
-- before there was a contact. A later import does not send to them. Written by erasures, callbacks and refusals.
CREATE TABLE opted_out_number (
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- HMAC-SHA256 of the E.164 digits, or of an id.
  hash bytea NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (workspace_id, hash)
);

-- Unfinished erasures: events, deliveries, stored callbacks and statuses still name the person. Written by the request, which
-- erases everything else; advanced and deleted by the erasure job.
CREATE TABLE erasure (
  contact_id uuid PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- The contact's id, number and provider ids: the texts by which rows are found.
  names text[] NOT NULL,
  -- contact.former_numbers. Events of their next owners may name them, stored callbacks are not read again.
  former_numbers text[] NOT NULL,
  -- Only rows written before this time are erased: later ones belong to the number's next owner. The first step moves it forward
  -- if rows are dated ahead of the clock, as after the clock was set back.
  requested_at timestamptz NOT NULL,
  -- Rows written before this time no longer name the person; NULL before the first step.
  cleared_until timestamptz,
  next_step_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX erasure_workspace ON erasure (workspace_id);
