-- no-transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS message_expiry ON message (expires_at)
  WHERE direction = 'outbound' AND settlement IN ('reserved', 'charged') AND state IN ('ACCEPTED', 'SENT', 'UNKNOWN');
