-- Requests of API keys, for their owners; written in batches by the API processes, kept for seven days.
CREATE TABLE request_log (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  key_id text NOT NULL,
  at timestamptz NOT NULL,
  method text NOT NULL,
  -- The declared path with its ids filled in; never a query string, a number or a name.
  path text NOT NULL,
  status smallint NOT NULL,
  error_code text,
  request_id text NOT NULL,
  duration_ms integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX request_log_list ON request_log (workspace_id, id DESC);
CREATE INDEX request_log_key ON request_log (workspace_id, key_id, id DESC);
CREATE INDEX request_log_failed ON request_log (workspace_id, id DESC) WHERE status >= 400;
