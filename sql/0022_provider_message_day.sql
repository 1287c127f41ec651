-- Ids of the provider by day: those of today stand side by side in the index, and retention removes whole days. A hash alone
-- wrote to pages of all history. The default fills the column, also for processes of the release before; no row is rewritten.
ALTER TABLE provider_message ADD COLUMN day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date;
