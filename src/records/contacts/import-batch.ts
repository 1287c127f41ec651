/**
 * One batch of an import, in one transaction: contacts, tags, consents, events, what became of the rows, and the place in the file. The
 * row of the import is locked first, so a batch is committed once, in order, and not after a cancellation.
 */
import { contactsOfNumbers, type NewAudienceContact } from '../../domain/audience/audience-contact.ts';
import type { Consent } from '../../domain/contacts/consent.ts';
import type { ImportReason, ImportResult, RowDecision } from '../../domain/contacts/import.ts';
import { formsOfAll } from '../../domain/number-rules.ts';
import {
  addContactRow,
  addEventRow,
  beginBatch,
  copyContacts,
  copyEvents,
  createContactRows,
  createdEvent,
  createEventRows,
  updatedColumns,
  updatedEvent,
  type UpdatedRow,
} from '../audience/contact-load.ts';
import { createCopyRows } from '../database/copy-rows.ts';
import { openLoadConnection } from '../database/load-connection.ts';
import { defaultTagColours } from './tags.ts';

export interface BatchOptions {
  readonly workspaceId: number;
  readonly importId: string;
  /** The place after the batch before this one. */
  readonly lastLine: number;
}

/** The contact of a number. */
export interface KnownNumber {
  readonly id: string;
  readonly consent: Consent;
  readonly deleted: boolean;
}

/** Values of a row for a known contact; '' and fields that are not given stay as they are. */
export interface ContactValues {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly customFields: Readonly<Record<string, string>>;
  readonly tagIds: readonly string[];
}

export interface ContactDecision extends Omit<RowDecision, 'kind' | 'allows'> {
  readonly contactId: string;
}

export interface RowOutcome {
  readonly line: number;
  readonly result: ImportResult;
  readonly reason: ImportReason | null;
  readonly detail: string | null;
  readonly contactId: string | null;
}

/** Added to the counts of the import. */
export interface BatchProgress {
  readonly lastLine: number;
  readonly bytesRead: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly optedOut: number;
  readonly optedIn: number;
  readonly reasons: Readonly<Record<string, number>>;
}

export type ImportBatch = NonNullable<Awaited<ReturnType<typeof openImportBatch>>>;

const source = 'import';
const lockTimeoutMs = 2_000;
/** Contacts that are read for their events, each with up to 64 KiB of custom fields. */
const readAtOnce = 100;

/** Undefined if the import has ended, or another process has committed the batch. */
export async function openImportBatch(
  databaseUrl: string,
  { workspaceId, importId, lastLine }: BatchOptions,
) {
  const connection = await openLoadConnection(databaseUrl, 'contact-import');
  const rows = connection.rows;
  try {
    const [running] = await rows(
      `WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', '${lockTimeoutMs}', true))
       SELECT id FROM contact_import, patience WHERE id = $1 AND state = 'RUNNING' AND last_line = $2 FOR NO KEY UPDATE OF contact_import`,
      [importId, lastLine],
    );
    if (running === undefined) {
      connection.destroy();
      return undefined;
    }
  } catch (error) {
    connection.destroy();
    throw error;
  }
  const events = createEventRows();

  return {
    destroy: connection.destroy,
    commit: connection.commit,

    /** The contacts of the numbers, in any of their forms. One index lookup for each, whatever the statistics say. */
    async find(numbers: readonly string[]): Promise<ReadonlyMap<string, KnownNumber>> {
      const found = await rows<[phone: string, id: string, consent: Consent, deleted: boolean]>(
        `SELECT known.* FROM unnest(string_to_array($2, ',')) AS given (phone_number)
         CROSS JOIN LATERAL (
           SELECT phone_number, id, consent, deleted_at IS NOT NULL FROM contact
           WHERE contact.workspace_id = $1 AND contact.phone_number = given.phone_number LIMIT 1) AS known`,
        [workspaceId, formsOfAll(numbers).join(',')],
      );
      return contactsOfNumbers(
        numbers,
        new Map(found.map(([phone, id, consent, deleted]) => [phone, { id, consent, deleted }])),
      );
    },

    /**
     * Before new contacts are inserted: until the commit, a choice of somebody without a contact waits, and then finds the contact.
     * Returns the time of the transaction.
     */
    beginCreating: (): Promise<Date> => beginBatch(connection, { workspaceId, lockTimeoutMs }, true),

    /** `created` are in the order of their numbers, so that two imports do not wait for one another in a circle. */
    async create(created: readonly NewAudienceContact[]): Promise<void> {
      const contacts = createContactRows();
      for (const contact of created) addContactRow(contacts, contact, { workspaceId, source });
      if (created.length > 0) await connection.copyRows(copyContacts, contacts.take());
    },

    /** Contacts that the values would change, and those whose custom fields would become too many or too large. */
    async compare(values: readonly ContactValues[]) {
      const changed = new Set<string>();
      const tooLarge = new Set<string>();
      if (values.length > 0)
        for (const [id, fits] of await rows<[string, boolean]>(
          compareStatement,
          valuesOf(workspaceId, values),
        ))
          (fits ? changed : tooLarge).add(id);
      return { changed, tooLarge };
    },

    /** Restores deleted contacts. */
    async update(values: readonly ContactValues[]): Promise<void> {
      if (values.length > 0) await rows(updateStatement, valuesOf(workspaceId, values));
    },

    /** Gives the contacts their tags; a tag that was deleted meanwhile is left out. Returns the contacts that got one. */
    async tag(given: readonly (readonly [contactId: string, tagId: string])[]): Promise<ReadonlySet<string>> {
      if (given.length === 0) return new Set();
      const tagged = await rows<[string]>(
        `WITH kept AS MATERIALIZED (
           SELECT id FROM tag WHERE workspace_id = $1 AND id = ANY ($3::uuid[]) ORDER BY id FOR KEY SHARE)
         INSERT INTO contact_tag (workspace_id, contact_id, tag_id)
         SELECT $1, given.contact_id, kept.id
         FROM unnest($2::uuid[], $3::uuid[]) AS given (contact_id, tag_id) JOIN kept ON kept.id = given.tag_id
         ON CONFLICT DO NOTHING RETURNING contact_id`,
        [workspaceId, given.map(([contactId]) => contactId), given.map(([, tagId]) => tagId)],
      );
      return new Set(tagged.map(([id]) => id));
    },

    /** The ids of the tags with these names, which are created if there are none. */
    async createTags(names: readonly string[], createdBy: string): Promise<ReadonlyMap<string, string>> {
      const created = await rows<[string, string]>(
        `INSERT INTO tag (workspace_id, name, text_color, background_color, created_by)
         SELECT $1, name, $4, $5, $3 FROM unnest($2::text[]) AS name
         RETURNING name, id`,
        [workspaceId, names, createdBy, defaultTagColours.text_color, defaultTagColours.background_color],
      );
      return new Map(created);
    },

    /** Applies opt-outs, whatever the person decided before. Returns the contacts whose consent changed. */
    async stop(
      decisions: readonly ContactDecision[],
      recordedBy: string | null,
    ): Promise<ReadonlySet<string>> {
      if (decisions.length === 0) return new Set();
      const stopped = await rows<[string]>(stopStatement, [
        ...decisionsOf(workspaceId, decisions),
        recordedBy,
      ]);
      return new Set(stopped.map(([id]) => id));
    },

    /** Records opt-ins without applying them: nothing that the person decided is overridden. Known entries are not repeated. */
    async recordOptIns(decisions: readonly ContactDecision[], recordedBy: string | null): Promise<void> {
      if (decisions.length > 0)
        await rows(optInStatement, [...decisionsOf(workspaceId, decisions), recordedBy]);
    },

    emitCreated(contact: NewAudienceContact & { readonly tagsId: readonly string[] }, now: Date): void {
      addEventRow(events, workspaceId, createdEvent(contact, source, now));
    },

    /** Emits `contact.updated` for the contacts as they are now. */
    async emitUpdated(contactIds: readonly string[]): Promise<void> {
      for (let from = 0; from < contactIds.length; from += readAtOnce) {
        const updated = await rows<UpdatedRow>(
          `SELECT ${updatedColumns} FROM unnest($2::uuid[]) AS wanted (id) CROSS JOIN LATERAL (
             SELECT * FROM contact WHERE workspace_id = $1 AND contact.id = wanted.id OFFSET 0) AS contact`,
          [workspaceId, contactIds.slice(from, from + readAtOnce)],
        );
        for (const contact of updated) addEventRow(events, workspaceId, updatedEvent(contact));
        if (events.size() > eventBytes) await connection.copyRows(copyEvents, events.take());
      }
    },

    /** Writes the events, the outcomes of rows and the place. */
    async advance(outcomes: readonly RowOutcome[], progress: BatchProgress): Promise<void> {
      if (events.size() > 0) await connection.copyRows(copyEvents, events.take());
      if (outcomes.length > 0) {
        const copied = createCopyRows(6);
        for (const { line, result, reason, detail, contactId } of outcomes) {
          copied.beginRow();
          copied.uuid(importId);
          copied.int4(line);
          copied.text(result);
          copied.text(reason);
          copied.text(detail);
          copied.uuid(contactId);
        }
        await connection.copyRows(
          'COPY contact_import_row (import_id, line, result, reason, detail, contact_id) FROM STDIN (FORMAT binary)',
          copied.take(),
        );
      }
      const { created, updated, unchanged, skipped } = progress;
      await rows(
        `UPDATE contact_import SET last_line = $2, bytes_read = $3, rows = rows + $4, created = created + $5,
           updated = updated + $6, unchanged = unchanged + $7, skipped = skipped + $8, opted_out = opted_out + $9,
           opted_in = opted_in + $10, attempts = 0, updated_at = now(),
           reasons = reasons || (SELECT COALESCE(jsonb_object_agg(reason, COALESCE((reasons ->> reason)::int, 0) + count::int), '{}')
             FROM jsonb_each_text($11::jsonb) AS added (reason, count))
         WHERE id = $1`,
        [
          importId,
          progress.lastLine,
          progress.bytesRead,
          created + updated + unchanged + skipped,
          created,
          updated,
          unchanged,
          skipped,
          progress.optedOut,
          progress.optedIn,
          JSON.stringify(progress.reasons),
        ],
      );
    },
  };
}

const eventBytes = 1024 * 1024;

const valuesOf = (workspaceId: number, values: readonly ContactValues[]): readonly unknown[] => [
  workspaceId,
  values.map(({ id }) => id),
  values.map(({ firstName }) => firstName),
  values.map(({ lastName }) => lastName),
  values.map(({ email }) => email),
  values.map(({ customFields }) => JSON.stringify(customFields)),
  values.map(({ tagIds }) => tagIds.join(',')),
];

const givenValues = `
  unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::jsonb[], $7::text[])
    AS given (id, first_name, last_name, email, custom_fields, tag_ids)`;

/** A name is replaced as a whole, so that the names of two people are not mixed. */
const after = {
  firstName: `CASE WHEN given.first_name || given.last_name = '' THEN contact.first_name ELSE given.first_name END`,
  lastName: `CASE WHEN given.first_name || given.last_name = '' THEN contact.last_name ELSE given.last_name END`,
  email: `CASE WHEN given.email = '' THEN contact.email ELSE given.email END`,
  customFields: 'contact.custom_fields || given.custom_fields',
};

// A look-up by key for each contact, whatever the statistics are. The limits are those of `domain/contacts/contact.ts`; the text form of
// jsonb has a space after each colon and comma.
const compareStatement = `
  SELECT compared.id, compared.fits FROM ${givenValues}
  CROSS JOIN LATERAL (
    SELECT contact.id, contact.custom_fields @> given.custom_fields OR (
        (SELECT count(*) FROM jsonb_object_keys(contact.custom_fields || given.custom_fields)) <= 200
        AND octet_length((contact.custom_fields || given.custom_fields)::text) <= 65536) AS fits
    FROM contact
    WHERE contact.workspace_id = $1 AND contact.id = given.id AND contact.erased_at IS NULL AND (
      contact.deleted_at IS NOT NULL OR contact.first_name <> ${after.firstName} OR contact.last_name <> ${after.lastName}
      OR contact.email <> ${after.email} OR NOT contact.custom_fields @> given.custom_fields
      OR EXISTS (SELECT FROM unnest(string_to_array(NULLIF(given.tag_ids, ''), ',')::uuid[]) AS tag (id)
        WHERE NOT EXISTS (SELECT FROM contact_tag WHERE contact_id = contact.id AND tag_id = tag.id)))
    OFFSET 0) AS compared`;

const updateStatement = `
  UPDATE contact SET first_name = ${after.firstName}, last_name = ${after.lastName}, email = ${after.email},
    custom_fields = ${after.customFields}, deleted_at = NULL, updated_at = now()
  FROM (
    SELECT given.id, given.first_name, given.last_name, given.email, given.custom_fields
    FROM ${givenValues}
    JOIN contact ON contact.workspace_id = $1 AND contact.id = ANY($2::uuid[]) AND contact.id = given.id
      AND contact.erased_at IS NULL
    ORDER BY contact.id FOR NO KEY UPDATE OF contact
  ) AS given (id, first_name, last_name, email, custom_fields)
  WHERE contact.workspace_id = $1 AND contact.id = ANY($2::uuid[]) AND contact.id = given.id`;

const decisionsOf = (workspaceId: number, decisions: readonly ContactDecision[]): readonly unknown[] => [
  workspaceId,
  decisions.map(({ contactId }) => contactId),
  decisions.map(({ category }) => category),
  decisions.map(({ at }) => at?.toISOString() ?? null),
  decisions.map(({ text }) => text),
  decisions.map(({ url }) => url),
  decisions.map(({ language }) => language),
];

const givenDecisions = `
  unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[])
    AS given (id, category, dated, text, url, language)`;

// As `stopAll` … in `consents.ts`: if 1.0.0 has written the contact since, both decisions follow from what it wrote.
const agree = `(contact.stop_all IS NOT NULL AND contact.subscribed = NOT (contact.stop_all OR contact.stop_marketing)
  AND contact.consent_at IS NOT DISTINCT FROM greatest(contact.stop_all_at, contact.stop_marketing_at))`;

// Times of whole seconds, as the provider's are; one of the future would override later decisions.
const stopStatement = `
  WITH present AS MATERIALIZED (
    SELECT contact.id, given.category, date_trunc('second', least(COALESCE(given.dated, now()), now())) AS at,
      given.text, given.url, given.language,
      CASE WHEN ${agree} THEN contact.stop_all ELSE NOT contact.subscribed END AS all_stopped,
      CASE WHEN ${agree} THEN contact.stop_all_at ELSE contact.consent_at END AS all_at,
      CASE WHEN ${agree} THEN contact.stop_marketing ELSE false END AS marketing_stopped,
      CASE WHEN ${agree} THEN contact.stop_marketing_at ELSE contact.consent_at END AS marketing_at
    FROM ${givenDecisions}
    JOIN contact ON contact.workspace_id = $1 AND contact.id = ANY($2::uuid[]) AND contact.id = given.id
      AND contact.erased_at IS NULL
    ORDER BY contact.id FOR NO KEY UPDATE OF contact
  ), next AS (
    SELECT id, category, at, text, url, language, all_stopped OR category = 'ALL' AS all_stopped,
      CASE WHEN category = 'ALL' THEN greatest(all_at, at) ELSE all_at END AS all_at,
      marketing_stopped OR category = 'MARKETING' AS marketing_stopped,
      CASE WHEN category = 'MARKETING' THEN greatest(marketing_at, at) ELSE marketing_at END AS marketing_at
    FROM present
  ), decided AS (
    UPDATE contact SET stop_all = next.all_stopped, stop_all_at = next.all_at, stop_marketing = next.marketing_stopped,
      stop_marketing_at = next.marketing_at, consent_at = greatest(next.all_at, next.marketing_at), subscribed = false,
      updated_at = now()
    FROM next WHERE contact.workspace_id = $1 AND contact.id = ANY($2::uuid[]) AND contact.id = next.id
    RETURNING contact.id, next.category, next.at, next.text, next.url, next.language, old.consent AS before, new.consent AS after
  )
  INSERT INTO contact_consent (workspace_id, contact_id, subscribed, source, at, category, consent, text, url, language,
    recorded_by, imported)
  SELECT $1, id, false, 'api', at, category, after, text, url, language, $8, true FROM decided WHERE before <> after
  RETURNING contact_id`;

const optInStatement = `
  INSERT INTO contact_consent (workspace_id, contact_id, subscribed, source, at, category, consent, text, url, language,
    recorded_by, imported)
  SELECT $1, contact.id, true, 'api', least(COALESCE(given.dated, now()), now()), given.category, contact.consent, given.text,
    given.url, given.language, $8, true
  FROM ${givenDecisions}
  CROSS JOIN LATERAL (
    SELECT id, consent FROM contact WHERE workspace_id = $1 AND contact.id = given.id AND erased_at IS NULL OFFSET 0) AS contact
  WHERE NOT EXISTS (
    SELECT FROM contact_consent AS entry
    WHERE entry.contact_id = contact.id AND entry.imported AND entry.subscribed AND entry.category = given.category
      AND entry.text IS NOT DISTINCT FROM given.text AND entry.url IS NOT DISTINCT FROM given.url
      AND (given.dated IS NULL OR entry.at = given.dated))`;
