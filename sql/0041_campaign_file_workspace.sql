-- no-transaction
-- What a workspace keeps is summed up at every upload.
CREATE INDEX CONCURRENTLY campaign_file_workspace ON campaign_file (workspace_id);
