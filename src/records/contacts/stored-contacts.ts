/** Contacts as they are read to be changed: locked, with the time for the change. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Contact } from '../../domain/contacts/contact.ts';
import { NotFound } from '../../domain/error.ts';
import { ContactFields, contactSelection } from './contacts.ts';
import type { Connection, Transaction } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

export interface StoredContact {
  readonly workspaceId: number;
  readonly contact: Contact;
  /** Time of the reading on Postgres' clock. */
  readonly readAt: Date;
}

const Stored = t.type({
  ...ContactFields.props,
  workspaceId: t.number,
  readAt: timestamp,
});

const storedSelection = sql.fragment`${contactSelection}, contact.workspace_id AS "workspaceId", statement_timestamp() AS "readAt"`;

const toStored = ({ workspaceId, readAt, ...contact }: t.TypeOf<typeof Stored>): StoredContact => ({
  workspaceId,
  contact,
  readAt,
});

/** Locks the contact until the transaction ends. Throws NotFound, also for a deleted one. */
export async function lockContact(
  connection: Transaction,
  workspaceId: number,
  contactId: string,
): Promise<StoredContact> {
  const found = await connection.maybeOne(sql.type(row(Stored))`
    SELECT ${storedSelection} FROM contact
    WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${contactId} AND deleted_at IS NULL
    FOR NO KEY UPDATE`);
  if (found === null) throw new NotFound('Contact');
  return toStored(found);
}

/** Locks the deleted contact with the number; undefined when there is none. */
export async function lockDeletedContact(
  connection: Transaction,
  workspaceId: number,
  phoneNumber: string,
): Promise<StoredContact | undefined> {
  const found = await connection.maybeOne(sql.type(row(Stored))`
    SELECT ${storedSelection} FROM contact
    WHERE workspace_id = (SELECT ${workspaceId}::int) AND phone_number = ${phoneNumber} AND deleted_at IS NOT NULL
    FOR NO KEY UPDATE`);
  return found === null ? undefined : toStored(found);
}

const NumberUse = t.type({
  use: nullable(t.keyof({ present: null, deleted: null })),
  id: t.string,
  at: timestamp,
});
export type NumberUse = t.TypeOf<typeof NumberUse>;

/** Whether a contact of the workspace has the number, and an id and a time for a new contact with it. */
export function findNumberUse(connection: Connection, workspaceId: number, phoneNumber: string) {
  return connection.one(sql.type(row(NumberUse))`
    SELECT uuidv7() AS id, statement_timestamp() AS at, (
      SELECT CASE WHEN deleted_at IS NULL THEN 'present' ELSE 'deleted' END FROM contact
      WHERE workspace_id = (SELECT ${workspaceId}::int) AND phone_number = ${phoneNumber}) AS use`);
}
