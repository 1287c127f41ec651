-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_entry_month ON ledger_entry (channel_id, created_at) INCLUDE (amount);
