-- Outbound webhooks: configurations, events, and one delivery (the single attempt) per event and configuration.

-- A subscription to events; written by the API. Recorded outcomes of deliveries write the health columns.
CREATE TABLE webhook_configuration (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  title text NOT NULL,
  url text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'inactive', 'disabled')),
  -- Set if and only if the service itself disabled the webhook.
  disabled_reason text CHECK (disabled_reason IN ('failing')),
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  secret_encrypted bytea,
  -- Signs in addition to the present secret until it expires.
  previous_secret_encrypted bytea,
  previous_secret_expires_at timestamptz,
  consecutive_failures integer NOT NULL DEFAULT 0,
  consecutive_timeouts integer NOT NULL DEFAULT 0,
  -- First and last failure that no success has followed.
  failing_since timestamptz,
  last_failed_at timestamptz,
  -- Outcomes of the last 20 attempts, the newest last: S for delivered, F for failed.
  recent_outcomes text NOT NULL DEFAULT '',
  -- First attempt since the URL was set that did not run into a time limit. Without one the endpoint counts as slow.
  proven_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL))
) WITH (fillfactor = 50);
CREATE INDEX webhook_configuration_list ON webhook_configuration (workspace_id, created_at, id);
CREATE INDEX webhook_configuration_failing ON webhook_configuration (failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX webhook_configuration_impaired ON webhook_configuration (id)
  WHERE status = 'disabled' OR recent_outcomes LIKE '%F%';

-- Events, in daily partitions (0012); written in the transaction of the change where a configuration subscribes. No foreign key
-- to workspace: the writer has the id from a row that references it, and workspaces are never deleted.
CREATE TABLE event (
  id uuid DEFAULT uuidv7() PRIMARY KEY,
  workspace_id integer NOT NULL,
  key text NOT NULL,
  -- The exact text of the request body: the envelope, serialised once.
  body text NOT NULL,
  occurred_at timestamptz NOT NULL DEFAULT now(),
  fanned_out_at timestamptz
) PARTITION BY RANGE (id);
CREATE INDEX event_waiting ON event (id) WHERE fanned_out_at IS NULL;
-- The first waiting events of each workspace.
CREATE INDEX event_waiting_workspace ON event (workspace_id, id) WHERE fanned_out_at IS NULL;

-- The one attempt to deliver an event to a configuration, in daily partitions (0012); written by the fan-out of events, then
-- by the delivery scheduler and the attempt.
CREATE TABLE webhook_delivery (
  id uuid DEFAULT uuidv7() PRIMARY KEY,
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
  -- When the scheduler handed the delivery to its workflow.
  dispatched_at timestamptz,
  attempted_at timestamptz,
  -- A delivery still sending after this instant lost its process.
  sending_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (id);
CREATE INDEX webhook_delivery_log ON webhook_delivery (webhook_id, id DESC);
-- One index for each state: a common index with the state as its second column costs the planner more than the whole log.
CREATE INDEX webhook_delivery_delivered ON webhook_delivery (webhook_id, id DESC) WHERE state = 'delivered';
CREATE INDEX webhook_delivery_failed ON webhook_delivery (webhook_id, id DESC) WHERE state = 'failed';
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);
-- The hash comes first: a scheduler reads only the shards that it has locked, which are ranges of the hash.
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (uuid_hash(webhook_id), webhook_id, id)
  WHERE state = 'pending' AND dispatched_at IS NULL;
CREATE INDEX webhook_delivery_open ON webhook_delivery (uuid_hash(webhook_id), id)
  WHERE state IN ('pending', 'sending') AND dispatched_at IS NOT NULL;

-- Heartbeats of the processes that schedule deliveries; written by each of them.
CREATE TABLE webhook_scheduler (
  id uuid PRIMARY KEY,
  seen_at timestamptz NOT NULL
);
