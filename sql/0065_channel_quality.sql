-- What the provider told last of the quality of a number: LOW when it flagged it, GOOD when it took that back.
ALTER TABLE channel
  ADD COLUMN quality text CHECK (quality IN ('LOW', 'GOOD')),
  ADD COLUMN quality_told_at timestamptz;
