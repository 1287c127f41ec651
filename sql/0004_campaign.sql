-- Campaigns and their recipients. Counters are kept beside the campaign, never counted.

CREATE TABLE campaign (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  channel_id uuid NOT NULL,
  template_id uuid NOT NULL,
  name text NOT NULL,
  description text,
  contact_selection_type text NOT NULL CHECK (contact_selection_type IN
    ('all_contacts', 'segmented', 'csv_contacts', 'quick_contacts', 'failed_contacts')),
  -- The small part of the audience input: segments, filters, csv_mapping, file key or URL, failed campaign and reasons.
  audience jsonb NOT NULL,
  variable_mapping jsonb,
  -- What all recipients have in common (domain/template-plan.ts), written when preparation ends, together with the
  -- frozen values of the recipients.
  message_plan jsonb,
  send_type text NOT NULL CHECK (send_type IN ('IMMEDIATE', 'SCHEDULED')),
  scheduled_at timestamptz,
  status text NOT NULL CHECK (status IN
    ('DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED')),
  pause_reason text CHECK (pause_reason IN
    ('INSUFFICIENT_BALANCE', 'BROADCAST_QUOTA', 'TEMPLATE_UNAVAILABLE', 'CHANNEL_BLOCKED', 'OPERATOR')),
  preparation_status text NOT NULL CHECK (preparation_status IN ('PREPARING', 'READY', 'FAILED')),
  preparation_error_code text,
  preparation_error_message text,
  preparation_version integer NOT NULL DEFAULT 1,
  audience_version integer NOT NULL DEFAULT 1,
  -- Raised by every change of status; a page claimed under another epoch cannot send.
  epoch integer NOT NULL DEFAULT 0,
  total_contacts integer NOT NULL DEFAULT 0,
  total_contacts_skipped integer NOT NULL DEFAULT 0,
  is_auto_trigger boolean NOT NULL DEFAULT true,
  -- The UTC month whose broadcast quota this campaign was counted against; counted once.
  quota_month date,
  created_by text NOT NULL,
  started_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id),
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id),
  FOREIGN KEY (workspace_id, template_id) REFERENCES template (workspace_id, id),
  CHECK ((status = 'PAUSED') = (pause_reason IS NOT NULL)),
  CHECK (send_type = 'IMMEDIATE' OR scheduled_at IS NOT NULL)
) WITH (fillfactor = 80);
CREATE INDEX campaign_list ON campaign (workspace_id, created_at DESC, id DESC);
CREATE INDEX campaign_template ON campaign (template_id) WHERE status IN ('DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED');
CREATE INDEX campaign_channel ON campaign (channel_id) WHERE status IN ('DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED');

-- The large part of the audience input (an inline CSV, a list of quick contacts); deleted when preparation ends.
CREATE TABLE campaign_input (
  campaign_id uuid PRIMARY KEY REFERENCES campaign (id) ON DELETE CASCADE,
  content text NOT NULL
);

CREATE TABLE campaign_counter (
  campaign_id uuid PRIMARY KEY REFERENCES campaign (id) ON DELETE CASCADE,
  -- Every recipient up to this position has been claimed, skipped or cancelled; the next page begins after it.
  claimed_position integer NOT NULL DEFAULT 0,
  pending integer NOT NULL DEFAULT 0,
  claimed integer NOT NULL DEFAULT 0,
  accepted integer NOT NULL DEFAULT 0,
  sent integer NOT NULL DEFAULT 0,
  delivered integer NOT NULL DEFAULT 0,
  read integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  unknown integer NOT NULL DEFAULT 0,
  cancelled integer NOT NULL DEFAULT 0,
  skipped integer NOT NULL DEFAULT 0
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- How many recipients were skipped, or stand failed, for each reason.
CREATE TABLE campaign_reason (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('skipped', 'failed')),
  reason text NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (campaign_id, kind, reason)
) WITH (fillfactor = 50);

-- One row per person of the audience, skipped ones included. id is also the message id that travels to the provider.
CREATE TABLE recipient (
  campaign_id uuid NOT NULL,
  -- Order of sending, from 1, dense over the campaign's rows.
  position integer NOT NULL,
  id uuid NOT NULL DEFAULT uuidv7(),
  contact_id uuid,
  -- E.164 digits; NULL when the input was no phone number.
  phone_number text COLLATE "C",
  country text COLLATE "C" NOT NULL DEFAULT '',
  -- False for skipped rows; never changes. Sending changes no indexed column, so that its updates stay heap-only.
  sendable boolean NOT NULL,
  state text NOT NULL CHECK (state IN
    ('PENDING', 'CLAIMED', 'ACCEPTED', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'UNKNOWN', 'SKIPPED', 'CANCELLED')),
  reason text,
  reason_detail text,
  line_number integer,
  -- The frozen values of the template slots that differ from recipient to recipient.
  variables text[],
  attempts smallint NOT NULL DEFAULT 0,
  claim_id uuid,
  -- Micro-units reserved at the claim, then charged.
  price bigint NOT NULL DEFAULT 0,
  -- 'none' | 'reserved' | 'charged' | 'refunded'
  settlement text NOT NULL DEFAULT 'none' CHECK (settlement IN ('none', 'reserved', 'charged', 'refunded')),
  provider_message_id text COLLATE "C",
  -- Bit set of provider statuses already told of: 1 sent, 2 delivered, 4 read, 8 failed.
  statuses_seen smallint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (campaign_id, position),
  FOREIGN KEY (campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.5,
  autovacuum_vacuum_cost_delay = 1);
CREATE UNIQUE INDEX recipient_id ON recipient (id);
CREATE UNIQUE INDEX recipient_phone_number ON recipient (campaign_id, phone_number) WHERE sendable;
CREATE INDEX recipient_reason ON recipient (campaign_id, position) WHERE reason IS NOT NULL;

-- Finds the recipient of a status callback that does not carry our id: hashtextextended(provider_message_id, 0).
-- Beside the recipient, because an index on the recipient itself would cost every update all of its indexes.
CREATE TABLE provider_message (
  hash bigint NOT NULL,
  recipient_id uuid NOT NULL
);
CREATE INDEX provider_message_hash ON provider_message (hash);

-- Recipients that went back to PENDING behind claimed_position: the next attempt is not before not_before.
CREATE TABLE recipient_retry (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  position integer NOT NULL,
  not_before timestamptz NOT NULL,
  PRIMARY KEY (campaign_id, position)
);
CREATE INDEX recipient_retry_due ON recipient_retry (campaign_id, not_before);

-- A page that was claimed and whose results are not recorded yet. One that outlives the grace period crashed:
-- what it had claimed becomes UNKNOWN.
CREATE TABLE campaign_claim (
  id uuid PRIMARY KEY,
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  -- The campaign's epoch under which the page was claimed.
  epoch integer NOT NULL,
  size integer NOT NULL,
  -- The page lies between these positions.
  first_position integer NOT NULL,
  last_position integer NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX campaign_claim_campaign ON campaign_claim (campaign_id, claimed_at);

-- Files uploaded for CSV campaigns; the bytes are in the file storage under key.
CREATE TABLE campaign_file (
  key text COLLATE "C" PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspace (id),
  size bigint NOT NULL,
  headers jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX campaign_file_created_at ON campaign_file (created_at);

-- What must reach the workflow engine, written in the transaction of its cause and delivered after the commit.
CREATE TABLE workflow_command (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('start', 'refresh')),
  created_at timestamptz NOT NULL DEFAULT now()
);
