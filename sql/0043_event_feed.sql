-- The event feed: the committed events of a workspace, numbered without gaps, so that a reader can follow them.

-- A workspace that has switched its feed on at least once; written by the API and by the event fan-out.
CREATE TABLE event_feed (
  workspace_id integer PRIMARY KEY REFERENCES workspace (id),
  enabled boolean NOT NULL,
  -- Position of the last numbered event. Switching the feed on again skips a position, so that readers notice what is missing.
  last_position bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- Events that were numbered together; written by the event fan-out under the lock of the feed's row, removed by age.
CREATE TABLE event_feed_batch (
  workspace_id integer NOT NULL,
  -- Position of the last event of the batch; the others have the positions before it, in their order.
  last_position bigint NOT NULL,
  event_ids uuid[] NOT NULL CHECK (cardinality(event_ids) > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, last_position)
);
