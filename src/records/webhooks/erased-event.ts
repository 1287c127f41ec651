/** Events of erased people: they keep their key and time, lose their data, and are delivered no more. */
import { sql, type FragmentSqlToken } from 'slonik';

/** The body of an erased event; of an `event` row. */
export const erasedBody = sql.fragment`
  json_build_object('eventKey', key, 'workspaceId', workspace_id, 'timestamp', occurred_at,
    'data', json_build_object('erased', true))::text`;

/** Postgres writes spaces around colons, our own serialisation never does: no other body ends like this. */
export const isErased = (body: FragmentSqlToken): FragmentSqlToken =>
  sql.fragment`${body} LIKE '%"data" : {"erased" : true}}'`;
