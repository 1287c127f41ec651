-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS workflow_outbox_campaign ON workflow_outbox (campaign_id);
-- Ordered by time, which no other index is: none but this one finds the first starts of a workspace.
CREATE INDEX CONCURRENTLY IF NOT EXISTS workflow_outbox_turn ON workflow_outbox (workspace_id, created_at, id)
  WHERE kind = 'start' AND workspace_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS workflow_outbox_message ON workflow_outbox (id) WHERE workspace_id IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS workflow_outbox_started ON workflow_outbox (started_at) WHERE started_at IS NOT NULL;
-- Serves the number of a workspace's campaigns that are not finished or not prepared, which every creation reads.
CREATE INDEX CONCURRENTLY IF NOT EXISTS campaign_unfinished ON campaign (workspace_id, preparation_status)
  WHERE status IN ('DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED');
