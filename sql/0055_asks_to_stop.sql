-- Notices about a conversation whose contact asks to stop in a sentence.
ALTER TABLE notice
  DROP CONSTRAINT notice_kind_check,
  ADD CONSTRAINT notice_kind_check CHECK (kind IN ('template_status', 'template_category', 'channel_blocked', 'channel_quality',
    'messaging_limit', 'webhook_disabled', 'campaign_paused', 'campaign_failed', 'unlisted_code', 'low_balance', 'price_card',
    'asks_to_stop')) NOT VALID,
  DROP CONSTRAINT notice_subject_type_check,
  ADD CONSTRAINT notice_subject_type_check CHECK (subject_type IN ('template', 'channel', 'business_account', 'webhook', 'campaign',
    'conversation')) NOT VALID;
