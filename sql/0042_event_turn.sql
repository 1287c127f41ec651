-- no-transaction
-- Events become deliveries by workspace in turn: the first of each that wait.
CREATE INDEX CONCURRENTLY event_turn ON event (workspace_id, id) WHERE fanned_out_at IS NULL;
