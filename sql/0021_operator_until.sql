-- Until when the operator's key that was added to a session counts. NULL: added by a release without this limit; it no longer counts.
ALTER TABLE operator_session ADD COLUMN operator_until timestamptz;
