/** Opens the audience of a campaign, of any kind, as batches of candidates. */
import type { AudienceInput } from '../../codecs/campaign-audience.ts';
import { createTurns } from '../../concurrency/slices.ts';
import type { Dependencies } from '../../dependencies.ts';
import { type AudienceRules, type Candidate, stopsByConsent } from '../../domain/audience/candidate.ts';
import {
  columnProblems,
  csvCandidateReader,
  type CsvMapping,
  type CsvRowReading,
} from '../../domain/audience/csv.ts';
import { createPhoneSet, type PhoneSet } from '../../domain/audience/phone-set.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { parseQuickContact } from '../../domain/audience/quick-contact.ts';
import type { ContactSelectionType } from '../../domain/campaigns/campaign.ts';
import { referencesOf } from '../../domain/contacts/segment-filter.ts';
import { identityOf } from '../../domain/number-rules.ts';
import { isPhoneNumber, readNumber } from '../../domain/phone-number.ts';
import { listPresentCampaigns } from '../../records/campaigns/campaigns.ts';
import {
  contactsQuery,
  hasAtMost,
  type Query,
  readContacts,
  rowsOfBatch,
  selectionProblem,
} from '../../records/audience/audience-sources.ts';
import { listFilters, loadFilterContext } from '../../records/contacts/segments.ts';
import { failedQuery, readFailedRecipients } from '../../records/audience/failed-recipients.ts';
import { readCampaignFile } from './campaign-file.ts';
import { createCsvRowReader, createCsvTextDecoder, type CsvRow, type CsvRowReader } from './csv.ts';

export interface AudienceRequest {
  readonly workspaceId: number;
  readonly selectionType: ContactSelectionType;
  readonly audience: AudienceInput;
  readonly campaignId: string;
  readonly quickContacts: readonly string[];
  /** ISO 3166 alpha-2: the country of numbers that name none; '': they are international. */
  readonly defaultCountry: string;
  /** True to reuse the variable values that the failed campaign stored for its recipients. */
  readonly keepVariables: boolean;
  /** The contacts' custom fields that the mapping names. */
  readonly customFields?: readonly string[];
  /** Reads the CSV, if it is at hand already. */
  readonly file?: () => AsyncIterable<Buffer>;
  /** Stops reading a file. */
  readonly signal?: AbortSignal;
}

type Sources = Pick<Dependencies, 'config' | 'database' | 'storage' | 'outbound'>;
export type Pages = AsyncIterable<readonly Candidate[]> | Iterable<readonly Candidate[]>;

export async function openCandidates(sources: Sources, request: AudienceRequest): Promise<Pages> {
  const { selectionType, audience, customFields = [] } = request;
  const { databaseUrl } = sources.config;
  switch (selectionType) {
    case 'csv_contacts': {
      if (audience.csv_mapping === undefined)
        throw new PreparationFailure('CSV_UNREADABLE', 'csv_mapping is missing');
      const file =
        request.file?.() ?? readCampaignFile(sources, audience, request.campaignId, request.signal);
      const mapping = { ...audience.csv_mapping, default_country: request.defaultCountry };
      return readCsvCandidates(file, mapping, rowsOfBatch(customFields));
    }
    case 'quick_contacts':
      return readQuickCandidates(request.quickContacts, request.defaultCountry, rowsOfBatch(customFields));
    case 'all_contacts':
    case 'segmented':
      return readContacts(databaseUrl, await storedAudience(sources, selectionType, request));
    case 'failed_contacts': {
      const query = await storedAudience(sources, selectionType, request);
      return readFailedRecipients(databaseUrl, query, request.keepVariables);
    }
    default:
      return selectionType satisfies never;
  }
}

/** The country of numbers that name none: the request's, else the workspace's, else none. */
export const defaultCountryOf = (
  { csv_mapping: mapping, default_country: given }: Pick<AudienceInput, 'csv_mapping' | 'default_country'>,
  ofWorkspace: string | null,
): string => mapping?.default_country ?? given ?? ofWorkspace ?? '';

type StoredKind = Exclude<ContactSelectionType, 'csv_contacts' | 'quick_contacts'>;
type StoredRequest = Pick<AudienceRequest, 'workspaceId' | 'audience' | 'customFields'>;

/** The query for an audience stored in the database. Throws PreparationFailure. */
async function storedAudience(
  { database }: Pick<Sources, 'database'>,
  selectionType: StoredKind,
  { workspaceId, audience, customFields = [] }: StoredRequest,
): Promise<Query> {
  if (selectionType === 'failed_contacts') {
    const { failed_campaign_id: campaignId = '', failed_reasons: reasons = [] } = audience;
    return failedQuery({ campaignId, reasons, customFields });
  }
  if (selectionType === 'all_contacts')
    return contactsQuery(workspaceId, { segments: undefined, filter: undefined, customFields });
  const { segments: segmentIds = [], contact_filters: filter } = audience;
  const named = await listFilters(database, workspaceId, segmentIds);
  const conditions = [...named, ...(filter === undefined ? [] : [filter])].map((one) => one.conditions);
  const context = await loadFilterContext(database, workspaceId, conditions);
  // A deleted segment would be one without contacts, and `not_in` would mean everybody.
  const deleted = referencesOf(conditions.flat()).segmentIds.find((id) => !context.segments.has(id));
  if (deleted !== undefined)
    throw new PreparationFailure('AUDIENCE_EMPTY', `The segment ${deleted} of contact_filters was deleted`);
  // So would one on a campaign whose recipients were deleted.
  const all = [...conditions, ...[...context.segments.values()].map((one) => one.conditions)].flat();
  const { campaignIds } = referencesOf(all);
  const present = new Set(
    campaignIds.length === 0 ? [] : await listPresentCampaigns(database, workspaceId, campaignIds),
  );
  const gone = campaignIds.find((id) => !present.has(id));
  if (gone !== undefined)
    throw new PreparationFailure('AUDIENCE_EMPTY', `The recipients of the campaign ${gone} were deleted`);
  // Without segments, contact_filters alone choose the contacts; if both are missing, nobody is meant.
  const isFilterAlone = segmentIds.length === 0 && filter !== undefined && filter.conditions.length > 0;
  const selection = { segments: isFilterAlone ? undefined : named, filter, context, customFields };
  // Segments may have grown since the campaign was created.
  const problem = selectionProblem(selection);
  if (problem !== undefined)
    throw new PreparationFailure('AUDIENCE_EMPTY', `The audience cannot be read: ${problem}`);
  return contactsQuery(workspaceId, selection);
}

/** True if a count of at most one second shows that an audience stored in the database has at most `most` people. */
export async function isAtMost(
  sources: Pick<Sources, 'config' | 'database'>,
  selectionType: StoredKind,
  request: StoredRequest,
  most: number,
): Promise<boolean> {
  return hasAtMost(sources.config.databaseUrl, await storedAudience(sources, selectionType, request), most);
}

/**
 * The people whom some row of a CSV stops; undefined if it has no column of consent. Their first row, which becomes the recipient, may say
 * nothing: so the file is read once before. At most `most.rows` rows, and until `most.endsAt` on the clock of `performance`.
 */
export async function findStopped(
  mapping: Pick<CsvMapping, 'consent'> | undefined,
  rules: Pick<AudienceRules, 'isMarketing'>,
  open: () => Pages | Promise<Pages>,
  most: { readonly rows: number; readonly endsAt: number } = { rows: Infinity, endsAt: Infinity },
): Promise<PhoneSet | undefined> {
  if (mapping?.consent?.column == null) return undefined;
  const stopped = createPhoneSet();
  let rows = 0;
  for await (const batch of await open()) {
    for (const candidate of batch) {
      const digits = candidate.phone?.digits ?? '';
      if (digits !== '' && stopsByConsent(candidate, rules)) stopped.add(identityOf(digits));
    }
    rows += batch.length;
    if (rows >= most.rows || performance.now() > most.endsAt) break;
  }
  return stopped;
}

// The rows of a campaign's CSV as candidates, in batches.

/** A batch covers at most 1 MiB of the file, however long its rows are. */
const piecesOfBatch = 256;
// 4 KiB are parsed at once, because every byte may be a row: blank lines count.
const pieceBytes = 4 * 1024;

/** `batchSize` is the maximum number of rows in a batch. Throws PreparationFailure if the file as a whole cannot be used. */
export async function* readCsvCandidates(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  mapping: CsvMapping,
  batchSize = 1_000,
): AsyncGenerator<readonly Candidate[]> {
  let read: CsvRowReading | undefined;
  let batch: Candidate[] = [];
  let pieces = 0;
  for await (const rows of readCsvRows(chunks)) {
    pieces += 1;
    for (const row of rows) {
      if (read === undefined) read = readerFor(row, mapping);
      else batch.push('problem' in row ? malformed(row) : read(row.cells, row.line));
      if (batch.length === batchSize || (pieces >= piecesOfBatch && batch.length > 0)) {
        yield batch;
        batch = [];
        pieces = 0;
      }
    }
  }
  if (read === undefined)
    throw new PreparationFailure('CSV_UNREADABLE', 'The CSV is empty: it has no header row');
  if (batch.length > 0) yield batch;
}

/** Skips blank rows and titles; the first row is the header. */
export async function* readCsvRows(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  reader: CsvRowReader = createCsvRowReader(),
): AsyncGenerator<readonly CsvRow[]> {
  const decoder = createCsvTextDecoder();
  const turn = createTurns();
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      yield reader.write(decoder.write(chunk.subarray(at, at + pieceBytes)));
      await turn();
    }
  yield reader.write(decoder.end());
  yield reader.end();
}

function readerFor(header: CsvRow, mapping: CsvMapping): CsvRowReading {
  if ('problem' in header) {
    throw new PreparationFailure('CSV_UNREADABLE', `Line ${header.line}: the header row cannot be read`);
  }
  const [problem] = columnProblems(mapping, header.cells.length);
  if (problem !== undefined) throw new PreparationFailure('CSV_COLUMN_OUT_OF_RANGE', problem.message);
  return csvCandidateReader(mapping, header.cells);
}

function malformed({ line, problem }: { readonly line: number; readonly problem: string }): Candidate {
  return { line, given: '', phone: undefined, malformed: problem };
}

// The entries of `quick_contacts` as candidates, in batches.

function* readQuickCandidates(
  entries: readonly string[],
  defaultCountry: string,
  batchSize: number,
): Generator<readonly Candidate[]> {
  for (let at = 0; at < entries.length; at += batchSize)
    yield entries.slice(at, at + batchSize).map((entry) => quickCandidate(entry, defaultCountry));
}

export function quickCandidate(entry: string, defaultCountry: string): Candidate {
  const { phone, values } = parseQuickContact(entry);
  const reading = readNumber(phone, '', defaultCountry);
  return isPhoneNumber(reading)
    ? { line: null, given: phone, phone: reading, inline: values }
    : { line: null, given: phone, phone: undefined, problem: reading.problem, inline: values };
}

/** The maximum number of values that any entry has after its phone number. */
export function largestInlineCount(entries: readonly string[]): number {
  return entries.reduce((largest, entry) => Math.max(largest, parseQuickContact(entry).values.length), 0);
}
