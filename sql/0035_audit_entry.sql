-- Who did what: written in the transaction of the change. No person's data.
CREATE TABLE audit_entry (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- The API key that did it, or the operator's command; neither where the product did it itself.
  key_id text COLLATE "C",
  command text,
  action text NOT NULL,
  object_id text NOT NULL,
  request_id text,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_entry_list ON audit_entry (workspace_id, id DESC);
CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OR DELETE ON audit_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
