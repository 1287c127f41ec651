-- Callbacks that wait to be applied: whoever applies one removes it here, so that the body is written once and stays where it is.
-- In provider_callback itself applied_at IS NULL is waiting as well: that is how the release before stores and finds them.
-- This release sets it at once, for that release to leave them alone.
CREATE TABLE waiting_callback (
  id bigint PRIMARY KEY,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- Bytes of the body.
  size int NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.5);
