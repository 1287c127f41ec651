/** Finds the data of one person, for an export or for an erasure. */
import { type FragmentSqlToken, sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { bytes, nothing, nullable, row } from '../database/row.ts';
import { oneOf } from '../../codecs/struct.ts';
import { formsOf, formsOfAll } from '../../domain/number-rules.ts';
import { type Consent, type ConsentDecision, consents, strictest } from '../../domain/contacts/consent.ts';
import { queueErasure } from './erasure-job.ts';
import { clearMessages, clearRecipients, messagesOf, recipientsOf } from './person-rows.ts';

const Known = t.type({
  id: t.string,
  phoneNumber: nullable(t.string),
  /** Numbers that the contact had before; other people may have them now. */
  formerNumbers: t.array(t.string),
  /** All provider ids, including the forms of the number. */
  providerIds: t.array(t.string),
});
export type KnownPerson = t.TypeOf<typeof Known>;

/** The number in every form and the ids by which the provider knows a person, each once; the form that is stored first. */
export function namesOf({ phoneNumber, providerIds }: KnownPerson): readonly string[] {
  const numbers = phoneNumber === null ? [] : [phoneNumber, ...formsOf(phoneNumber)];
  return [...new Set([...numbers, ...providerIds])];
}

/** Returns undefined if there is no such contact or all its data is erased. Also finds deleted contacts. */
export async function findKnownPerson(
  connection: Connection,
  workspaceId: number,
  contactId: string,
): Promise<KnownPerson | undefined> {
  const found = await connection.maybeOne(sql.type(row(Known))`
    SELECT id, phone_number AS "phoneNumber", COALESCE(former_numbers, '{}') AS "formerNumbers", ARRAY(
        SELECT contact.provider_user_id WHERE contact.provider_user_id IS NOT NULL
        UNION SELECT provider_id FROM contact_identity WHERE contact_id = contact.id) AS "providerIds"
    -- The subquery hides the id from the planner. If its statistics do not contain the workspace yet, it would expect no rows for
    -- it, and take any index that begins with workspace_id.
    FROM contact WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${contactId} AND erased_at IS NULL`);
  return found ?? undefined;
}

/** Every form of the person's number. */
const currentNumbers = ({ phoneNumber }: KnownPerson) =>
  sql.array(phoneNumber === null ? [] : formsOf(phoneNumber), 'text');

/** Those of former numbers, too. */
const numbersOf = ({ phoneNumber, formerNumbers }: KnownPerson): readonly string[] =>
  formsOfAll(phoneNumber === null ? formerNumbers : [phoneNumber, ...formerNumbers]);

interface PersonScope {
  readonly workspaceId: number;
  readonly person: KnownPerson;
}

const recipientsOfPerson = ({ workspaceId, person }: PersonScope) =>
  recipientsOf({
    workspaceId,
    contactId: person.id,
    isTheirs: sql.fragment`phone_number = ANY (${sql.array(numbersOf(person), 'text')})
      AND (phone_number = ANY (${currentNumbers(person)}) OR contact_id = ${person.id})`,
  });

const messagesOfPerson = ({ workspaceId, person }: PersonScope) =>
  messagesOf({
    workspaceId,
    contactId: sql.fragment`${person.id}`,
    numbers: sql.fragment`${currentNumbers(person)}`,
  });

interface PersonList {
  readonly name: string;
  /** A query of ids, in order. */
  readonly ids: FragmentSqlToken;
  /** The row of an id as JSON. */
  readonly record: FragmentSqlToken;
  readonly table: FragmentSqlToken;
}

const listsOf = (scope: PersonScope): readonly PersonList[] => [
  {
    name: 'consents',
    ids: sql.fragment`SELECT id FROM contact_consent WHERE contact_id = ${scope.person.id} ORDER BY id`,
    record: sql.fragment`jsonb_build_object('subscribed', subscribed,
      'consent', COALESCE(consent, CASE WHEN subscribed THEN 'all' ELSE 'none' END), 'category', COALESCE(category, 'ALL'),
      'source', CASE WHEN imported THEN 'import' ELSE source END, 'text', text, 'url', url, 'language', language,
      'recorded_by', recorded_by, 'at', at)`,
    table: sql.fragment`contact_consent`,
  },
  {
    name: 'conversations',
    ids: sql.fragment`SELECT id FROM conversation WHERE contact_id = ${scope.person.id} ORDER BY created_at, id`,
    record: sql.fragment`jsonb_build_object('id', id, 'channelId', channel_id, 'status', status, 'createdAt', created_at,
      'lastMessageAt', last_message_at)`,
    table: sql.fragment`conversation`,
  },
  {
    name: 'messages',
    ids: sql.fragment`SELECT id FROM message WHERE id = ANY (ARRAY(${messagesOfPerson(scope)})) ORDER BY created_at, id`,
    record: sql.fragment`jsonb_build_object('id', id, 'channelId', channel_id, 'direction', direction, 'type', type,
      'state', state, 'content', content, 'templateId', template_id, 'conversationId', conversation_id,
      'providerMessageId', provider_message_id, 'phoneNumber', phone_number, 'createdAt', created_at)`,
    table: sql.fragment`message`,
  },
  {
    name: 'campaignMessages',
    ids: sql.fragment`SELECT id FROM recipient WHERE id = ANY (ARRAY(${recipientsOfPerson(scope)})) ORDER BY updated_at, id`,
    record: sql.fragment`jsonb_build_object('id', id, 'campaignId', campaign_id,
      'campaignName', (SELECT name FROM campaign WHERE campaign.id = campaign_id), 'state', state, 'reason', reason,
      'variables', variables, 'phoneNumber', phone_number, 'providerMessageId', provider_message_id,
      'updatedAt', updated_at)`,
    table: sql.fragment`recipient`,
  },
];

const Id = row(t.type({ id: t.string }));
const Exported = row(t.type({ id: t.string, record: t.string }));

/** Rows of up to 64 KiB each that are read at a time. */
const exportedAtATime = 16;

/**
 * Yields what is stored about a person as the members of a JSON object, in parts: former numbers, provider ids, and lists of
 * opt-outs and opt-ins, conversations, messages and recipients, oldest first.
 */
export async function* exportPerson(connection: Connection, scope: PersonScope): AsyncGenerator<string> {
  const { formerNumbers, phoneNumber, providerIds } = scope.person;
  const former = formerNumbers.filter((number) => number !== phoneNumber);
  yield `"formerNumbers":${JSON.stringify(former)},"providerIds":${JSON.stringify(providerIds)}`;
  for (const { name, ids, record, table } of listsOf(scope)) {
    yield `,"${name}":[`;
    const found = await connection.anyFirst(sql.type(Id)`${ids}`);
    let separator = '';
    for (let from = 0; from < found.length; from += exportedAtATime) {
      const part = found.slice(from, from + exportedAtATime);
      const rows = await connection.any(sql.type(Exported)`
        SELECT id, (${record})::text AS record FROM ${table} WHERE id = ANY (${sql.array([...part], 'uuid')})`);
      const records = new Map(rows.map((one) => [one.id, one.record]));
      const texts = part.flatMap((id) => records.get(id) ?? []);
      if (texts.length === 0) continue;
      yield `${separator}${texts.join(',')}`;
      separator = ',';
    }
    yield ']';
  }
}

/** The person's pending recipients of `campaign`, each found by an index. */
const pendingOf = ({ person }: PersonScope) =>
  person.phoneNumber === null
    ? sql.fragment`LATERAL (
        SELECT id FROM recipient WHERE campaign_id = campaign.id AND recipient.phone_number IS NULL
          AND recipient.contact_id = ${person.id} AND recipient.sendable AND state = 'PENDING' OFFSET 0
      ) AS recipient`
    : sql.fragment`unnest(${currentNumbers(person)}) AS form (number) CROSS JOIN LATERAL (
        SELECT id FROM recipient WHERE campaign_id = campaign.id AND recipient.phone_number = form.number
          AND recipient.sendable AND state = 'PENDING' OFFSET 0
      ) AS recipient`;

/** Deletes the contact and skips its pending recipients. Locks campaigns, then counters, then recipients: the order of claims. */
export async function stopSendingTo(connection: Connection, scope: PersonScope): Promise<void> {
  const { workspaceId, person } = scope;
  await connection.query(sql.type(nothing)`
    UPDATE contact SET deleted_at = now(), updated_at = now()
    WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${person.id} AND deleted_at IS NULL`);
  await connection.query(sql.type(nothing)`
    WITH waiting AS (
      SELECT campaign.id, recipient.id AS recipient_id
      FROM campaign CROSS JOIN ${pendingOf(scope)}
      WHERE workspace_id = ${workspaceId}
      ORDER BY campaign.id FOR NO KEY UPDATE OF campaign
    ), counter AS (
      SELECT campaign_id FROM campaign_counter WHERE campaign_id IN (SELECT id FROM waiting)
      ORDER BY campaign_id FOR NO KEY UPDATE
    ), skipped AS (
      UPDATE recipient SET state = 'SKIPPED', sendable = false, reason = 'CONTACT_DELETED', updated_at = now()
      WHERE id = ANY (ARRAY(SELECT recipient_id FROM waiting JOIN counter ON campaign_id = waiting.id)) AND state = 'PENDING'
      RETURNING campaign_id, position
    ), moved AS (
      -- A campaign of 1.0.0 may have the person under two numbers.
      SELECT campaign_id, count(*)::int AS people FROM skipped GROUP BY campaign_id
    ), counted AS (
      UPDATE campaign_counter SET pending = pending - people, skipped = skipped + people FROM moved
      WHERE campaign_counter.campaign_id = moved.campaign_id
    ), reasons AS (
      INSERT INTO campaign_reason AS known (campaign_id, kind, reason, count)
      SELECT campaign_id, 'skipped', 'CONTACT_DELETED', people FROM moved
      ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = known.count + excluded.count
    ), retries AS (
      DELETE FROM recipient_retry USING skipped
      WHERE recipient_retry.campaign_id = skipped.campaign_id AND recipient_retry.position = skipped.position
    )
    UPDATE campaign SET total_contacts = total_contacts - people, total_contacts_skipped = total_contacts_skipped + people
    FROM moved WHERE campaign.id = moved.campaign_id`);
}

/**
 * Clears recipients and messages, which are found by index, and leaves the rows that have to be searched to the erasure job.
 * Can be repeated for as long as the contact still names the person.
 */
export async function erasePersonTraces(connection: Connection, scope: PersonScope): Promise<void> {
  const { workspaceId, person } = scope;
  const counted = [person.id, ...(person.phoneNumber === null ? [] : formsOf(person.phoneNumber))];
  const hashes = counted.map((name) => sql.fragment`hashtextextended(${name}, 0)`);
  await connection.query(sql.type(nothing)`
    DELETE FROM account_reach USING business_account
    WHERE business_account.workspace_id = ${workspaceId} AND business_account_id = business_account.id
      AND person IN (${sql.join(hashes, sql.fragment`, `)})`);
  await clearMessages(connection, messagesOfPerson(scope));
  await clearRecipients(connection, recipientsOfPerson(scope));
  await queueErasure(connection, {
    workspaceId,
    contactId: person.id,
    names: [person.id, ...namesOf(person)],
    formerNumbers: formsOfAll(person.formerNumbers),
  });
}

/**
 * Clears the contact, so that no row leads to the person; a trigger clears the texts of its consents. Returns the consent until now,
 * and whether it follows from a decision; undefined if erased already.
 */
export async function clearContact(
  connection: Connection,
  workspaceId: number,
  contactId: string,
): Promise<{ readonly consent: Consent; readonly isDecided: boolean } | undefined> {
  await connection.query(sql.type(nothing)`DELETE FROM contact_identity WHERE contact_id = ${contactId}`);
  await connection.query(sql.type(nothing)`DELETE FROM contact_tag WHERE contact_id = ${contactId}`);
  const cleared = await connection.maybeOne(sql.type(Cleared)`
    UPDATE contact SET phone_number = NULL, identity = NULL, former_numbers = NULL, provider_user_id = NULL, country_code = '', country = '', first_name = '',
      last_name = '', chat_name = '', email = '', custom_fields = '{}', dob = NULL, subscribed = false,
      deleted_at = COALESCE(deleted_at, now()), erased_at = now(), updated_at = now()
    WHERE workspace_id = (SELECT ${workspaceId}::int) AND id = ${contactId} AND erased_at IS NULL
    RETURNING old.consent, old.consent_at IS NOT NULL AS decided, (SELECT CASE WHEN marketing_only THEN 'no_marketing' ELSE 'none' END FROM waiting_opt_out
      WHERE workspace_id = ${workspaceId} AND contact_id = ${contactId}) AS waiting`);
  if (cleared === null) return undefined;
  return { consent: strictest([cleared.consent, cleared.waiting ?? 'all']), isDecided: cleared.decided };
}

const Cleared = row(
  t.type({ consent: oneOf(consents), decided: t.boolean, waiting: nullable(oneOf(consents)) }),
);
const Key = row(t.type({ key: bytes }));

/** The encrypted key of the workspace; undefined before its first erasure. */
export async function findErasureKey(
  connection: Connection,
  workspaceId: number,
): Promise<Buffer | undefined> {
  const found = await connection.maybeOneFirst(sql.type(Key)`
    SELECT key_encrypted AS key FROM erasure_key WHERE workspace_id = ${workspaceId}`);
  return found ?? undefined;
}

/** Does nothing if the workspace has a key already. */
export async function insertErasureKey(connection: Connection, workspaceId: number, key: Buffer) {
  await connection.query(sql.type(nothing)`
    INSERT INTO erasure_key (workspace_id, key_encrypted) VALUES (${workspaceId}, ${sql.binary(key)})
    ON CONFLICT (workspace_id) DO NOTHING`);
}

/**
 * Records that the numbers have opted out, or deletes these records. A stop of everything stays one if MARKETING is stopped or allowed
 * afterwards.
 */
export async function changeOptedOutNumbers(
  connection: Connection,
  workspaceId: number,
  { hashes, category, allows }: ConsentDecision & { readonly hashes: readonly Buffer[] },
): Promise<void> {
  const marketingOnly = category === 'MARKETING';
  const given = sql.array([...hashes], 'bytea');
  await connection.query(
    allows
      ? sql.type(nothing)`
          DELETE FROM opted_out_number
          WHERE workspace_id = ${workspaceId} AND hash = ANY (${given}) AND (marketing_only OR ${!marketingOnly})`
      : sql.type(nothing)`
          INSERT INTO opted_out_number (workspace_id, hash, marketing_only)
          SELECT DISTINCT ${workspaceId}::int4, hash, ${marketingOnly}::boolean FROM unnest(${given}) AS given (hash) ORDER BY hash
          ON CONFLICT (workspace_id, hash) DO UPDATE SET marketing_only = false
            WHERE opted_out_number.marketing_only AND NOT excluded.marketing_only`,
  );
}

const KeptNumber = t.type({ hash: bytes, consent: oneOf(consents) });

/** Returns the hashes that are kept, with the consent of the person. */
export function findOptedOutNumbers(
  connection: Connection,
  workspaceId: number,
  hashes: readonly Buffer[],
): Promise<readonly t.TypeOf<typeof KeptNumber>[]> {
  // One index lookup per hash, whatever the statistics say.
  return connection.any(sql.type(row(KeptNumber))`
    SELECT kept.hash, CASE WHEN kept.marketing_only THEN 'no_marketing' ELSE 'none' END AS consent
    FROM unnest(${sql.array(hashes, 'bytea')}) AS given (hash)
    CROSS JOIN LATERAL (
      SELECT hash, marketing_only FROM opted_out_number WHERE workspace_id = ${workspaceId} AND hash = given.hash LIMIT 1) AS kept`);
}

/** Lets the register answer for the number of the erased person. */
export async function keepHashOfConsents(
  connection: Connection,
  {
    workspaceId,
    contactId,
    hash,
  }: { readonly workspaceId: number; readonly contactId: string; readonly hash: Buffer },
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE contact_consent SET person_hash = ${sql.binary(hash)}
    WHERE contact_id = ${contactId} AND workspace_id = ${workspaceId}`);
}
