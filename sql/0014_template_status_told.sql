-- When the provider says it changed the status that we hold: its callbacks come late, twice and in any order.
-- Nullable and without a default: no row is rewritten, and processes of the release before write the table as they did.
ALTER TABLE template ADD COLUMN status_told_at timestamptz;
