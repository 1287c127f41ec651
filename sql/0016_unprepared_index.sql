-- no-transaction
-- Scheduled campaigns that are still to be prepared: the watch looks for those among them that have lost their workflow.
CREATE INDEX CONCURRENTLY IF NOT EXISTS campaign_unprepared ON campaign (scheduled_at)
  WHERE status = 'SCHEDULED' AND preparation_status = 'PREPARING';
