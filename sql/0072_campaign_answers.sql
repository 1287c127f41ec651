-- What people did within 30 days of a campaign's message. Each recipient once: `recipient_answer` is the mark, `campaign_answer` the
-- sum by hour. Written last in the transaction of a callback, in the order of the key; no other transaction locks both.
CREATE TABLE campaign_answer (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('replied', 'opted_out', 'button')),
  -- The place of the button in the template, from 0; -1 for the other kinds.
  button smallint NOT NULL,
  -- The hour of the answer.
  at timestamptz NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (campaign_id, kind, button, at)
) WITH (fillfactor = 50);

-- Deleted with the campaign's recipients.
CREATE TABLE recipient_answer (
  campaign_id uuid NOT NULL REFERENCES campaign (id) ON DELETE CASCADE,
  position integer NOT NULL,
  kind text NOT NULL,
  button smallint NOT NULL,
  PRIMARY KEY (campaign_id, position, kind, button)
);
