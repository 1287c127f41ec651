-- The first attempt since the URL was set that ended by itself and not by a time limit. An endpoint without one takes its
-- turns among the slow ones: many new endpoints that hang must not stand in the way of one that is known to answer.

ALTER TABLE webhook_configuration ADD COLUMN proven_at timestamptz;
UPDATE webhook_configuration SET proven_at = now() WHERE consecutive_timeouts = 0;
