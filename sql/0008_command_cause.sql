-- The API request that caused a command, so that what its workflow does can be found by it, also when a worker delivers it.
-- Nullable and without a default: no row is rewritten, and processes of the release before write the table as they did.
ALTER TABLE workflow_command ADD COLUMN request_id text CHECK (length(request_id) <= 128);
