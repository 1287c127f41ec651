-- no-transaction
-- Finds what was sent to people who have no number, by contact.
CREATE INDEX CONCURRENTLY IF NOT EXISTS recipient_without_number ON recipient (contact_id)
  WHERE sendable AND phone_number IS NULL AND contact_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS message_without_number ON message (contact_id)
  WHERE phone_number IS NULL AND contact_id IS NOT NULL;
