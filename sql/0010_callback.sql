-- Callbacks of the provider, from their arrival until they are applied.

-- The raw bytes of a callback, in daily partitions (0012); written by the API before it answers 200.
CREATE TABLE provider_callback (
  id bigint GENERATED ALWAYS AS IDENTITY,
  body bytea NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- Why applying it failed for good; such a row is kept for inspection.
  error text,
  PRIMARY KEY (id, received_at)
) PARTITION BY RANGE (received_at);
-- Contains the id, so that this index, if the planner takes it, finds one callback without reading all that came with it.
CREATE INDEX provider_callback_received_at ON provider_callback (received_at, id);

-- Queue of callbacks to apply; written with provider_callback, deleted by the worker that applies them. A table of its own,
-- so that the row with the body is written once.
CREATE TABLE waiting_callback (
  id bigint PRIMARY KEY,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- Bytes of the body.
  size int NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.5);

-- Statuses of provider message ids that are not known yet; written when such a status is applied, and matched once our own
-- record of the message arrives.
CREATE TABLE unmatched_status (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel_id uuid NOT NULL REFERENCES channel (id),
  provider_message_id text COLLATE "C" NOT NULL,
  status text NOT NULL,
  body text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- Set when the event was emitted with messageSource unknown, or the status could not be applied. The row is kept until retention.
  emitted_at timestamptz,
  UNIQUE (channel_id, provider_message_id, status)
);
CREATE INDEX unmatched_status_waiting ON unmatched_status (received_at) WHERE emitted_at IS NULL;
CREATE INDEX unmatched_status_over ON unmatched_status (received_at) WHERE emitted_at IS NOT NULL;
