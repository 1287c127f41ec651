/** The opt-outs and opt-ins of contacts. They are written by the statements that change `contact.subscribed`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import type { Connection } from '../database/database.ts';
import { row, timestamp } from '../database/row.ts';

interface PageRequest {
  /** The last row of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

const Consent = t.type({
  id: t.string,
  subscribed: t.boolean,
  source: oneOf(['person', 'api']),
  at: timestamp,
});
export type Consent = t.TypeOf<typeof Consent>;

/** Newest first; one more than `limit`, if there are as many. */
export function listConsents(
  connection: Connection,
  { workspaceId, contactId }: { readonly workspaceId: number; readonly contactId: string },
  { after, limit }: PageRequest,
): Promise<readonly Consent[]> {
  const isBehind = after === undefined ? sql.fragment`TRUE` : sql.fragment`id < ${after}`;
  return connection.any(sql.type(row(Consent))`
    SELECT id, subscribed, source, at FROM contact_consent
    WHERE workspace_id = ${workspaceId} AND contact_id = ${contactId} AND ${isBehind}
    ORDER BY id DESC LIMIT ${limit + 1}`);
}
