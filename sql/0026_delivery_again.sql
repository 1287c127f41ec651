-- no-transaction
-- What was delivered once more, by its event: few of many. The first delivery of each has an index already.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_delivery_again ON webhook_delivery (event_id) WHERE cause <> 'event';
