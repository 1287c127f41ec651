-- A step that has had its turn calls the next campaign, and sends until that one takes its place.
-- Steps of the release before never look at it: they end their turns as they did.
ALTER TABLE channel_turn
  -- The campaign that may take the place while its step still sends.
  ADD COLUMN called uuid,
  ADD COLUMN called_at timestamptz;
