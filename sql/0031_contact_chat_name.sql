-- no-transaction
-- People who wrote to us are known by the name they gave themselves: the search finds it like the other names.
CREATE INDEX CONCURRENTLY contact_chat_name ON contact (workspace_id, (lower(chat_name) COLLATE "C"), id)
  WHERE chat_name <> '';
