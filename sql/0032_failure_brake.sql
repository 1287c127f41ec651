-- The failure brake: a campaign whose messages fail pauses itself before the rest of its recipients are lost.

ALTER TABLE workspace ADD COLUMN failure_brake text NOT NULL DEFAULT 'default'
  CHECK (failure_brake IN ('off', 'default', 'strict'));

ALTER TABLE campaign
  -- Why it is paused with FAILURES (src/domain/sending/failure-brake.ts); of no meaning under another reason.
  ADD COLUMN pause_evidence jsonb,
  DROP CONSTRAINT campaign_pause_reason_check,
  ADD CONSTRAINT campaign_pause_reason CHECK (pause_reason IN
    ('INSUFFICIENT_BALANCE', 'BROADCAST_QUOTA', 'TEMPLATE_UNAVAILABLE', 'CHANNEL_BLOCKED', 'MESSAGE_REJECTED', 'RECORD_RESTORED',
     'OPERATOR', 'FAILURES', 'MAX_COST')) NOT VALID;

-- What the brake of a campaign has counted, and its gate. Written by whoever holds the campaign's row of campaign_counter locked.
CREATE TABLE campaign_brake (
  campaign_id uuid PRIMARY KEY REFERENCES campaign (id) ON DELETE CASCADE,
  -- Known outcomes since the campaign was last started by force or with a probe (src/domain/sending/failure-brake.ts).
  counts jsonb NOT NULL DEFAULT '{}',
  -- Reasons that no longer pause the campaign.
  ignored text[] NOT NULL DEFAULT '{}',
  -- A rule has decided that the campaign pauses; moved to campaign.pause_evidence by the pause.
  evidence jsonb,
  -- After this many messages sending waits for their statuses. NULL: it does not wait.
  gate_size integer CHECK (gate_size > 0),
  -- The campaign's sent messages and known outcomes when the gate was set.
  gate_sent integer NOT NULL DEFAULT 0,
  gate_known integer NOT NULL DEFAULT 0,
  -- The gate was set by `start` with a probe: its outcomes are judged when it opens.
  gate_is_probe boolean NOT NULL DEFAULT false,
  -- When the last message before the gate had left.
  gate_since timestamptz
) WITH (fillfactor = 50);

-- When a message of the template was last known to be delivered, to the hour; written with campaign_minute.
CREATE TABLE template_delivery (
  template_id uuid PRIMARY KEY REFERENCES template (id) ON DELETE CASCADE,
  delivered_at timestamptz NOT NULL
) WITH (fillfactor = 50);
