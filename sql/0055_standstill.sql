-- Campaigns that should move and do not, as a worker sees them four times a minute. Small: what moves again goes.
CREATE TABLE campaign_standstill (
  campaign_id uuid PRIMARY KEY,
  -- 'due': it should have begun. 'running': nothing of it was claimed for a while. 'preparing': only to be looked at.
  -- 'without_workflow': nothing would happen to it. 'stuck': its workflow cannot go on.
  kind text NOT NULL CHECK (kind IN ('due', 'running', 'preparing', 'without_workflow', 'stuck')),
  since timestamptz NOT NULL DEFAULT now(),
  -- When Temporal was asked about it.
  looked_at timestamptz
) WITH (fillfactor = 50);

-- One row: who looks next takes the turn, whichever worker it is.
CREATE TABLE campaign_watch (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  next_at timestamptz NOT NULL DEFAULT now(),
  -- When the last round began that came to its end.
  looked_at timestamptz
) WITH (fillfactor = 10);
INSERT INTO campaign_watch DEFAULT VALUES;
