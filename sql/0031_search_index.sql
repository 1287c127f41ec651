-- no-transaction
-- Contacts whose names are more than one plain word each; the indexes of the columns find all others. An import of plain names does
-- not write it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS contact_words ON contact
  USING gin (contact_search_words(workspace_id, first_name || ' ' || last_name || ' ' || chat_name))
  WHERE first_name || last_name || chat_name ~ '[^A-Za-z0-9]';
