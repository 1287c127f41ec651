-- How a channel sends: its rate, the campaigns that share it, and the provider's limit on different people.

-- The rate schedule (GCRA) and the circuit breaker of a channel; written by claims, single sends and recorded outcomes.
CREATE TABLE channel_rate (
  channel_id uuid PRIMARY KEY REFERENCES channel (id),
  -- Theoretical arrival time: when the next unleased token falls due.
  next_at timestamptz NOT NULL DEFAULT now(),
  -- 1 is the full rate; halved by the provider's throttling, recovers additively.
  factor double precision NOT NULL DEFAULT 1 CHECK (factor > 0 AND factor <= 1),
  factor_changed_at timestamptz NOT NULL DEFAULT now(),
  -- No token falls due before this instant: the provider asked for silence.
  silent_until timestamptz,
  -- Failed answers in a row, over all steps and processes.
  failure_count integer NOT NULL DEFAULT 0,
  -- How often in a row the circuit has opened; 0 means closed.
  times_opened smallint NOT NULL DEFAULT 0,
  -- End of the cool-down; then one message probes.
  open_until timestamptz,
  probed_at timestamptz,
  -- Median time to an answer of the provider, in ms.
  answer_ms double precision NOT NULL DEFAULT 100
) WITH (fillfactor = 10);

-- The send slots of a channel: a slot is a lease held by one send step, which loses it when it stops renewing. Written by
-- send steps. States: src/records/sending/slot-state.ts.
CREATE TABLE send_slot (
  channel_id uuid NOT NULL REFERENCES channel (id),
  slot_number smallint NOT NULL,
  campaign_id uuid NOT NULL,
  -- NULL while the slot is kept for the campaign's next step.
  step_id uuid,
  expires_at timestamptz NOT NULL,
  -- The campaign that may take the slot while its present step still sends.
  next_campaign_id uuid,
  handover_at timestamptz,
  PRIMARY KEY (channel_id, slot_number)
) WITH (fillfactor = 20);

-- The wait queue of a channel: running campaigns with their virtual time (start-time fair queueing). Written by send steps.
CREATE TABLE slot_queue (
  campaign_id uuid PRIMARY KEY REFERENCES campaign (id) ON DELETE CASCADE,
  channel_id uuid NOT NULL,
  -- Tokens used. A campaign joins at the lowest virtual time of the others.
  virtual_time bigint NOT NULL,
  -- False while the campaign sends, and once it has been signalled to acquire a slot.
  waiting boolean NOT NULL,
  waiting_since timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
CREATE INDEX slot_queue_channel ON slot_queue (channel_id, waiting);

-- People to whom an account with a messaging limit has sent in the last 24 hours; written by claims and single sends.
CREATE TABLE account_reach (
  business_account_id text COLLATE "C" NOT NULL,
  -- hashtextextended(the number, or for a person without one the contact's id, 0).
  person bigint NOT NULL,
  -- Start of the ten minutes in which the last message was sent.
  at timestamptz NOT NULL,
  PRIMARY KEY (business_account_id, person)
) WITH (fillfactor = 70);

-- How many rows of account_reach fall into each ten minutes, so that a claim adds up 145 rows instead of counting people.
-- Written together with account_reach.
CREATE TABLE account_reach_count (
  business_account_id text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  people integer NOT NULL,
  PRIMARY KEY (business_account_id, at)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
