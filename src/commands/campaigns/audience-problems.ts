/** Checks the audience of a new campaign by what the request alone says (Spec 4.1). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CreateCampaign } from '../../codecs/create-campaign.ts';
import { columnProblems } from '../../domain/audience/csv.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { parseQuickContact } from '../../domain/audience/quick-contact.ts';
import { conditionProblems } from '../../domain/contacts/segment-filter.ts';
import { type FieldProblem, mostProblems } from '../../domain/error.ts';
import { isPhoneNumber, readNumber } from '../../domain/phone-number.ts';
import { createCsvRowReader, maxRecordBytes } from '../audience/csv.ts';

const csvSources = ['csv_contacts_string', 'csv_file_key', 'csv_file_url'] as const;
const probeBytes = 4 * 1024;
/** 2 MiB always contain the header and the first row, because a record has at most 1 MiB. */
const mostProbed = 2 * maxRecordBytes;
/** Entries checked during the request (up to 20 µs each); the preparation skips invalid numbers among the rest. */
const mostChecked = 2_000;
/** Characters in a number with its values: more than any template's body can have. */
const longestEntry = 16_384;

const problem = (field: string, message: string): FieldProblem => ({ field, message });

/** Problems with the audience input for its selection type. */
export async function audienceProblems(
  body: CreateCampaign,
  defaultCountry: string,
): Promise<readonly FieldProblem[]> {
  switch (body.contact_selection_type) {
    case 'all_contacts':
      return [];
    case 'segmented':
      return segmentProblems(body);
    case 'quick_contacts':
      return quickContactProblems(body, defaultCountry);
    case 'csv_contacts':
      return csvProblems(body);
    case 'failed_contacts':
      return body.failed_campaign_id === undefined
        ? [problem('failed_campaign_id', 'failed_campaign_id is required: one of GET /api/campaigns')]
        : [];
  }
}

function segmentProblems({ segments, contact_filters: filters }: CreateCampaign): readonly FieldProblem[] {
  const chooses = (segments?.length ?? 0) > 0 || (filters?.conditions.length ?? 0) > 0;
  const missing = chooses
    ? []
    : [
        problem(
          'segments',
          'segments must name at least one of GET /api/segments, unless contact_filters has conditions',
        ),
      ];
  const conditions =
    filters === undefined ? [] : conditionProblems(filters.conditions, 'contact_filters.conditions');
  return [...missing, ...conditions];
}

function quickContactProblems(
  { quick_contacts: entries }: CreateCampaign,
  defaultCountry: string,
): readonly FieldProblem[] {
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
    if (isPhoneNumber(readNumber(parseQuickContact(entry).phone, '', defaultCountry))) continue;
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

/** Reads the header and the first data row, and nothing after them. */
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
