/** Events of erased people: they keep their key and time, lose their data, and are delivered no more. */
import { sql } from 'slonik';

/** The body of an erased event, from the columns of its `event` row. */
export const erasedBody = sql.fragment`
  json_build_object('eventKey', key, 'workspaceId', workspace_id, 'timestamp', occurred_at,
    'data', json_build_object('erased', true))::text`;

/**
 * True for an `event` row that is erased, and for one that the erasure job has yet to erase. Postgres writes spaces around
 * colons, our own serialisation never does: no other body ends like this.
 */
export const isErased = sql.fragment`(event.body LIKE '%"data" : {"erased" : true}}' OR EXISTS (
  SELECT FROM erasure CROSS JOIN LATERAL unnest(erasure.names) AS name
  WHERE erasure.workspace_id = event.workspace_id AND uuid_extract_timestamp(event.id) < erasure.requested_at
    AND strpos(event.body, name) > 0))`;
