-- no-transaction
-- Who was skipped is found by number, too; the others are by recipient_phone_number.
CREATE INDEX CONCURRENTLY recipient_skipped_number ON recipient (campaign_id, phone_number) WHERE NOT sendable;
