-- no-transaction
-- Nothing reads these: messages of a conversation and entries of a campaign are not listed, the search of tags has an OR that
-- no index serves, and the id of a delivery is a time.
DROP INDEX CONCURRENTLY IF EXISTS message_conversation;
DROP INDEX CONCURRENTLY IF EXISTS ledger_entry_campaign;
DROP INDEX CONCURRENTLY IF EXISTS tag_search;
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_created_at;
-- The same without columns that no statement takes from it.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS contact_number ON contact (workspace_id, phone_number);
DROP INDEX CONCURRENTLY IF EXISTS contact_phone_number;
