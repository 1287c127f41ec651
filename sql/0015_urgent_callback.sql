-- Callbacks that may hold somebody's opt-out are applied before statuses. Written by the API; rows of 1.0.0 have the default.
ALTER TABLE waiting_callback ADD COLUMN urgent boolean NOT NULL DEFAULT false;
