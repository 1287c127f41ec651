/** Webhook configurations whose receiver takes nothing: for operators, over all workspaces. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row, timestamp } from '../database/row.ts';

/** Attempts in a row: a receiver that restarts fails a few. */
const failuresInARow = 10;

const FailingWebhook = row(
  t.type({ id: t.string, workspace_id: t.number, failing_since: timestamp, consecutive_failures: t.number }),
);

export function listFailingWebhooks(connection: Connection) {
  return connection.any(sql.type(FailingWebhook)`
    SELECT id, workspace_id, failing_since, consecutive_failures FROM webhook_configuration
    WHERE status = 'active' AND failing_since IS NOT NULL AND consecutive_failures >= ${failuresInARow}
    ORDER BY failing_since LIMIT 1000`);
}
