-- When the person opted out: a later opt-in must not be overruled by the time at which the opt-out is applied.
ALTER TABLE waiting_opt_out ADD COLUMN at timestamptz NOT NULL DEFAULT now();
