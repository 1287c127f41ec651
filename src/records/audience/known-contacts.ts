/** Reads the contacts of an audience for a dry run: takes no lock and writes nothing. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { KnownContact } from '../../domain/audience/audience-contact.ts';
import { customFieldsNamed } from '../contacts/message-fields.ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';

const Known = row(
  t.type({
    phone: t.string,
    id: t.string,
    firstName: t.string,
    lastName: t.string,
    email: t.string,
    subscribed: t.boolean,
    deleted: t.boolean,
    customFields: t.union([t.record(t.string, t.string), t.null]),
  }),
);

/** Finds contacts by the digits of their numbers. */
export async function findKnownContacts(
  connection: Connection,
  workspaceId: number,
  numbers: readonly string[],
  /** The custom fields to read. */
  customFields: readonly string[],
): Promise<ReadonlyMap<string, KnownContact>> {
  const found = await connection.any(sql.type(Known)`
    SELECT phone_number AS phone, id, first_name AS "firstName", last_name AS "lastName", email, subscribed,
      deleted_at IS NOT NULL AS deleted, ${customFieldsNamed(customFields)} AS "customFields"
    FROM contact
    WHERE workspace_id = ${workspaceId} AND phone_number = ANY (${sql.array(numbers, 'text')})`);
  return new Map(
    found.map(({ phone, customFields: fields, ...contact }) => [
      phone,
      { ...contact, customFields: fields ?? {} },
    ]),
  );
}
