-- Campaigns of a channel send in turns, and trouble of the provider is the channel's (docs/decisions/0060-turns-and-tokens.md).
-- Processes of the release before send without a turn and see no trouble; what they write stays as it was.

-- Who sends on a channel at present: a place is taken by one step of sending and lost by whoever does not renew it.
CREATE TABLE channel_turn (
  channel_id uuid NOT NULL REFERENCES channel (id),
  place smallint NOT NULL,
  campaign_id uuid NOT NULL,
  -- The step; NULL while the place is kept for the campaign's next step.
  step_id uuid,
  until timestamptz NOT NULL,
  PRIMARY KEY (channel_id, place)
) WITH (fillfactor = 20);

-- Campaigns that want to send on a channel.
CREATE TABLE channel_queue (
  campaign_id uuid PRIMARY KEY REFERENCES campaign (id) ON DELETE CASCADE,
  channel_id uuid NOT NULL,
  -- Tokens taken; a campaign that joins begins level with the one that has taken least.
  used bigint NOT NULL,
  -- False while it sends, and once it has been called.
  waiting boolean NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
CREATE INDEX channel_queue_channel ON channel_queue (channel_id, waiting);

ALTER TABLE channel_rate
  -- Troubled answers in a row, over all steps and processes.
  ADD COLUMN troubles integer NOT NULL DEFAULT 0,
  -- How often in a row the channel has been held; 0 is not held.
  ADD COLUMN holds smallint NOT NULL DEFAULT 0,
  -- Nobody sends before; then one message tries whether the trouble is over.
  ADD COLUMN trouble_until timestamptz,
  ADD COLUMN tried_at timestamptz,
  -- The median time of an answer.
  ADD COLUMN answer_ms double precision NOT NULL DEFAULT 100;
