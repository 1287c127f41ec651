/**
 * The consent of contacts and the register of their decisions. Each entry is written by the statement that changes the contact, or
 * records evidence.
 */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import {
  type Consent,
  type ConsentDecision,
  consentCategories,
  consents,
} from '../../domain/contacts/consent.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

/**
 * The two decisions of a row of `contact` and their times. If 1.0.0 has written `subscribed` or `consent_at` since, both follow
 * from those.
 */
const agree = sql.fragment`(contact.stop_all IS NOT NULL AND contact.subscribed = NOT (contact.stop_all OR contact.stop_marketing)
  AND contact.consent_at IS NOT DISTINCT FROM greatest(contact.stop_all_at, contact.stop_marketing_at))`;
export const stopAll = sql.fragment`CASE WHEN ${agree} THEN contact.stop_all ELSE NOT contact.subscribed END`;
export const stopAllAt = sql.fragment`CASE WHEN ${agree} THEN contact.stop_all_at ELSE contact.consent_at END`;
const stopMarketing = sql.fragment`CASE WHEN ${agree} THEN contact.stop_marketing ELSE false END`;
export const stopMarketingAt = sql.fragment`CASE WHEN ${agree} THEN contact.stop_marketing_at ELSE contact.consent_at END`;

/** What is known of a decision beyond its effect. */
export interface Evidence {
  /** What the person saw or wrote. */
  readonly text: string | null;
  readonly url: string | null;
  readonly language: string | null;
  /** Id of an API key. */
  readonly recordedBy: string | null;
}
export const noEvidence: Evidence = { text: null, url: null, language: null, recordedBy: null };

/** `person`: wrote a word, or changed a setting in the provider's app. */
export const consentSources = ['person', 'api', 'import'] as const;
export type ConsentSource = (typeof consentSources)[number];

interface DecisionOfContacts {
  readonly contactIds: readonly string[];
  readonly decision: ConsentDecision;
  readonly at: Date;
  readonly source: ConsentSource;
  readonly evidence?: Evidence;
  /** Adds an entry to the register even if nothing changes. */
  readonly isAlwaysRecorded?: boolean;
}

const Changed = row(t.type({ id: t.string, changed: t.boolean }));

/**
 * Applies a decision; of two about the same, the later one wins, whatever the order of arrival. Returns the contacts whose consent
 * changed.
 */
export async function decideConsent(
  connection: Connection,
  workspaceId: number,
  {
    contactIds,
    decision: { category, allows },
    at,
    source,
    evidence = noEvidence,
    isAlwaysRecorded = false,
  }: DecisionOfContacts,
): Promise<readonly string[]> {
  if (contactIds.length === 0) return [];
  const ids = sql.array(contactIds, 'uuid');
  const time = sql.fragment`${at.toISOString()}::timestamptz`;
  // The provider's times are whole seconds: within one, the order of arrival decides.
  const isNewer = (before: ReturnType<typeof sql.fragment>) =>
    sql.fragment`(${before} IS NULL OR ${before} <= ${time})`;
  const isAboutAll = category === 'ALL';
  // To stop everything leaves open whether MARKETING is wanted.
  const isAboutMarketing = !isAboutAll || allows;
  const changed = await connection.any(sql.type(Changed)`
    WITH applied AS (
      DELETE FROM waiting_opt_out WHERE workspace_id = ${workspaceId} AND contact_id = ANY(${ids})
        AND (marketing_only OR ${isAboutAll})
    ), present AS MATERIALIZED (
      SELECT id, ${stopAll} AS all_stopped, ${stopAllAt} AS all_at, ${stopMarketing} AS marketing_stopped,
        ${stopMarketingAt} AS marketing_at
      FROM contact WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}) ORDER BY id FOR NO KEY UPDATE
    ), next AS (
      SELECT id,
        CASE WHEN ${isAboutAll} AND ${isNewer(sql.fragment`all_at`)} THEN ${!allows} ELSE all_stopped END AS all_stopped,
        CASE WHEN ${isAboutAll} THEN greatest(all_at, ${time}) ELSE all_at END AS all_at,
        CASE WHEN ${isAboutMarketing} AND ${isNewer(sql.fragment`marketing_at`)} THEN ${!allows} ELSE marketing_stopped END
          AS marketing_stopped,
        CASE WHEN ${isAboutMarketing} THEN greatest(marketing_at, ${time}) ELSE marketing_at END AS marketing_at
      FROM present
    ), decided AS (
      UPDATE contact SET stop_all = next.all_stopped, stop_all_at = next.all_at, stop_marketing = next.marketing_stopped,
        stop_marketing_at = next.marketing_at, consent_at = greatest(next.all_at, next.marketing_at),
        subscribed = NOT (next.all_stopped OR next.marketing_stopped), updated_at = now()
      FROM next WHERE contact.workspace_id = ${workspaceId} AND contact.id = next.id
      RETURNING contact.id, old.consent AS before, new.consent AS after
    ), recorded AS (
      INSERT INTO contact_consent (workspace_id, contact_id, subscribed, source, at, category, consent, text, url, language,
        recorded_by, imported)
      SELECT ${workspaceId}, id, CASE WHEN ${isAlwaysRecorded} THEN ${allows} ELSE after = 'all' END, ${source === 'import' ? 'api' : source},
        ${time}, ${category}, after,
        ${evidence.text}, ${evidence.url}, ${evidence.language}, ${evidence.recordedBy}, ${source === 'import'}
      FROM decided WHERE before <> after OR ${isAlwaysRecorded}
    )
    SELECT id, before <> after AS changed FROM decided`);
  return changed.filter((one) => one.changed).map(({ id }) => id);
}

interface PageRequest {
  /** The last row of the previous page. */
  readonly after: string | undefined;
  readonly limit: number;
}

const ConsentEntry = t.type({
  id: t.string,
  subscribed: t.boolean,
  consent: oneOf(consents),
  category: oneOf(consentCategories),
  source: oneOf(consentSources),
  text: nullable(t.string),
  url: nullable(t.string),
  language: nullable(t.string),
  recorded_by: nullable(t.string),
  at: timestamp,
});
export type ConsentEntry = t.TypeOf<typeof ConsentEntry>;

/** Entries of 1.0.0 were about everything. */
const selection = sql.fragment`
  contact_consent.id, contact_consent.subscribed,
  COALESCE(contact_consent.consent, CASE WHEN contact_consent.subscribed THEN 'all' ELSE 'none' END) AS consent,
  COALESCE(category, 'ALL') AS category, CASE WHEN imported THEN 'import' ELSE source END AS source, text, url, language,
  recorded_by, at`;

/** Newest first; one more than `limit`, if there are as many. */
export function listConsents(
  connection: Connection,
  { workspaceId, contactId }: { readonly workspaceId: number; readonly contactId: string },
  { after, limit }: PageRequest,
): Promise<readonly ConsentEntry[]> {
  const isBehind = after === undefined ? sql.fragment`TRUE` : sql.fragment`id < ${after}`;
  return connection.any(sql.type(row(ConsentEntry))`
    SELECT ${selection} FROM contact_consent
    WHERE workspace_id = ${workspaceId} AND contact_id = ${contactId} AND ${isBehind}
    ORDER BY id DESC LIMIT ${limit + 1}`);
}

const RegisterEntry = t.type({
  ...ConsentEntry.props,
  contact_id: t.string,
  /** Digits with country calling code; null for a person without a number and after an erasure. */
  phone_number: nullable(t.string),
});
export type RegisterEntry = t.TypeOf<typeof RegisterEntry>;

/** Numbers in digits, and the hashes under which an erasure keeps them. */
export interface PersonOfRegister {
  readonly numbers: readonly string[];
  readonly hashes: readonly Buffer[];
}

/** The entries of the workspace, or of one person, newest first; one more than `limit`, if there are as many. */
export function listRegister(
  connection: Connection,
  { workspaceId, person }: { readonly workspaceId: number; readonly person: PersonOfRegister | undefined },
  { after, limit }: PageRequest,
): Promise<readonly RegisterEntry[]> {
  const isBehind = after === undefined ? sql.fragment`TRUE` : sql.fragment`contact_consent.id < ${after}`;
  const isTheirs =
    person === undefined
      ? sql.fragment`TRUE`
      : sql.fragment`contact_consent.id = ANY (ARRAY(
          SELECT entry.id FROM contact CROSS JOIN LATERAL (
            SELECT id FROM contact_consent AS entry WHERE entry.contact_id = contact.id OFFSET 0) AS entry
          WHERE contact.workspace_id = (SELECT ${workspaceId}::int)
            AND contact.phone_number = ANY (${sql.array(person.numbers, 'text')})
          UNION
          SELECT id FROM contact_consent AS entry
          WHERE entry.workspace_id = ${workspaceId} AND entry.person_hash = ANY (${sql.array(person.hashes, 'bytea')})))`;
  return connection.any(sql.type(row(RegisterEntry))`
    SELECT ${selection}, contact_consent.contact_id, (SELECT phone_number FROM contact
      WHERE contact.workspace_id = contact_consent.workspace_id AND contact.id = contact_consent.contact_id) AS phone_number
    FROM contact_consent
    WHERE contact_consent.workspace_id = ${workspaceId} AND ${isTheirs} AND ${isBehind}
    ORDER BY contact_consent.id DESC LIMIT ${limit + 1}`);
}

/** Columns of a new contact that nobody has decided about, or whose hash says that the person opted out. */
export const stopsOf = (consent: Consent) => ({
  subscribed: consent === 'all',
  stopAll: consent === 'none',
  stopMarketing: consent === 'no_marketing',
});
