-- What a person agrees to receive: everything ('all'), everything but MARKETING ('no_marketing'), or nothing ('none').
--
-- Two decisions make it up, each with the time of the latest one, so that callbacks that arrive out of order end the same: whether
-- the person stopped messages of every kind (STOP, START), and whether MARKETING (the setting in the provider's app, START).
-- NULL: as 1.0.0 left the contact.
ALTER TABLE contact
  ADD COLUMN stop_all boolean,
  ADD COLUMN stop_all_at timestamptz,
  ADD COLUMN stop_marketing boolean,
  ADD COLUMN stop_marketing_at timestamptz,
  -- `subscribed` and `consent_at` follow from the decisions, and 1.0.0 goes on to read and write them alone. When it has written them
  -- since, they do not agree with the decisions, which then no longer count: to 1.0.0 an opt-out was from everything. No trigger is
  -- needed, and an import writes nothing more.
  ADD COLUMN consent text GENERATED ALWAYS AS (CASE
    WHEN subscribed THEN 'all'
    WHEN NOT stop_all AND stop_marketing AND consent_at IS NOT DISTINCT FROM greatest(stop_all_at, stop_marketing_at)
      THEN 'no_marketing'
    ELSE 'none' END) VIRTUAL;

-- The opt-out concerns MARKETING only.
ALTER TABLE opted_out_number ADD COLUMN marketing_only boolean NOT NULL DEFAULT false;
ALTER TABLE waiting_opt_out ADD COLUMN marketing_only boolean NOT NULL DEFAULT false;

-- The evidence. `at` is when the person decided.
ALTER TABLE contact_consent
  -- What the decision is about; NULL in entries of 1.0.0, which were about everything.
  ADD COLUMN category text CHECK (category IN ('ALL', 'MARKETING')),
  -- contact.consent after the decision; NULL in entries of 1.0.0.
  ADD COLUMN consent text CHECK (consent IN ('all', 'no_marketing', 'none')),
  -- What the person saw or wrote.
  ADD COLUMN text text,
  ADD COLUMN url text,
  ADD COLUMN language text,
  -- The API key that recorded it; NULL for a decision that came from the provider.
  ADD COLUMN recorded_by text,
  -- Source `import`. `source` says `api` then, because 1.0.0 reads no other.
  ADD COLUMN imported boolean NOT NULL DEFAULT false,
  -- HMAC-SHA256 of the number under the workspace's erasure_key; set by an erasure, so that the register still answers for the number.
  ADD COLUMN person_hash bytea CHECK (length(person_hash) = 32);

CREATE OR REPLACE FUNCTION clear_erased_contact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.username := '';
  UPDATE contact_consent SET text = NULL, url = NULL, language = NULL
  WHERE contact_id = NEW.id AND (text IS NOT NULL OR url IS NOT NULL OR language IS NOT NULL);
  RETURN NEW;
END $$;

-- What a person of the business should look at: 'asks_to_stop' when the contact wrote a sentence that may be an opt-out. Cleared when the
-- conversation is resolved or closed.
ALTER TABLE conversation ADD COLUMN labels text[] NOT NULL DEFAULT '{}';
