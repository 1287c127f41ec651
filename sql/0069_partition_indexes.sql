-- no-transaction deferred
-- What the partitions of 0070 have, built on the tables of before while others write them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_delivery_event ON webhook_delivery (event_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS provider_callback_key ON provider_callback (id, received_at);
