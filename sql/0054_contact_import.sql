-- Imports of contacts from a CSV; created by the API, advanced by the workflow of the import.
CREATE TABLE contact_import (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  workspace_id integer NOT NULL REFERENCES workspace (id),
  csv_file_key text NOT NULL,
  -- Bytes of the file.
  size bigint NOT NULL,
  -- Columns, tags and consent, validated before it is stored.
  mapping jsonb NOT NULL,
  mode text NOT NULL CHECK (mode IN ('create', 'update', 'both')),
  -- ISO 3166 alpha-2.
  default_country text COLLATE "C",
  dry_run boolean NOT NULL,
  state text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
  -- Why a FAILED import ended, as in campaign.preparation_error.
  error_code text,
  error_message text,
  -- Id of the API key; it stands in the register for the consents of the file.
  created_by text,
  -- Line on which the last row of the last committed batch begins; the batch's transaction writes it together with the counts.
  last_line integer NOT NULL DEFAULT 0,
  bytes_read bigint NOT NULL DEFAULT 0,
  rows integer NOT NULL DEFAULT 0,
  created integer NOT NULL DEFAULT 0,
  updated integer NOT NULL DEFAULT 0,
  unchanged integer NOT NULL DEFAULT 0,
  skipped integer NOT NULL DEFAULT 0,
  -- Rows whose opt-out was applied, and rows whose opt-in was recorded.
  opted_out integer NOT NULL DEFAULT 0,
  opted_in integer NOT NULL DEFAULT 0,
  -- {"<reason>": <skipped rows>}
  reasons jsonb NOT NULL DEFAULT '{}',
  -- Attempts that began since the last committed batch: a row that kills its worker ends the import.
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When a process last asked Temporal for the workflow.
  workflow_asked_at timestamptz,
  started_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
) WITH (fillfactor = 50);
CREATE INDEX contact_import_list ON contact_import (workspace_id, id DESC);
CREATE INDEX contact_import_open ON contact_import (id) WHERE state IN ('PENDING', 'RUNNING');
CREATE INDEX contact_import_file ON contact_import (csv_file_key);

-- What became of single rows: the first ones of each result. Nothing about the person but the contact's id, which an erasure leaves
-- without a person.
CREATE TABLE contact_import_row (
  import_id uuid NOT NULL REFERENCES contact_import (id) ON DELETE CASCADE,
  -- Line of the file on which the row begins.
  line integer NOT NULL,
  result text NOT NULL CHECK (result IN ('created', 'updated', 'skipped')),
  reason text,
  -- A cell in it is masked.
  detail text,
  contact_id uuid,
  PRIMARY KEY (import_id, line)
);
