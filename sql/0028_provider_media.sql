-- Files for headers of campaigns that were uploaded to the provider, each once for a channel: an id belongs to the number that
-- uploaded the file, and lives 30 days.
CREATE TABLE provider_media (
  channel_id uuid NOT NULL REFERENCES channel (id),
  -- SHA-256 of the bytes, in hexadecimal.
  sha256 text NOT NULL,
  media_type text NOT NULL,
  -- The provider's id.
  media_id text NOT NULL,
  uploaded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (channel_id, sha256, media_type)
);
CREATE INDEX provider_media_by_age ON provider_media (uploaded_at);
