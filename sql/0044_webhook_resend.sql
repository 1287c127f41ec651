-- Requests to send again what a webhook missed; written by the API, then by the loop that makes the deliveries.
CREATE TABLE webhook_resend (
  -- A version 7 id: deliveries with larger ids were made after the request.
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL,
  -- No foreign key, as in webhook_delivery: the resend of a deleted webhook is cancelled.
  webhook_id uuid NOT NULL,
  -- Failed deliveries that were created from `since` until before `until`.
  since timestamptz NOT NULL,
  until timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'completed', 'cancelled')),
  -- Failed deliveries of the span when the resend began; NULL beyond the number that is counted.
  total integer,
  -- The last failed delivery that was looked at, and how many there were.
  after_id uuid,
  seen integer NOT NULL DEFAULT 0,
  -- New deliveries that were made.
  resent integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
) WITH (fillfactor = 70);
-- One at a time for each webhook.
CREATE UNIQUE INDEX webhook_resend_running ON webhook_resend (webhook_id) WHERE state = 'running';
CREATE INDEX webhook_resend_list ON webhook_resend (webhook_id, id DESC);
