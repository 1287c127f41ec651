-- Workspaces take turns at the start of campaigns, and a process can take back claims of deliveries that it was not told of.

ALTER TABLE workflow_outbox
  -- NULL for a refresh, and in rows of 1.0.0, which are delivered as soon as they are written.
  ADD COLUMN workspace_id integer,
  -- When the workflow was last started. The row of a start is deleted when a worker begins with the campaign.
  ADD COLUMN started_at timestamptz;

-- The process whose claim made the delivery `sending`; NULL in rows of 1.0.0.
ALTER TABLE webhook_delivery ADD COLUMN claimed_by uuid;
