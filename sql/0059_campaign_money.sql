-- What a campaign was expected to cost, and what of it came back or was free. A table of its own: 1.0.0 reads every column of
-- campaign_counter as a state.
CREATE TABLE campaign_money (
  campaign_id uuid PRIMARY KEY,
  -- Micro-units: the most that its recipients could cost when it began; NULL if an earlier release began it.
  estimate bigint,
  -- Micro-units that were charged and given back.
  given_back bigint NOT NULL DEFAULT 0,
  -- Delivered messages that cost nothing.
  free_messages integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
