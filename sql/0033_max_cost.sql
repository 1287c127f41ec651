-- The most that a campaign may cost, and refusals with codes that the table of codes does not list.

ALTER TABLE campaign
  -- Micro-units; NULL: no maximum.
  ADD COLUMN max_cost bigint CHECK (max_cost > 0),
  -- The maximum with which it was paused with MAX_COST: a start needs a higher one.
  ADD COLUMN max_cost_reached bigint;

ALTER TABLE notice
  DROP CONSTRAINT notice_kind_check,
  ADD CONSTRAINT notice_kind_check CHECK (kind IN ('template_status', 'template_category', 'channel_blocked', 'channel_quality',
    'messaging_limit', 'webhook_disabled', 'campaign_paused', 'campaign_failed', 'unlisted_code')) NOT VALID;

-- Codes that the provider has refused messages with and that the table of codes does not list, so that there is one notice for
-- each code and UTC day. Rows of earlier days are deleted by the next one of the workspace.
CREATE TABLE unlisted_refusal (
  workspace_id integer NOT NULL REFERENCES workspace (id),
  code integer NOT NULL,
  day date NOT NULL,
  PRIMARY KEY (workspace_id, code, day)
);
