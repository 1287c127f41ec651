-- How many of a prepared campaign's recipients are of each country, from its first one up to a position: every 5,000th and
-- the last. What all who wait will cost is told by the difference of two rows. A campaign that was prepared before has none.
CREATE TABLE campaign_countries (
  campaign_id uuid NOT NULL,
  position integer NOT NULL,
  counts jsonb NOT NULL,
  PRIMARY KEY (campaign_id, position)
);
