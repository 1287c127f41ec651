-- no-transaction
-- The register as a whole, newest first, and the entries of a number that was erased.
CREATE INDEX CONCURRENTLY IF NOT EXISTS contact_consent_list ON contact_consent (workspace_id, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS contact_consent_erased ON contact_consent (workspace_id, person_hash)
  WHERE person_hash IS NOT NULL;
