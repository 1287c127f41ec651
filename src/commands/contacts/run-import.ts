/**
 * Runs an import of contacts: reads the file from its beginning, and commits its rows in batches together with the place in the file.
 * Stopped anywhere, the next run continues behind the last committed batch; the rows before it are read again for their numbers alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newContact, type NewAudienceContact } from '../../domain/audience/audience-contact.ts';
import { type Candidate, maskedCell, skipBeforeContact } from '../../domain/audience/candidate.ts';
import { createPhoneSet } from '../../domain/audience/phone-set.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { type Consent, consentCategories, strictest } from '../../domain/contacts/consent.ts';
import {
  csvMappingOf,
  type ImportReason,
  importReasons,
  type ImportResult,
  importResults,
  nameReader,
  type RowDecision,
  tagReader,
} from '../../domain/contacts/import.ts';
import { identityOf } from '../../domain/number-rules.ts';
import type { PhoneNumber } from '../../domain/phone-number.ts';
import { isUuid } from '../../domain/uuid.ts';
import type { Dependencies } from '../../dependencies.ts';
import {
  type ContactDecision,
  type ContactValues,
  type ImportBatch,
  type KnownNumber,
  openImportBatch,
  type RowOutcome,
} from '../../records/contacts/import-batch.ts';
import { beginImport, type ContactImport, endImport, releaseImport } from '../../records/contacts/imports.ts';
import { findTags, findTagsNamed } from '../../records/contacts/tags.ts';
import { isRefusedValue, isWriteCollision } from '../../records/database/load-connection.ts';
import { createUuidV7Generator, formatUuid } from '../../records/database/uuid-v7.ts';
import { listSubscribedKeys } from '../../records/webhooks/events.ts';
import { readStored } from '../audience/campaign-file.ts';
import { readCsvCandidates } from '../audience/candidates.ts';
import { createFieldLearner } from './contact-fields.ts';
import { findOptedOut, keepChoice } from './opted-out-numbers.ts';

type Importer = Pick<Dependencies, 'config' | 'database' | 'storage' | 'secrets' | 'logger'>;

export interface ImportContext {
  readonly signal: AbortSignal;
  /** True while the process shuts down: the run ends after the present batch. */
  readonly draining: () => boolean;
}

/** Rows of a batch: their transaction takes Postgres some 50 ms. */
const rowsOfBatch = 1_000;
/** An attempt that ends neither well nor by an error was lost with its worker. */
const maxLostAttempts = 3;
/** Rows of each result that are kept for `GET …/rows`. */
const keptRows: Readonly<Record<ImportResult, number>> = {
  created: 10_000,
  updated: 10_000,
  skipped: 100_000,
};
const maxTags = 200;

/** Returns false if the run ended before the import did. Throws what is to be tried again. */
export async function runImport(
  dependencies: Importer,
  importId: string,
  context: ImportContext,
): Promise<boolean> {
  const { database, logger } = dependencies;
  const begun = await beginImport(database, importId);
  if (begun === undefined) return true;
  try {
    if (begun.attempts > maxLostAttempts)
      throw new PreparationFailure(
        'CSV_UNREADABLE',
        `Each of ${maxLostAttempts} attempts to import the rows after line ${begun.lastLine} took more memory or time than a worker has: split the file, or shorten its rows`,
      );
    if (!(await importRows(dependencies, begun, context))) return false;
    await endImport(database, importId);
    logger.info({ importId, workspaceId: begun.workspaceId }, 'contacts imported');
    return true;
  } catch (error) {
    const failure = isRefusedValue(error)
      ? new PreparationFailure('CSV_UNREADABLE', 'The file holds a text that cannot be stored')
      : error;
    if (!(failure instanceof PreparationFailure)) throw error;
    await endImport(database, importId, failure);
    logger.info({ importId, error: failure.code }, 'import of contacts failed');
    return true;
  } finally {
    await releaseImport(database, importId).catch(() => undefined);
  }
}

interface ImportedRow {
  readonly candidate: Candidate;
  readonly skip: ReturnType<typeof skipBeforeContact>;
  /** Names and ids. */
  readonly tags: readonly string[];
}

interface Batch {
  readonly rows: readonly ImportedRow[];
  readonly lastLine: number;
  readonly nextLine: number;
  readonly bytesRead: number;
}

/** What the batches of a run share. */
interface Run {
  readonly begun: ContactImport;
  readonly signal: AbortSignal;
  /** Ids of tags by their names in small letters, and by themselves; undefined for an id that is no tag's. */
  readonly tags: Map<string, string | undefined>;
  /** Committed rows by result, as far as rows are kept. */
  readonly counts: Record<ImportResult, number>;
  readonly newId: () => string;
  readonly learnFields: ReturnType<typeof createFieldLearner>;
}

/** Returns false if the run was told to stop, or the import has ended. */
async function importRows(
  dependencies: Importer,
  begun: ContactImport,
  { signal, draining }: ImportContext,
): Promise<boolean> {
  const mapping = csvMappingOf(begun.mapping, begun.defaultCountry);
  let bytesRead = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of readStored(dependencies, begun.fileKey, signal)) {
      bytesRead += chunk.length;
      yield chunk;
    }
  }
  const numbers = createPhoneSet();
  const readName = nameReader(begun.mapping);
  const readTags = tagReader(begun.mapping);
  const nextId = createUuidV7Generator(new Date());
  const run: Run = {
    begun,
    signal,
    tags: new Map(),
    counts: { created: begun.created, updated: begun.updated, skipped: begun.skipped },
    newId: () => formatUuid(nextId()),
    learnFields: createFieldLearner(dependencies.database, begun.workspaceId),
  };
  let { lastLine } = begun;
  /** The batch that Postgres works on while the next one is read. */
  let committing: Promise<boolean> = Promise.resolve(true);

  try {
    for await (const candidates of readCsvCandidates(counted(), mapping, rowsOfBatch)) {
      const rows = candidates.flatMap((candidate): readonly ImportedRow[] => {
        const skip = skipBeforeContact(candidate, ({ digits }) => numbers.add(identityOf(digits)));
        if ((candidate.line ?? 0) <= lastLine) return [];
        return [{ candidate: readName(candidate), skip, tags: readTags(candidate.row ?? []) }];
      });
      const nextLine = rows.at(-1)?.candidate.line;
      if (nextLine == null) continue;
      if (!(await committing) || draining()) return false;
      signal.throwIfAborted();
      committing = commitBatch(dependencies, run, { rows, lastLine, nextLine, bytesRead });
      // The next `await` gets the failure; until then Node must not count it as unhandled.
      committing.catch(() => undefined);
      lastLine = nextLine;
    }
  } catch (error) {
    // The rows before the failure count.
    await committing.catch(() => undefined);
    throw error;
  }
  return committing;
}

const tries = 5;
const pauseMs = 200;

/** Tries again if another transaction wrote or locks the same contacts. Returns false if the import has ended or is elsewhere. */
async function commitBatch(dependencies: Importer, run: Run, batch: Batch): Promise<boolean> {
  const { workspaceId, id: importId } = run.begun;
  for (let attempt = 1; ; attempt += 1) {
    const { lastLine } = batch;
    const open = await openImportBatch(dependencies.config.databaseUrl, { workspaceId, importId, lastLine });
    if (open === undefined) return false;
    try {
      await applyBatch(dependencies, { run, batch, open });
      return true;
    } catch (error) {
      if (run.signal.aborted || attempt === tries || !isWriteCollision(error)) throw error;
    } finally {
      open.destroy();
    }
    await sleep(pauseMs * attempt, undefined, { signal: run.signal });
  }
}

/** A row that is not skipped before its contact is known. */
interface Reached extends ImportedRow {
  readonly line: number;
  readonly phone: PhoneNumber;
  readonly decision: RowDecision | undefined;
}

interface Applying {
  readonly run: Run;
  readonly batch: Batch;
  readonly open: ImportBatch;
}

async function applyBatch(dependencies: Importer, { run, batch, open }: Applying): Promise<void> {
  const { begun } = run;
  const { mode, dryRun } = begun;
  const outcomes: Outcome[] = [];
  const reached = batch.rows.flatMap((row): readonly Reached[] => {
    const { candidate, skip } = row;
    const { phone, consent } = candidate;
    const line = candidate.line ?? 0;
    if (phone !== undefined && (skip === undefined || skip.reason === 'DUPLICATE')) {
      const decision = consent?.kind === 'decision' ? consent : undefined;
      return [{ ...row, line, phone, decision }];
    }
    outcomes.push({
      line,
      result: 'skipped',
      reason: reasonOf(skip),
      detail: skip?.detail ?? null,
      contactId: null,
    });
    return [];
  });
  // By identity: rows of one person may have several forms of the number.
  const known = await open.find([...new Set(reached.map(({ phone }) => identityOf(phone.digits)))]);
  const tags = await resolveTags(dependencies, { run, open }, reached);
  const tagIdsOf = (row: Reached) => row.tags.flatMap((name) => tags.get(name.toLowerCase()) ?? []);

  const created = new Map<string, NewAudienceContact & { readonly tagsId: readonly string[] }>();
  const values = new Map<number, ContactValues>();
  const stops: (readonly [digits: string, decision: RowDecision])[] = [];
  const optIns: ContactDecision[] = [];
  for (const row of reached) {
    const { candidate, phone, line, decision, skip } = row;
    const person = identityOf(phone.digits);
    const present = known.get(person);
    if (decision?.allows === false) stops.push([person, decision]);
    const reason = skippedBy({ isDuplicate: skip !== undefined, consent: candidate.consent, present, mode });
    if (reason !== undefined) {
      outcomes.push({
        line,
        result: 'skipped',
        reason,
        detail: detailOf(reason, row),
        contactId: present?.id ?? null,
      });
      continue;
    }
    const tagIds = tagIdsOf(row);
    const id = present?.id ?? run.newId();
    if (decision?.allows === true) optIns.push({ ...decision, contactId: id });
    if (present === undefined) {
      created.set(person, {
        ...newContact({ ...candidate, phone }, { id, consent: 'all' }),
        tagsId: tagIds,
      });
      outcomes.push({
        line,
        result: 'created',
        reason: null,
        detail: null,
        contactId: dryRun ? null : id,
      });
    } else {
      const { firstName = '', lastName = '', email = '', customFields = {} } = candidate.person ?? {};
      values.set(line, { id, firstName, lastName, email, customFields, tagIds });
    }
  }

  if (!dryRun) await run.learnFields(reached.map(({ candidate }) => candidate.person?.customFields ?? {}));
  const { changed, tooLarge } = await open.compare([...values.values()]);
  const written = dryRun
    ? dryStops(known, stops)
    : await writeContacts(
        dependencies,
        { run, open, known },
        {
          created,
          changed: [...values.values()].filter(({ id }) => changed.has(id)),
          stops,
          optIns: optIns.filter(({ contactId }) => !tooLarge.has(contactId)),
        },
      );
  let unchanged = 0;
  for (const [line, { id: contactId }] of values)
    if (tooLarge.has(contactId))
      outcomes.push({ line, result: 'skipped', reason: 'FIELDS_TOO_LARGE', detail: null, contactId });
    else if (changed.has(contactId) || written.has(contactId))
      outcomes.push({ line, result: 'updated', reason: null, detail: null, contactId });
    else unchanged += 1;

  const counts = countResults(outcomes);
  await open.advance(outcomes.filter(keepsRow(run.counts)), {
    ...counts,
    lastLine: batch.nextLine,
    bytesRead: batch.bytesRead,
    unchanged,
    optedOut: stops.length,
    optedIn: optIns.length,
    reasons: countReasons(outcomes),
  });
  await open.commit();
  for (const result of importResults) run.counts[result] += counts[result];
  if (!dryRun) for (const [name, id] of tags) run.tags.set(name, id);
}

type Outcome = RowOutcome;

const reasonOf = (skip: ImportedRow['skip']): ImportReason =>
  importReasons.find((reason) => reason === skip?.reason) ?? 'INVALID_PHONE';

interface Seen {
  readonly isDuplicate: boolean;
  readonly consent: Candidate['consent'];
  readonly present: KnownNumber | undefined;
  readonly mode: ContactImport['mode'];
}

function skippedBy({ isDuplicate, consent, present, mode }: Seen): ImportReason | undefined {
  const isContact = present !== undefined && !present.deleted;
  if (isDuplicate) return 'DUPLICATE';
  if (consent?.kind === 'unclear') return 'CONSENT_UNCLEAR';
  if (mode === 'create' && isContact) return 'EXISTS';
  return mode === 'update' && !isContact ? 'NOT_FOUND' : undefined;
}

const longestDetail = 100;

/** The person of a row without a contact cannot be found by an erasure, so its number and cells are masked. */
function detailOf(reason: ImportReason, { candidate, phone }: Reached): string | null {
  if (reason === 'NOT_FOUND') return maskedCell(`+${phone.digits}`);
  return candidate.consent?.kind === 'unclear' && reason === 'CONSENT_UNCLEAR'
    ? maskedCell(candidate.consent.cell.slice(0, longestDetail).toWellFormed())
    : null;
}

function countResults(outcomes: readonly Outcome[]): Record<ImportResult, number> {
  const counts = { created: 0, updated: 0, skipped: 0 };
  for (const { result } of outcomes) counts[result] += 1;
  return counts;
}

function countReasons(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { reason } of outcomes) if (reason !== null) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

/** True for the first rows of each result. */
function keepsRow(committed: Readonly<Record<ImportResult, number>>): (outcome: Outcome) => boolean {
  const counts = { ...committed };
  return ({ result }) => {
    counts[result] += 1;
    return counts[result] <= keptRows[result];
  };
}

/** By the identity of the number. */
type Stops = readonly (readonly [digits: string, decision: RowDecision])[];

/** The contacts whose consent the stops would change. */
function dryStops(known: ReadonlyMap<string, KnownNumber>, stops: Stops): ReadonlySet<string> {
  return new Set(
    stops.flatMap(([digits, decision]) => {
      const present = known.get(digits);
      if (present === undefined) return [];
      return strictest([present.consent, consentOf(decision)]) === present.consent ? [] : [present.id];
    }),
  );
}

const consentOf = ({ category }: RowDecision): Consent => (category === 'ALL' ? 'none' : 'no_marketing');

/** The strictest stop of each number. */
function strictestStops(stops: Stops): ReadonlyMap<string, RowDecision> {
  const found = new Map<string, RowDecision>();
  for (const [digits, decision] of stops)
    if (found.get(digits)?.category !== 'ALL') found.set(digits, decision);
  return found;
}

interface Writing {
  readonly run: Run;
  readonly open: ImportBatch;
  readonly known: ReadonlyMap<string, KnownNumber>;
}

interface Writes {
  readonly created: ReadonlyMap<string, NewAudienceContact & { readonly tagsId: readonly string[] }>;
  readonly changed: readonly ContactValues[];
  readonly stops: Stops;
  readonly optIns: readonly ContactDecision[];
}

/** Writes contacts, tags, consents and their events. Returns the contacts whose consent changed. */
async function writeContacts(
  dependencies: Importer,
  { run, open, known }: Writing,
  { created, changed, stops, optIns }: Writes,
): Promise<ReadonlySet<string>> {
  const { database } = dependencies;
  const { workspaceId, createdBy } = run.begun;
  const subscribed = await listSubscribedKeys(database, workspaceId);
  const stopOf = strictestStops(stops);
  const strangers = [...stopOf.keys()].filter((digits) => !created.has(digits) && !known.has(digits));
  // Also for the stops of strangers: a preparation that creates them either sees the stop, or is seen by keepStops.
  const now = created.size + strangers.length > 0 ? await open.beginCreating() : new Date();
  if (created.size > 0) {
    // Behind their lock, so that no choice of somebody without a contact is missed.
    const optedOut = await findOptedOut(dependencies, database, workspaceId, [...created.keys()]);
    const contacts = [...created.values()]
      .map((contact) => ({
        ...contact,
        consent: optedOut.get(identityOf(contact.phone.digits)) ?? contact.consent,
      }))
      .toSorted((one, other) => (one.phone.digits < other.phone.digits ? -1 : 1));
    await open.create(contacts);
    if (subscribed.has('contact.created'))
      for (const contact of contacts) {
        const stop = stopOf.get(identityOf(contact.phone.digits));
        open.emitCreated(
          {
            ...contact,
            consent: stop === undefined ? contact.consent : strictest([contact.consent, consentOf(stop)]),
          },
          now,
        );
      }
  }
  await open.update(changed);
  await open.tag([
    ...[...created.values()].flatMap(({ id, tagsId }) => tagsId.map((tagId) => [id, tagId] as const)),
    ...changed.flatMap(({ id, tagIds }) => tagIds.map((tagId) => [id, tagId] as const)),
  ]);
  const late = await keepStops(dependencies, { run, open, known }, { stopOf, strangers });
  const stopped = await open.stop(
    [...stopOf].flatMap(([digits, decision]): readonly ContactDecision[] => {
      const contactId = created.get(digits)?.id ?? (known.get(digits) ?? late.get(digits))?.id;
      return contactId === undefined ? [] : [{ ...decision, contactId }];
    }),
    createdBy,
  );
  await open.recordOptIns(optIns, createdBy);
  if (subscribed.has('contact.updated')) {
    const isNew = new Set([...created.values()].map(({ id }) => id));
    const ids = new Set([...changed.map(({ id }) => id), ...stopped]);
    await open.emitUpdated([...ids].filter((id) => !isNew.has(id)));
  }
  return stopped;
}

/** Keeps the stops of people without a contact, and returns contacts that they have got meanwhile. */
async function keepStops(
  dependencies: Importer,
  { run, open }: Writing,
  {
    stopOf,
    strangers,
  }: { readonly stopOf: ReadonlyMap<string, RowDecision>; readonly strangers: readonly string[] },
): Promise<ReadonlyMap<string, KnownNumber>> {
  if (strangers.length === 0) return new Map();
  const { workspaceId } = run.begun;
  for (const category of consentCategories) {
    const names = strangers.filter((digits) => stopOf.get(digits)?.category === category);
    const decision = { category, allows: false };
    if (names.length > 0)
      await keepChoice(dependencies, dependencies.database, { workspaceId, names, decision });
  }
  return open.find(strangers);
}

/** The rows' tags by name or id, as `Run.tags`. Tags that the workspace lacks are created by name, except by a dry run. */
async function resolveTags(
  { database }: Importer,
  { run, open }: Pick<Writing, 'run' | 'open'>,
  rows: readonly Reached[],
): Promise<Run['tags']> {
  const { workspaceId, createdBy, dryRun } = run.begun;
  const names = new Map<string, string>();
  for (const row of rows)
    for (const name of row.tags) {
      const key = name.toLowerCase();
      if (!run.tags.has(key) && !names.has(key)) names.set(key, name);
    }
  if (run.tags.size + names.size > maxTags)
    throw new PreparationFailure(
      'CSV_UNREADABLE',
      `The column of tags names more than ${maxTags} different tags: is it the right column?`,
    );
  if (names.size === 0) return run.tags;
  const found = new Map(run.tags);
  const ids = [...names.keys()].filter(isUuid);
  const known = await findTags(database, workspaceId, ids);
  for (const id of ids) found.set(id, known.has(id) ? id : undefined);
  for (const { tagId, name } of await findTagsNamed(database, workspaceId, [...names.keys()]))
    found.set(name.toLowerCase(), tagId);
  const missing = [...names].filter(([key]) => !found.has(key));
  if (missing.length === 0) return found;
  if (dryRun) return new Map([...found, ...missing.map(([key]) => [key, nobodysTag] as const)]);
  const created = await open.createTags(
    missing.map(([, name]) => name),
    createdBy ?? 'import',
  );
  for (const [name, id] of created) found.set(name.toLowerCase(), id);
  return found;
}

/** Stands for a tag that a real run would create. */
const nobodysTag = '00000000-0000-0000-0000-000000000000';
