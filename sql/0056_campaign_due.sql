-- no-transaction
-- Who should have begun is looked for four times a minute: from the few that are due instead of all that sleep. The status
-- already stands in other indexes, so that no update becomes dearer.
CREATE INDEX CONCURRENTLY campaign_due ON campaign (scheduled_at) WHERE status = 'SCHEDULED';
