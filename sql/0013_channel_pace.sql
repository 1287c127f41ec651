-- The share of a channel's rate that the provider's answers let through, 0 to 1, and when it was measured. NULL: all of it.
ALTER TABLE channel_rate ADD COLUMN pace_share double precision CHECK (pace_share >= 0 AND pace_share <= 1);
ALTER TABLE channel_rate ADD COLUMN pace_measured_at timestamptz;
