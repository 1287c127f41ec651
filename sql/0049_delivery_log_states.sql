-- no-transaction
-- What is over of a configuration, by the way it ended: of a log of millions few may have failed, or been delivered.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_delivery_settled ON webhook_delivery (webhook_id, state, id DESC)
  WHERE state IN ('delivered', 'failed');
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_failed;
