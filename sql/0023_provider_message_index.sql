-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS provider_message_day ON provider_message (day, hash);
DROP INDEX CONCURRENTLY IF EXISTS provider_message_hash;
CREATE INDEX CONCURRENTLY IF NOT EXISTS parked_status_over ON parked_status (parked_at) WHERE emitted_at IS NOT NULL;
