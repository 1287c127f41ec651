-- no-transaction
-- What failed of all configurations of a workspace, newest first; few rows of many.
CREATE INDEX CONCURRENTLY webhook_delivery_failed ON webhook_delivery (workspace_id, id DESC) WHERE state = 'failed';
