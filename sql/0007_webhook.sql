-- Events, the configurations subscribed to them, and one delivery (the single attempt) per event and configuration.

CREATE TABLE webhook_configuration (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  title text NOT NULL,
  url text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'inactive')),
  events text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 10),
  secret_encrypted bytea,
  -- Signs beside the present secret until it expires.
  previous_secret_encrypted bytea,
  previous_secret_expires_at timestamptz,
  -- Kept by the deliveries: how the receiver is doing.
  consecutive_failures integer NOT NULL DEFAULT 0,
  consecutive_timeouts integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, id)
) WITH (fillfactor = 50);
CREATE INDEX webhook_configuration_list ON webhook_configuration (workspace_id, created_at, id);

CREATE TABLE event (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  key text NOT NULL,
  -- The exact text of the request body: the envelope, serialised once.
  body text NOT NULL,
  occurred_at timestamptz NOT NULL DEFAULT now(),
  fanned_out_at timestamptz
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX event_waiting ON event (id) WHERE fanned_out_at IS NULL;
CREATE INDEX event_occurred_at ON event (occurred_at);

CREATE TABLE webhook_delivery (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  -- No foreign key to the configuration: a delivery outlives a deleted configuration in the log.
  webhook_id uuid NOT NULL,
  -- Nor to the event: both are removed by age, and a cascade would search the table once per event.
  event_id uuid NOT NULL,
  event_key text NOT NULL,
  cause text NOT NULL DEFAULT 'event' CHECK (cause IN ('event', 'resend', 'test')),
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'delivered', 'failed')),
  error_code text,
  response_status smallint,
  response_excerpt text,
  duration_ms integer,
  -- When the relay handed the delivery to its workflow.
  dispatched_at timestamptz,
  attempted_at timestamptz,
  -- A delivery still sending after this instant lost its process.
  sending_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE UNIQUE INDEX webhook_delivery_once ON webhook_delivery (event_id, webhook_id) WHERE cause = 'event';
CREATE INDEX webhook_delivery_log ON webhook_delivery (webhook_id, id DESC);
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (webhook_id, id) WHERE state = 'pending' AND dispatched_at IS NULL;
CREATE INDEX webhook_delivery_open ON webhook_delivery (webhook_id) WHERE state IN ('pending', 'sending') AND dispatched_at IS NOT NULL;
CREATE INDEX webhook_delivery_created_at ON webhook_delivery (created_at);
