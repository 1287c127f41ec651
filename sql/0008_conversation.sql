-- Conversations, and messages outside campaigns: single sends, test messages and inbound ones.
-- A campaign's outbound messages are its recipient rows.

-- A contact's exchange with a channel; written by inbound messages and by the API.
CREATE TABLE conversation (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  channel_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'resolved', 'closed')),
  assignment_type text NOT NULL DEFAULT 'none' CHECK (assignment_type IN ('user', 'team', 'bot', 'none')),
  -- {"id", "name", "firstName", "lastName", "email"} or NULL
  assigned_to jsonb,
  chat_mode text NOT NULL DEFAULT 'manual' CHECK (chat_mode IN ('manual', 'bot', 'assistant')),
  closed_at timestamptz,
  last_message_at timestamptz,
  -- When the contact last wrote; a service window of 24 hours begins then.
  inbound_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id),
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id),
  FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id)
);
-- ANALYZE is to report a thousand conversations for each workspace. The reason stands beside contact (0003).
ALTER TABLE conversation ALTER COLUMN workspace_id SET (n_distinct = -0.001), ALTER COLUMN workspace_id SET STATISTICS 1;
CREATE UNIQUE INDEX conversation_current ON conversation (channel_id, contact_id) WHERE status <> 'closed';
CREATE INDEX conversation_list ON conversation (workspace_id, created_at DESC, id DESC);
CREATE INDEX conversation_contact ON conversation (contact_id);
CREATE INDEX conversation_recent ON conversation (workspace_id, last_message_at DESC NULLS LAST, id DESC);

-- A run of a chatbot or an assistant in a conversation; started by inbound messages, ended by a change of status.
CREATE TABLE responder_session (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  conversation_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('chatbot', 'assistant')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'exited')),
  started_at timestamptz NOT NULL DEFAULT now(),
  exited_at timestamptz,
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversation (workspace_id, id)
);
CREATE UNIQUE INDEX responder_session_active ON responder_session (conversation_id, kind) WHERE status = 'active';

-- A message outside campaigns; written by single sends, test messages and inbound callbacks.
CREATE TABLE message (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  channel_id uuid NOT NULL,
  direction text NOT NULL CHECK (direction IN ('outbound', 'inbound')),
  -- messageSource of the events: api, campaign (a campaign's test message), inbox, chatbot, assistant, app, unknown.
  source text NOT NULL,
  contact_id uuid,
  conversation_id uuid,
  -- Outbound: the campaign whose test message it is. Inbound: the campaign whose message it answers.
  campaign_id uuid,
  template_id uuid,
  phone_number text COLLATE "C",
  country text COLLATE "C" NOT NULL DEFAULT '',
  type text NOT NULL DEFAULT 'template',
  -- Inbound: the provider's message as JSON text, verbatim (it may hold what jsonb cannot).
  content text,
  state text NOT NULL CHECK (state IN
    ('CLAIMED', 'ACCEPTED', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'UNKNOWN', 'RECEIVED')),
  reason text,
  reason_detail text,
  price bigint NOT NULL DEFAULT 0 CONSTRAINT message_price_not_negative CHECK (price >= 0),
  settlement text NOT NULL DEFAULT 'none' CHECK (settlement IN ('none', 'reserved', 'charged', 'refunded')),
  provider_message_id text COLLATE "C",
  -- Bit set of provider statuses already recorded, as in recipient.
  statuses_seen smallint NOT NULL DEFAULT 0,
  provider_timestamp timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id),
  CONSTRAINT message_contact FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id),
  CONSTRAINT message_conversation FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversation (workspace_id, id),
  CONSTRAINT message_campaign FOREIGN KEY (workspace_id, campaign_id) REFERENCES campaign (workspace_id, id),
  CONSTRAINT message_template FOREIGN KEY (workspace_id, template_id) REFERENCES template (workspace_id, id)
) WITH (fillfactor = 80);
-- ANALYZE is to report ten thousand messages for each workspace, more than are read at once. The reason stands beside contact (0003).
ALTER TABLE message ALTER COLUMN workspace_id SET (n_distinct = -0.0001), ALTER COLUMN workspace_id SET STATISTICS 1;
CREATE UNIQUE INDEX message_inbound ON message (channel_id, provider_message_id) WHERE direction = 'inbound';
CREATE INDEX message_provider_message_id ON message (provider_message_id)
  WHERE direction = 'outbound' AND provider_message_id IS NOT NULL;
CREATE INDEX message_conversation ON message (conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX message_claimed ON message (created_at) WHERE state = 'CLAIMED';
-- Lists of messages, newest first: of a workspace, by state, and by what a message belongs to.
CREATE INDEX message_list ON message (workspace_id, created_at DESC, id DESC);
CREATE INDEX message_state ON message (workspace_id, state, created_at DESC, id DESC);
CREATE INDEX message_phone_number ON message (workspace_id, phone_number, created_at DESC, id DESC)
  WHERE phone_number IS NOT NULL;
CREATE INDEX message_of_contact ON message (contact_id, created_at DESC, id DESC) WHERE contact_id IS NOT NULL;
CREATE INDEX message_of_campaign ON message (campaign_id, created_at DESC, id DESC) WHERE campaign_id IS NOT NULL;
