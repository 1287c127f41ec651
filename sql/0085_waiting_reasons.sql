-- New reasons of a pause, and campaigns that wait behind busy workers.
ALTER TABLE campaign DROP CONSTRAINT campaign_pause_reason_check,
  ADD CONSTRAINT campaign_pause_reason_check CHECK (pause_reason IN
    ('INSUFFICIENT_BALANCE', 'BROADCAST_QUOTA', 'TEMPLATE_UNAVAILABLE', 'CHANNEL_BLOCKED', 'MESSAGE_REJECTED',
     'RECORD_RESTORED', 'OPERATOR')) NOT VALID;
-- queued: its next task waits, and workers take tasks.
ALTER TABLE campaign_standstill DROP CONSTRAINT campaign_standstill_kind_check,
  ADD CONSTRAINT campaign_standstill_kind_check CHECK (kind IN
    ('due', 'running', 'waiting', 'preparing', 'without_workflow', 'stuck', 'queued')) NOT VALID;
