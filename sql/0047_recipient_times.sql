-- When each status of a message was first told of. Nullable and without a default: no row is rewritten, and processes of the
-- release before write the table as they did.
ALTER TABLE recipient
  ADD COLUMN accepted_at timestamptz,
  ADD COLUMN sent_at timestamptz,
  ADD COLUMN delivered_at timestamptz,
  ADD COLUMN read_at timestamptz;
