/** Contacts that the provider identifies by its own user id. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { countryOfUserId } from '../../domain/callbacks/provider-number.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

/** The current user id of a contact: the newest one if it has changed. Nothing can be sent to a parent id (`DE.ENT.…`). */
export const userIdOf = (workspaceId: FragmentSqlToken, contactId: FragmentSqlToken) => sql.fragment`COALESCE(
  (SELECT provider_id FROM contact_identity WHERE contact_identity.contact_id = ${contactId} AND provider_id !~ '^([0-9]+$|[A-Z]{2}[.]ENT[.])'
    ORDER BY learned_at DESC LIMIT 1),
  (SELECT provider_user_id FROM contact AS known WHERE known.workspace_id = ${workspaceId} AND known.id = ${contactId}))`;

const Address = row(
  t.type({ id: t.string, phone_number: nullable(t.string), country: t.string, user_id: t.string }),
);

export interface Address {
  /** Digits of E.164, or else the user id. */
  readonly to: string;
  readonly country: string;
  /** Set for a contact without a number. */
  readonly contactId?: string;
}

/**
 * Returns the recipient address of a user id: the contact's number, or else the id itself. Undefined when no contact has the
 * id.
 */
export async function findAddressOfUser(
  connection: Connection,
  workspaceId: number,
  userId: string,
): Promise<Address | undefined> {
  const found = await connection.maybeOne(sql.type(Address)`
    SELECT id, phone_number, country, ${userIdOf(sql.fragment`contact.workspace_id`, sql.fragment`contact.id`)} AS user_id
    FROM contact
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL AND id IN (
      SELECT id FROM contact WHERE workspace_id = ${workspaceId} AND provider_user_id = ${userId}
      UNION ALL
      SELECT contact_id FROM contact_identity
      WHERE workspace_id = ${workspaceId} AND provider_id = ${userId} AND provider_id !~ '^[0-9]+$')
    ORDER BY phone_number IS NULL, id LIMIT 1`);
  if (found === null) return undefined;
  const { id, phone_number: phoneNumber, country, user_id: to } = found;
  return phoneNumber === null
    ? { to, country: country === '' ? countryOfUserId(to) : country, contactId: id }
    : { to: phoneNumber, country };
}
