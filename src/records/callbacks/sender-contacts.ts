/** Finds contacts the way the provider identifies people: by number, user id, or both. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import {
  type Consent,
  type ConsentCategory,
  consentCategories,
  consents,
} from '../../domain/contacts/consent.ts';
import { formsOfAll } from '../../domain/number-rules.ts';
import { stopsOf } from '../contacts/consents.ts';
import { contactsByNumber } from '../contacts/contacts.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

export interface Person {
  /** E.164 digits; null if the provider hides the number. */
  readonly phoneNumber: string | null;
  /** The number's digits as the provider writes them. */
  readonly waId: string | null;
  readonly providerUserId: string | null;
  /** The id in all linked portfolios. What a person sets in the app concerns one portfolio, so settings leave it out. */
  readonly parentUserId?: string | null;
}

const IncomingContact = t.type({
  id: t.string,
  phone_number: nullable(t.string),
  country: t.string,
  provider_user_id: nullable(t.string),
  chat_name: t.string,
  username: t.string,
  consent: oneOf(consents),
  deleted: t.boolean,
});
export type IncomingContact = t.TypeOf<typeof IncomingContact>;

const selection = sql.fragment`
  id, phone_number, country, provider_user_id, chat_name, username, consent, deleted_at IS NOT NULL AS deleted`;

/**
 * Locks the contacts that have the number or one of the ids, deleted ones included. More than one if a person was created under
 * several ids before the provider linked them.
 */
export async function lockPerson(
  connection: Connection,
  workspaceId: number,
  person: Person,
): Promise<readonly IncomingContact[]> {
  const { phoneNumber, providerUserId } = person;
  return connection.any(sql.type(row(IncomingContact))`
    SELECT ${selection} FROM contact
    -- Found by a number that an erasure took away while this waited for its lock: no longer this person.
    WHERE workspace_id = ${workspaceId} AND id IN (${idsOf(workspaceId, person)}) AND erased_at IS NULL
    ORDER BY (phone_number IS NOT DISTINCT FROM ${phoneNumber}::text) DESC,
      COALESCE(phone_number = ANY (${numbersOf(person)}), false) DESC,
      (provider_user_id IS NOT DISTINCT FROM ${providerUserId}::text) DESC, id
    FOR NO KEY UPDATE`);
}

/** Every form of the person's number. */
const numbersOf = ({ phoneNumber, waId }: Pick<Person, 'phoneNumber' | 'waId'>) =>
  sql.array(formsOfAll([phoneNumber, waId].filter((number) => number !== null)), 'text');

/** Ids of the contacts that have the person's number in any form, or one of the provider's ids. */
export const idsOf = (
  workspaceId: number,
  { phoneNumber, waId, providerUserId, parentUserId = null }: Person,
) => sql.fragment`
  SELECT contact.id FROM ${contactsByNumber(sql.fragment`(SELECT ${workspaceId}::int)`, sql.fragment`${numbersOf({ phoneNumber, waId })}`)}
  UNION
  SELECT id FROM contact WHERE workspace_id = ${workspaceId} AND provider_user_id = ${providerUserId}::text
  UNION
  SELECT contact_id FROM contact_identity
  WHERE workspace_id = ${workspaceId} AND provider_id IN (${waId}::text, ${providerUserId}::text, ${parentUserId}::text)`;

const ContactId = row(t.type({ id: t.string }));

/** Ids of the contacts that `lockPerson` would lock. */
export function listIdsOfPerson(
  connection: Connection,
  workspaceId: number,
  person: Person,
): Promise<readonly string[]> {
  return connection.anyFirst(sql.type(ContactId)`
    SELECT id FROM contact
    WHERE workspace_id = ${workspaceId} AND id IN (${idsOf(workspaceId, person)}) AND erased_at IS NULL ORDER BY id`);
}

/** Like `lockPerson`, by contact ids; an erased contact is never found again. */
export function lockContactsById(
  connection: Connection,
  workspaceId: number,
  contactIds: readonly string[],
): Promise<readonly IncomingContact[]> {
  return connection.any(sql.type(row(IncomingContact))`
    SELECT ${selection} FROM contact
    WHERE workspace_id = ${workspaceId} AND id = ANY(${sql.array(contactIds, 'uuid')}) AND erased_at IS NULL
    ORDER BY id FOR NO KEY UPDATE`);
}

export interface NewIncomingContact extends Person {
  readonly countryCode: string;
  readonly country: string;
  readonly chatName: string;
  readonly username: string;
}

/** Returns undefined if another transaction has just created the same person. */
export async function insertIncomingContact(
  connection: Connection,
  workspaceId: number,
  contact: NewIncomingContact & { readonly consent: Consent },
): Promise<IncomingContact | undefined> {
  const { subscribed, stopAll, stopMarketing } = stopsOf(contact.consent);
  const inserted = await connection.maybeOne(sql.type(row(IncomingContact))`
    INSERT INTO contact (workspace_id, phone_number, identity, country_code, country, provider_user_id, chat_name, username,
      subscribed, stop_all, stop_marketing, source)
    VALUES (${workspaceId}, ${contact.phoneNumber}, number_identity(${contact.phoneNumber}::text), ${contact.countryCode}, ${contact.country},
      ${contact.providerUserId}, ${contact.chatName}, ${contact.username}, ${subscribed}, ${stopAll}, ${stopMarketing}, 'incoming')
    ON CONFLICT DO NOTHING
    RETURNING ${selection}`);
  return inserted ?? undefined;
}

/** Updates a contact from an inbound message, and restores a deleted one. */
export async function updateIncomingContact(
  connection: Connection,
  workspaceId: number,
  {
    id,
    phoneNumber,
    countryCode,
    country,
    providerUserId,
    chatName,
    username,
  }: NewIncomingContact & { readonly id: string },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE contact SET deleted_at = NULL, updated_at = now(), chat_name = ${chatName}, username = ${username},
      country_code = CASE WHEN phone_number IS NULL THEN ${countryCode} ELSE country_code END,
      country = CASE WHEN phone_number IS NULL THEN ${country} ELSE country END,
      identity = CASE WHEN phone_number IS NULL THEN number_identity(${phoneNumber}::text) ELSE identity END,
      phone_number = COALESCE(phone_number, ${phoneNumber}::text),
      provider_user_id = COALESCE(provider_user_id, ${providerUserId}::text)
    WHERE workspace_id = ${workspaceId} AND id = ${id}`);
}

/** Returns false and changes nothing if the contact already has the number or another contact does. */
export async function moveContactToNumber(
  connection: Connection,
  workspaceId: number,
  {
    contactId,
    phoneNumber,
    countryCode,
    country,
  }: Pick<NewIncomingContact, 'countryCode' | 'country'> & {
    readonly contactId: string;
    readonly phoneNumber: string;
  },
): Promise<boolean> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE contact SET phone_number = ${phoneNumber}, identity = number_identity(${phoneNumber}::text), country_code = ${countryCode}, country = ${country},
      updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${contactId} AND NOT EXISTS (
      SELECT FROM ${contactsByNumber(sql.fragment`(SELECT ${workspaceId}::int)`, sql.fragment`${numbersOf({ phoneNumber, waId: null })}`)})`);
  return rowCount > 0;
}

/**
 * Records an opt-out of a contact that another transaction holds, so that claims skip it; the contact itself is updated
 * later. If the contact is opted out already, nothing is recorded: another worker may have applied this opt-out in the
 * meantime.
 */
export async function noteOptOut(
  connection: Connection,
  workspaceId: number,
  {
    person,
    category,
    at,
  }: { readonly person: Person; readonly category: ConsentCategory; readonly at: Date },
): Promise<void> {
  const marketingOnly = category === 'MARKETING';
  const isStopped = marketingOnly ? sql.fragment`NOT subscribed` : sql.fragment`consent = 'none'`;
  await connection.query(sql.type(nothing)`
    INSERT INTO waiting_opt_out AS waiting (workspace_id, contact_id, at, marketing_only)
    SELECT workspace_id, id, ${at.toISOString()}, ${marketingOnly} FROM contact
    WHERE workspace_id = ${workspaceId} AND id IN (${idsOf(workspaceId, person)}) AND NOT ${isStopped}
    -- The wider one counts until the callbacks are applied.
    ON CONFLICT (workspace_id, contact_id) DO UPDATE SET at = excluded.at, marketing_only = false
      WHERE waiting.marketing_only AND NOT excluded.marketing_only`);
}

const WaitingOptOut = t.type({
  workspaceId: t.number,
  contactId: t.string,
  category: oneOf(consentCategories),
  at: timestamp,
});
export type WaitingOptOut = t.TypeOf<typeof WaitingOptOut>;

/** Locks contacts whose opt-out waits, without those that another transaction has locked. */
export function lockWaitingOptOuts(connection: Connection, limit: number): Promise<readonly WaitingOptOut[]> {
  return connection.any(sql.type(row(WaitingOptOut))`
    SELECT waiting.workspace_id AS "workspaceId", waiting.contact_id AS "contactId", waiting.at,
      CASE WHEN waiting.marketing_only THEN 'MARKETING' ELSE 'ALL' END AS category
    FROM waiting_opt_out AS waiting
    CROSS JOIN LATERAL (
      SELECT FROM contact
      WHERE contact.workspace_id = waiting.workspace_id AND contact.id = waiting.contact_id AND erased_at IS NULL
      FOR NO KEY UPDATE SKIP LOCKED
    ) AS locked
    ORDER BY waiting.workspace_id, waiting.contact_id LIMIT ${limit}`);
}

/** Deletes opt-outs that are applied. */
export async function deleteWaitingOptOuts(
  connection: Connection,
  applied: readonly WaitingOptOut[],
): Promise<void> {
  await connection.query(sql.type(nothing)`
    DELETE FROM waiting_opt_out AS waiting
    USING ${sql.unnest(
      applied.map(({ workspaceId, contactId }) => [workspaceId, contactId]),
      ['int4', 'uuid'],
    )} AS applied (workspace_id, contact_id)
    WHERE waiting.workspace_id = applied.workspace_id AND waiting.contact_id = applied.contact_id`);
}
