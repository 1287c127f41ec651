/** Checks rules of Spec 4.1 that need only the request, such as fields that depend on each other. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRight } from 'fp-ts/lib/Either.js';
import { maxRecordBytes } from '../audience/csv-row.ts';
import { createCsvRowReader } from '../audience/csv-rows.ts';
import type { CreateCampaign } from '../../codecs/create-campaign.ts';
import { IsoDateTime } from '../../codecs/scalars.ts';
import { columnProblems } from '../../domain/audience/csv.ts';
import { mostProblems, type FieldProblem } from '../../domain/error.ts';
import { normalisePhoneNumber } from '../../domain/phone-number.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { parseQuickContact } from '../../domain/audience/quick-contact.ts';
import { conditionProblems } from '../../domain/contacts/segment-filter.ts';

const csvSources = ['csv_contacts_string', 'csv_file_key', 'csv_file_url'] as const;
const probeBytes = 4 * 1024;
/** 2 MiB hold the header and the first row, since a record has at most 1 MiB. */
const mostProbed = 2 * maxRecordBytes;
/** Entries that the request itself checks (up to 20 µs each); the preparation skips invalid numbers among the others. */
const mostChecked = 2_000;
/** Characters of a number with its values: more than any template's body takes. */
const longestEntry = 16_384;

const problem = (field: string, message: string): FieldProblem => ({ field, message });

/** The instant of a scheduled campaign; null for an immediate one. */
export function scheduleOf(
  body: CreateCampaign,
  now: Date,
): { readonly at: Date | null; readonly problems: readonly FieldProblem[] } {
  const refuse = (message: string) => ({ at: null, problems: [problem('scheduled_at', message)] });
  if (body.send_type === 'IMMEDIATE') {
    const isGiven = body.scheduled_at !== undefined && body.scheduled_at !== null;
    return isGiven ? refuse('scheduled_at is only for SCHEDULED campaigns') : { at: null, problems: [] };
  }
  if (body.scheduled_at === undefined || body.scheduled_at === null)
    return refuse('scheduled_at is required beside SCHEDULED, such as 2026-12-24T18:00:00Z');
  const decoded = IsoDateTime.decode(body.scheduled_at);
  if (!isRight(decoded))
    return refuse(
      'scheduled_at must be an ISO 8601 date-time with a time zone, such as 2026-12-24T18:00:00Z',
    );
  const at = decoded.right;
  if (at.getTime() <= now.getTime()) return refuse('Scheduled time must be in the future');
  return { at, problems: [] };
}

const yearMs = 366 * 24 * 60 * 60 * 1_000;

/** Warns of a time more than a year ahead, which is allowed but probably a mistyped year. */
export function scheduleWarnings(scheduledAt: Date | null, now: Date): readonly FieldProblem[] {
  if (scheduledAt === null || scheduledAt.getTime() - now.getTime() <= yearMs) return [];
  return [problem('scheduled_at', 'scheduled_at is more than a year ahead: check the year')];
}

/** Most bytes of a campaign's `audience` and `variable_mapping` as JSON, which each answer about the campaign repeats. */
const maxStoredBytes = 256 * 1024;

/** The problem of input that is stored with the campaign and too large, named after the largest field. */
export function storedSizeProblems(stored: Readonly<Record<string, unknown>>): readonly FieldProblem[] {
  const sizes = Object.entries(stored).map(
    ([field, value]) => [field, value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))] as const,
  );
  const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  const [largest] = sizes.toSorted(([, one], [, other]) => other - one);
  if (largest === undefined || all <= maxStoredBytes) return [];
  const [field, bytes] = largest;
  const message = `${field} takes ${bytes} bytes as JSON, but the audience and variable_mapping may take ${maxStoredBytes} bytes together: shorten it, or upload the audience as a file`;
  return [problem(field, message)];
}

/** Problems of the audience input for its selection type. */
export async function audienceProblems(body: CreateCampaign): Promise<readonly FieldProblem[]> {
  switch (body.contact_selection_type) {
    case 'all_contacts':
      return [];
    case 'segmented':
      return segmentProblems(body);
    case 'quick_contacts':
      return quickContactProblems(body);
    case 'csv_contacts':
      return csvProblems(body);
    case 'failed_contacts':
      return body.failed_campaign_id === undefined
        ? [problem('failed_campaign_id', 'failed_campaign_id is required: one of GET /api/campaigns')]
        : [];
  }
}

function segmentProblems({ segments, contact_filters: filters }: CreateCampaign): readonly FieldProblem[] {
  const missing =
    segments === undefined || segments.length === 0
      ? [problem('segments', 'segments must name at least one of GET /api/segments')]
      : [];
  const conditions =
    filters === undefined ? [] : conditionProblems(filters.conditions, 'contact_filters.conditions');
  return [...missing, ...conditions];
}

function quickContactProblems({ quick_contacts: entries }: CreateCampaign): readonly FieldProblem[] {
  if (entries === undefined || entries.length === 0) {
    return [problem('quick_contacts', 'quick_contacts must hold at least one phone number')];
  }
  const tooLong = entries.findIndex(({ length }) => length > longestEntry);
  if (tooLong !== -1) {
    const field = `quick_contacts.${tooLong}`;
    return [problem(field, `${field} must have at most ${longestEntry} characters`)];
  }
  const problems: FieldProblem[] = [];
  for (const [index, entry] of entries.slice(0, mostChecked).entries()) {
    if (normalisePhoneNumber(parseQuickContact(entry).phone) !== undefined) continue;
    problems.push(
      problem(
        `quick_contacts.${index}`,
        `quick_contacts.${index} must be in international form, such as +4915112345678`,
      ),
    );
    if (problems.length === mostProblems) break;
  }
  return problems;
}

async function csvProblems(body: CreateCampaign): Promise<readonly FieldProblem[]> {
  const given = csvSources.filter((source) => body[source] !== undefined);
  const problems: FieldProblem[] = [];
  if (given.length === 0) {
    problems.push(
      problem('csv_contacts_string', 'csv_contacts_string, csv_file_key or csv_file_url is required'),
    );
  }
  if (given.length > 1)
    problems.push(problem(given[1] ?? '', `Only one of ${given.join(' and ')} may be sent`));
  if (body.csv_mapping === undefined)
    problems.push(problem('csv_mapping', 'csv_mapping is required: the numbers of the columns'));
  if (problems.length > 0 || body.csv_contacts_string === undefined) return problems;
  return inlineCsvProblems(body.csv_contacts_string, body.csv_mapping);
}

async function inlineCsvProblems(
  csv: string,
  mapping: CreateCampaign['csv_mapping'],
): Promise<readonly FieldProblem[]> {
  const refuse = (message: string) => [problem('csv_contacts_string', message)];
  try {
    const [header, first] = await firstRows(csv);
    if (header === undefined || !('cells' in header)) return refuse('csv_contacts_string has no header row');
    if (first === undefined) return refuse('csv_contacts_string must have at least one data row');
    return mapping === undefined ? [] : columnProblems(mapping, header.cells.length);
  } catch (error) {
    if (error instanceof PreparationFailure)
      return refuse(`csv_contacts_string cannot be read: ${error.message}`);
    throw error;
  }
}

/** The header and the first data row; reads no further than they reach. */
async function firstRows(csv: string) {
  const reader = createCsvRowReader();
  const text = csv.startsWith('\uFEFF') ? csv.slice(1) : csv;
  const rows = [];
  for (let at = 0; at < Math.min(text.length, mostProbed) && rows.length < 2; at += probeBytes) {
    for (const row of reader.write(Buffer.from(text.slice(at, at + probeBytes).toWellFormed())))
      rows.push(row);
    if (at + probeBytes >= text.length) rows.push(...reader.end());
    await nextTurn();
  }
  return rows;
}
