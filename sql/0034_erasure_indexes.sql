-- no-transaction
-- Finds what is held of one person. Rows that are sent are found by number in every campaign.
CREATE INDEX CONCURRENTLY message_phone_number ON message (workspace_id, phone_number) WHERE phone_number IS NOT NULL;
CREATE INDEX CONCURRENTLY recipient_skipped_contact ON recipient (contact_id) WHERE NOT sendable AND contact_id IS NOT NULL;
ALTER TABLE contact VALIDATE CONSTRAINT contact_known;
