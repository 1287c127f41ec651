-- no-transaction deferred
-- What a release before 0.2.0 has stored and not applied waits where this one looks for it.
WITH found AS (
  SELECT id, received_at, octet_length(body) AS size FROM provider_callback WHERE applied_at IS NULL FOR UPDATE SKIP LOCKED
), told AS (
  UPDATE provider_callback SET applied_at = now() FROM found WHERE provider_callback.id = found.id
)
INSERT INTO waiting_callback (id, received_at, size) SELECT id, received_at, size FROM found;
-- What the partitions of 0070 have, built on the tables of before while others write them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_delivery_event ON webhook_delivery (event_id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS provider_callback_key ON provider_callback (id, received_at);
