-- no-transaction
-- What became of the messages to a contact, for conditions of segments and for the frequency cap. No column of it is ever updated,
-- so claims, outcomes and statuses do not write it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS recipient_contact ON recipient (contact_id, campaign_id)
  WHERE sendable AND contact_id IS NOT NULL;
