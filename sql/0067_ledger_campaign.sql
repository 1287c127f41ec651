-- no-transaction
-- What a campaign cost is summed up for its record: without the index all entries of everybody were read for it. A page of
-- recipients is one entry.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_entry_campaign ON ledger_entry (campaign_id) INCLUDE (amount) WHERE campaign_id IS NOT NULL;
