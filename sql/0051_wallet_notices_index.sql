-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS wallet_watched ON wallet (channel_id) WHERE low_balance_threshold IS NOT NULL;
