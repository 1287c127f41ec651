-- When the provider last refused a message because the template is paused, to within five minutes. NULL: it has not.
ALTER TABLE template ADD COLUMN refused_as_paused_at timestamptz;
