-- A running campaign that waits for its channel is looked at and not told as one that stands still. Rows of before hold to a
-- narrower check, so that there is nothing to validate.
ALTER TABLE campaign_standstill DROP CONSTRAINT campaign_standstill_kind_check,
  ADD CONSTRAINT campaign_standstill_kind_check
  CHECK (kind IN ('due', 'running', 'waiting', 'preparing', 'without_workflow', 'stuck')) NOT VALID;
