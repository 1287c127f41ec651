-- Campaigns: the record, its input, its counters, and what connects it with its workflow.

-- Written by the API, by operators and by the steps of the campaign's workflow.
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
  -- Parts common to all messages (src/domain/templates/plan.ts); written when preparation ends.
  message_plan jsonb,
  -- When preparation read the contacts; the message of a contact that changed since is rendered again at its claim.
  contacts_read_at timestamptz,
  send_type text NOT NULL CHECK (send_type IN ('IMMEDIATE', 'SCHEDULED')),
  scheduled_at timestamptz,
  -- The campaign's own window (src/domain/campaigns/sending-window.ts); NULL: only the workspace's applies.
  sending_window jsonb,
  -- Set by an operator: the workspace's window does not apply.
  ignore_quiet_hours boolean NOT NULL DEFAULT false,
  -- When sending may go on; written by a send step outside the window, cleared when a window changes.
  window_opens_at timestamptz,
  status text NOT NULL CHECK (status IN
    ('DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED')),
  pause_reason text CHECK (pause_reason IN
    ('INSUFFICIENT_BALANCE', 'BROADCAST_QUOTA', 'TEMPLATE_UNAVAILABLE', 'CHANNEL_BLOCKED', 'MESSAGE_REJECTED',
     'RECORD_RESTORED', 'OPERATOR')),
  preparation_status text NOT NULL CHECK (preparation_status IN ('PREPARING', 'READY', 'FAILED')),
  preparation_error_code text,
  preparation_error_message text,
  preparation_version integer NOT NULL DEFAULT 1,
  audience_version integer NOT NULL DEFAULT 1,
  -- Raised by every change of status: a batch claimed under an older epoch cannot be sent.
  epoch integer NOT NULL DEFAULT 0,
  total_contacts integer NOT NULL DEFAULT 0,
  total_contacts_skipped integer NOT NULL DEFAULT 0,
  is_auto_trigger boolean NOT NULL DEFAULT true,
  -- The UTC month whose broadcast quota this campaign was counted against; counted once.
  quota_month date,
  created_by text NOT NULL,
  started_at timestamptz,
  completed_at timestamptz,
  -- When its recipients were archived; their rows are deleted afterwards.
  archived_at timestamptz,
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
-- Read at every scrape of the metrics, and by the doctor.
CREATE INDEX campaign_status ON campaign (status, pause_reason);
-- Scheduled campaigns that should have begun.
CREATE INDEX campaign_due ON campaign (scheduled_at) WHERE status = 'SCHEDULED';
-- Campaigns whose recipients may be archived.
CREATE INDEX campaign_to_archive ON campaign (created_at)
  WHERE archived_at IS NULL AND status IN ('COMPLETED', 'FAILED', 'CANCELLED');
CREATE TRIGGER campaign_stays BEFORE UPDATE OF id ON campaign
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('a campaign keeps its id');

-- The large part of the audience input (an inline CSV, a list of quick contacts); written at creation, deleted when
-- preparation ends.
CREATE TABLE campaign_input (
  campaign_id uuid PRIMARY KEY REFERENCES campaign (id) ON DELETE CASCADE,
  content text NOT NULL
);

-- A CSV uploaded for campaigns; its bytes are in the file storage under key. Written by the upload.
CREATE TABLE campaign_file (
  key text COLLATE "C" PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspace (id),
  size bigint NOT NULL,
  headers jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX campaign_file_created_at ON campaign_file (created_at);
-- Serves the sum of a workspace's stored bytes, which every upload reads.
CREATE INDEX campaign_file_workspace ON campaign_file (workspace_id);

-- Recipients by state; written by each statement that changes a state, so that no request has to count recipients.
CREATE TABLE campaign_counter (
  campaign_id uuid PRIMARY KEY REFERENCES campaign (id) ON DELETE CASCADE,
  -- Every recipient up to this position has been claimed, skipped or cancelled; the next batch begins after it.
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
  skipped integer NOT NULL DEFAULT 0,
  -- Micro-units: what its recipients were charged, less refunds and corrections.
  charged bigint NOT NULL DEFAULT 0,
  CONSTRAINT campaign_counter_not_negative CHECK (
    least(claimed_position, pending, claimed, accepted, sent, delivered, read, failed, unknown, cancelled, skipped) >= 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- How many recipients are skipped or failed for each reason; written together with campaign_counter.
CREATE TABLE campaign_reason (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('skipped', 'failed')),
  reason text NOT NULL,
  -- No check for count >= 0: a decrement is inserted as a negative row, and Postgres checks that row before it adds it up.
  count integer NOT NULL,
  PRIMARY KEY (campaign_id, kind, reason)
) WITH (fillfactor = 50);

-- Counts of a campaign per minute; written together with campaign_counter.
CREATE TABLE campaign_minute (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  at timestamptz NOT NULL,
  accepted integer NOT NULL DEFAULT 0,
  delivered integer NOT NULL DEFAULT 0,
  read integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  -- Micro-units; negative if more was refunded than charged in that minute.
  charged bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (campaign_id, at)
) WITH (fillfactor = 50);

-- Recipients by country up to a position (every 5,000th and the last); written by the preparation. The difference of two
-- rows gives the cost of the recipients between them.
CREATE TABLE campaign_countries (
  campaign_id uuid NOT NULL,
  position integer NOT NULL,
  counts jsonb NOT NULL,
  PRIMARY KEY (campaign_id, position)
);

-- Outbox of signals to campaign workflows; written in the transaction of their cause, delivered after the commit.
CREATE TABLE workflow_outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('start', 'refresh')),
  -- The API request that caused it, so that the workflow's log lines can be found by it.
  request_id text CHECK (length(request_id) <= 128),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Campaigns that should make progress and do not; written by the workers' check, deleted when the campaign moves.
CREATE TABLE campaign_standstill (
  campaign_id uuid PRIMARY KEY,
  -- due: it should have begun. running: it has claimed nothing for a while. waiting: a recorded reason delays it. preparing: its
  -- preparation takes long. without_workflow: no workflow runs for it. stuck: its workflow cannot proceed. queued: the next
  -- task of its workflow waits behind busy workers. waiting, preparing and queued are not reported as stalled.
  kind text NOT NULL CHECK (kind IN
    ('due', 'running', 'waiting', 'preparing', 'without_workflow', 'stuck', 'queued')),
  since timestamptz NOT NULL DEFAULT now(),
  -- When Temporal was last asked about the campaign's workflow.
  looked_at timestamptz
) WITH (fillfactor = 50);

-- One row: the worker that updates next_at does the next check for stalled campaigns.
CREATE TABLE campaign_watch (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  next_at timestamptz NOT NULL DEFAULT now(),
  -- When the last completed check began.
  looked_at timestamptz
) WITH (fillfactor = 10);
INSERT INTO campaign_watch DEFAULT VALUES;

-- Restores handled by the doctor: PENDING recipients up to a position became UNKNOWN, because they may have been sent to in the
-- lost time. Written by the doctor; kept so that each restore is handled once and can be looked up.
CREATE TABLE campaign_restore (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  -- The records hold everything up to backup_at, and nothing between it and stopped_at.
  backup_at timestamptz NOT NULL,
  stopped_at timestamptz NOT NULL,
  -- The campaign may have been claimed up to this position in that time.
  up_to_position integer NOT NULL,
  recipients integer NOT NULL,
  settled_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (campaign_id, backup_at)
);

-- Objects of the file storage that hold, as gzip CSV, the recipients of a campaign or the messages of a workspace's month;
-- written by retention once the object is complete. The rows are deleted afterwards.
CREATE TABLE archive (
  key text COLLATE "C" PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspace (id),
  campaign_id uuid UNIQUE REFERENCES campaign (id) ON DELETE CASCADE,
  -- First day of the UTC month; NULL for a campaign.
  month date,
  -- Bytes of the object.
  size bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the last of its rows was deleted.
  removed_at timestamptz,
  -- Erasures requested until then are applied to the object; NULL before the first.
  erased_until timestamptz,
  UNIQUE (workspace_id, month),
  CHECK ((campaign_id IS NULL) <> (month IS NULL))
);
CREATE INDEX archive_open ON archive (created_at) WHERE removed_at IS NULL;

-- Erasures that the archives of the workspace have not followed yet; written by the last step of an erasure, deleted when all
-- archives are rewritten.
CREATE TABLE archive_erasure (
  contact_id uuid PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- The contact's id, number and provider ids: the texts by which archived rows are found.
  names text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now())
);
