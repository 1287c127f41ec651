/** Audiences that are read from the database: contacts by filter. See failed-recipients.ts for those of another campaign. */
import * as t from 'io-ts';
import pg from 'pg';
import { sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { contactsOfNumbers, type KnownContact } from '../../domain/audience/audience-contact.ts';
import type { Candidate } from '../../domain/audience/candidate.ts';
import { type Consent, consents } from '../../domain/contacts/consent.ts';
import { countryOfUserId } from '../../domain/callbacks/provider-number.ts';
import { formsOfAll } from '../../domain/number-rules.ts';
import type { PhoneNumber } from '../../domain/phone-number.ts';
import type { CustomFields } from '../../domain/templates/recipient-variables.ts';
import { customFieldsNamed } from '../contacts/contacts.ts';
import {
  compileSegmentFilter,
  type Filter,
  type FilterContext,
  type Fragment,
  noContext,
  sizeProblem,
} from '../contacts/segment-filter.ts';
import type { Connection } from '../database/database.ts';
import { openLoadConnection } from '../database/load-connection.ts';
import { row } from '../database/row.ts';

export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Number of rows per fetch. */
  readonly batchSize: number;
}

/** Small batches, so that the garbage collector frees their objects cheaply. The named custom fields of a contact may have 64 KiB. */
export const rowsOfBatch = (customFields: readonly string[]): number =>
  customFields.length === 0 ? 1_000 : 200;

// Converts a Slonik fragment to a query of node-postgres, because a cursor runs on a connection outside Slonik's pool.
export function toQuery({ sql: text, values }: Fragment, customFields: readonly string[]): Query {
  return {
    text: text.replaceAll(/\$slonik_(\d+)/g, '$$$1'),
    values,
    batchSize: rowsOfBatch(customFields),
  };
}

export async function* readByCursor<R extends readonly unknown[]>(
  databaseUrl: string,
  { text, values, batchSize }: Query,
): AsyncGenerator<readonly R[]> {
  const connection = await openLoadConnection(databaseUrl, 'prepare-audience');
  const fetch = () => connection.rows<R>(`FETCH ${batchSize} FROM audience`);
  try {
    await connection.rows(`DECLARE audience NO SCROLL CURSOR FOR ${text}`, values);
    let batch = await fetch();
    while (batch.length > 0) {
      // Fetches the next batch while the client reads this one.
      const following = fetch();
      following.catch(() => undefined);
      yield batch;
      batch = await following;
    }
    await connection.commit();
  } finally {
    connection.destroy();
  }
}

/** Counts that take longer than this are abandoned. */
const countLimitMs = 1_000;
const queryCanceled = '57014';

/** True if the query has at most `most` rows, and Postgres can tell within a second. */
export async function hasAtMost(
  databaseUrl: string,
  { text, values }: Query,
  most: number,
): Promise<boolean> {
  const connection = await openLoadConnection(databaseUrl, 'prepare-audience');
  try {
    await connection.rows(`SET LOCAL statement_timeout = ${countLimitMs}`);
    const [[count] = [0]] = await connection.rows<[number]>(
      `SELECT count(*)::int4 FROM (${text} LIMIT ${most + 1}) AS audience`,
      values,
    );
    await connection.commit();
    return count <= most;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === queryCanceled) return false;
    throw error;
  } finally {
    connection.destroy();
  }
}

type ContactRow = readonly [
  id: string,
  phoneNumber: string | null,
  countryCode: string,
  country: string,
  firstName: string,
  lastName: string,
  email: string,
  consent: Consent,
  userId: string | null,
  customFields: CustomFields | null,
];

/** Contacts in any of the segments (all contacts without segments) that match the filter. */
export interface ContactSelection {
  readonly segments: readonly Filter[] | undefined;
  readonly filter: Filter | undefined;
  /** What their conditions refer to. */
  readonly context?: FilterContext;
  /** The custom fields to read. */
  readonly customFields?: readonly string[];
}

/** Parameters of one statement. Postgres accepts 65,535, but takes long to plan a statement with that many. */
const mostParameters = 10_000;

/** Returns an error message if a selection needs more than `mostParameters` parameters. */
export function selectionProblem(selection: ContactSelection): string | undefined {
  const { segments = [], filter, context = noContext } = selection;
  const all = [...segments, ...(filter === undefined ? [] : [filter])].flatMap(({ conditions }) => [
    ...conditions,
  ]);
  const problem = sizeProblem(all, context);
  if (problem !== undefined) return problem;
  const { values } = contactsQuery(0, selection);
  if (values.length <= mostParameters) return undefined;
  return `segments and contact_filters come to ${values.length} values; ${mostParameters} are allowed`;
}

export function contactsQuery(
  workspaceId: number,
  { segments, filter, context = noContext, customFields = [] }: ContactSelection,
): Query {
  const anySegment =
    segments === undefined
      ? sql.fragment`TRUE`
      : sql.join(
          [
            sql.fragment`FALSE`,
            ...segments.map(({ match, conditions }) =>
              compileSegmentFilter(match ?? 'all', conditions, { context }),
            ),
          ],
          sql.fragment` OR `,
        );
  const extra =
    filter === undefined
      ? sql.fragment`TRUE`
      : compileSegmentFilter(filter.match ?? 'all', filter.conditions, { context });
  return toQuery(
    sql.fragment`
    SELECT id, phone_number, country_code, country, first_name, last_name, email, consent, provider_user_id,
      ${customFieldsNamed(customFields)}
    FROM contact
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL AND (${anySegment}) AND ${extra}
    ORDER BY workspace_id, id`,
    customFields,
  );
}

/** Reads the rows of `contactsQuery`. */
export async function* readContacts(databaseUrl: string, query: Query): AsyncGenerator<readonly Candidate[]> {
  for await (const batch of readByCursor<ContactRow>(databaseUrl, query)) yield batch.map(candidateOfContact);
}

function candidateOfContact(found: ContactRow): Candidate {
  const [id, phoneNumber, countryCode, country, firstName, lastName, email, consent, userId, customFields] =
    found;
  return {
    line: null,
    given: '',
    phone:
      phoneNumber === null
        ? storedNumber('', '', country === '' ? countryOfUserId(userId ?? '') : country)
        : storedNumber(phoneNumber, countryCode, country),
    contact: { id, firstName, lastName, email, consent, customFields },
  };
}

/** Builds a number without checks, because stored numbers were checked. `digits` is '' for a person known by user id alone. */
export function storedNumber(digits: string, countryCode: string, country: string): PhoneNumber {
  return { digits, countryCode, country, nationalNumber: digits.slice(countryCode.length) };
}

// Reads the contacts of an audience for a dry run: takes no lock and writes nothing.

const Known = row(
  t.type({
    phone: t.string,
    id: t.string,
    firstName: t.string,
    lastName: t.string,
    email: t.string,
    consent: oneOf(consents),
    deleted: t.boolean,
    customFields: t.union([t.record(t.string, t.string), t.null]),
  }),
);

/** Finds contacts by any form of the numbers. */
export async function findKnownContacts(
  connection: Connection,
  workspaceId: number,
  numbers: readonly string[],
  /** The custom fields to read. */
  customFields: readonly string[],
): Promise<ReadonlyMap<string, KnownContact>> {
  const found = await connection.any(sql.type(Known)`
    SELECT phone_number AS phone, id, first_name AS "firstName", last_name AS "lastName", email, consent,
      deleted_at IS NOT NULL AS deleted, ${customFieldsNamed(customFields)} AS "customFields"
    FROM contact
    WHERE workspace_id = ${workspaceId} AND phone_number = ANY (${sql.array(formsOfAll(numbers), 'text')})`);
  const contacts = new Map(
    found.map(({ phone, customFields: fields, ...contact }) => [
      phone,
      { ...contact, customFields: fields ?? {} },
    ]),
  );
  return contactsOfNumbers(numbers, contacts);
}
