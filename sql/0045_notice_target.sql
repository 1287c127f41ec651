-- Notices for programs: posted to an address of the workspace, and part of its event feed.

-- The address to which the notices of a workspace are posted; written by the API, the outcome by the loop that posts.
CREATE TABLE notice_target (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL UNIQUE REFERENCES workspace (id),
  url text NOT NULL,
  secret_encrypted bytea,
  -- The last attempt; error_code is NULL if it was delivered.
  attempted_at timestamptz,
  error_code text,
  response_status smallint,
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);

-- Notices that wait for their one attempt; written with the notice, deleted before the request is made.
CREATE TABLE notice_post (
  notice_id uuid PRIMARY KEY,
  workspace_id integer NOT NULL,
  -- The text of the request's body.
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX notice_post_workspace ON notice_post (workspace_id, notice_id);

-- In the transaction of the notice, whichever statement and release writes it; with the owner's rights, because the role of a running
-- 1.0.0 gets its rights to new tables only after the migration.
CREATE FUNCTION publish_notice() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_fed CONSTANT boolean := EXISTS (SELECT FROM public.event_feed WHERE workspace_id = NEW.workspace_id AND enabled);
  is_posted CONSTANT boolean := EXISTS (SELECT FROM public.notice_target WHERE workspace_id = NEW.workspace_id);
  body text;
BEGIN
  IF is_fed OR is_posted THEN
    body := json_build_object('eventKey', 'notice', 'workspaceId', NEW.workspace_id,
      'timestamp', to_char(NEW.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'data', json_build_object('kind', NEW.kind,
        'subject', json_build_object('type', NEW.subject_type, 'id', NEW.subject_id, 'name', NEW.subject_name),
        'message', NEW.message))::text;
  END IF;
  IF is_fed THEN
    INSERT INTO public.event (id, workspace_id, key, body, occurred_at)
    VALUES (NEW.id, NEW.workspace_id, 'notice', body, NEW.created_at);
  END IF;
  IF is_posted THEN
    INSERT INTO public.notice_post (notice_id, workspace_id, body) VALUES (NEW.id, NEW.workspace_id, body);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER publish_notice AFTER INSERT ON notice FOR EACH ROW EXECUTE FUNCTION publish_notice();
