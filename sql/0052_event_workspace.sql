-- Half the time of a bulk of events went into looking up and locking their one workspace. Workspaces stay (0010), and whoever
-- writes an event has the workspace from a row that is tied to it.
ALTER TABLE event DROP CONSTRAINT event_workspace_id_fkey;
