/** Shows an uploaded CSV as a campaign would read it: guesses its columns and renders its first rows. */
import type { CreateCampaign } from '../../codecs/create-campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { NewRecipient } from '../../domain/audience/candidate.ts';
import {
  columnProblems,
  type CsvDelimiter,
  csvKeys,
  type CsvMapping,
  mostShownColumns,
} from '../../domain/audience/csv.ts';
import { guessColumns, type GuessedColumns } from '../../domain/audience/guess-columns.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { requiresConsent } from '../../domain/contacts/consent.ts';
import type { ImportMapping } from '../../domain/contacts/import.ts';
import { Invalid, NotFound, type FieldProblem } from '../../domain/error.ts';
import { isPhoneNumber, readNumber } from '../../domain/phone-number.ts';
import { parseTemplate } from '../../domain/templates/components.ts';
import { compileRenderer } from '../../domain/templates/plan.ts';
import { previewMessage, type MessagePreview } from '../../domain/templates/preview.ts';
import { compileMapping, type CompiledMapping } from '../../domain/templates/variable-mapping.ts';
import { type CampaignFile, findCampaignFile } from '../../records/campaigns/files.ts';
import { getTemplate, type Template } from '../../records/templates/templates.ts';
import { getConsentPolicy, getWorkspaceCountry } from '../../records/workspaces/workspaces.ts';
import { createCsvRowReader, type CsvRow } from '../audience/csv.ts';
import { readCsvCandidates, readCsvRows } from '../audience/candidates.ts';
import { dryRunAudience, numberWarnings, type TriedRow } from '../audience/dry-run-audience.ts';

export interface CsvPreviewRequest {
  readonly workspaceId: number;
  readonly key: string;
  /** Guessed if undefined. */
  readonly mapping: CsvMapping | undefined;
  /** Template that renders each row as a message; if undefined, rows come without messages. */
  readonly templateId: string | undefined;
  readonly variableMapping: CreateCampaign['variable_mapping'];
  readonly keepsSkipped: boolean;
}

export interface CsvPreview extends GuessedColumns {
  readonly delimiter: CsvDelimiter;
  /** The line of the file on which the header begins. */
  readonly headerLine: number;
  readonly headers: readonly string[];
  readonly rows: readonly (TriedRow & { readonly message: MessagePreview | null })[];
  readonly reasons: Readonly<Record<string, number>>;
  /** Numbers in ranges that are not known to be in use, by ISO 3166 alpha-2 code. */
  readonly unverified: Readonly<Record<string, number>>;
  /** About numbers that are sent to and may be wrong. */
  readonly warnings: readonly FieldProblem[];
  /** Empty unless `keepsSkipped`. */
  readonly skippedRows: readonly NewRecipient[];
  readonly rowsRead: number;
  readonly isWhole: boolean;
  /** Reasons why the template does not accept the variable mapping. */
  readonly problems: readonly FieldProblem[];
}

type Previewer = Pick<Dependencies, 'database' | 'now' | 'secrets' | 'storage'>;

const mostRows = 10_000;
const mostMs = 5_000;
// Columns are guessed from the beginning of the file, up to the first of these limits: rows, cells or pieces.
const guessedFrom = 200;
const guessedCells = 4_000;
const guessedPieces = 32;

/** Throws NotFound, or Invalid if the file lacks columns of the mapping. */
export async function previewCsv(dependencies: Previewer, request: CsvPreviewRequest): Promise<CsvPreview> {
  const { workspaceId, key } = request;
  const file = await findCampaignFile(dependencies.database, workspaceId, key);
  if (file === undefined) throw new NotFound('Campaign file');
  const beginning = await readBeginning(dependencies, key);
  const ofWorkspace = await getWorkspaceCountry(dependencies.database, workspaceId);
  const guessed = guessColumns(file.headers.slice(0, mostShownColumns), beginning.rows, ofWorkspace ?? '');
  const mapping = request.mapping ?? guessed.mapping;
  const defaultCountry = mapping.default_country ?? ofWorkspace ?? '';
  const outOfRange = columnProblems(mapping, file.headers.length);
  if (outOfRange.length > 0) throw Invalid.of(outOfRange);
  const message = await messageOf(dependencies, request, mapping);
  const isMarketing = message === undefined || message.template.category === 'MARKETING';
  const cut = { isCut: false };
  const trial = await dryRunAudience(dependencies, {
    workspaceId,
    open: async () =>
      readCsvCandidates(beginningOf(await open(dependencies, key), cut), {
        ...mapping,
        default_country: defaultCountry,
      }),
    rules: {
      blockedCountries: new Set(),
      resolvers: message?.compiled?.resolvers ?? [],
      limits: message?.compiled?.plan.limits ?? [],
      customFields: message?.compiled?.customFields ?? [],
      isMarketing,
      requiresContact: requiresConsent(
        await getConsentPolicy(dependencies.database, workspaceId),
        isMarketing,
      ),
    },
    byNumber: true,
    mapping,
    mostRows,
    mostMs,
    keepsSkipped: request.keepsSkipped,
  }).catch(asInvalid);
  return {
    delimiter: beginning.delimiter,
    headerLine: beginning.headerLine,
    headers: file.headers,
    mapping,
    confidence: guessed.confidence,
    rows: trial.first.map((row) => ({ ...row, message: messageTo(message, row) })),
    reasons: trial.skipped,
    unverified: trial.unverified,
    warnings: [
      ...headerWarnings(file.headers[mapping.phone_column], beginning.headerLine),
      ...numberWarnings(trial, 'csv_contacts', [defaultCountry]),
    ],
    skippedRows: trial.skippedRows,
    rowsRead: trial.rowsRead,
    isWhole: trial.isWhole && !cut.isCut,
    problems: message?.problems ?? [],
  };
}

const lastName =
  /^(?:last|sur|family)[ _-]?names?$|^(?:nachname|familienname|apellidos?|sobrenome|cognome|achternaam|nazwisko|soyad[ıi]?|nom de famille|фамилия|прізвище|اسم العائلة|姓)$/iu;

/** The columns of an import of contacts. */
export async function guessMapping(
  dependencies: Pick<Previewer, 'storage'>,
  file: CampaignFile,
  defaultCountry: string,
): Promise<ImportMapping> {
  const { rows } = await readBeginning(dependencies, file.key);
  const { mapping, confidence } = guessColumns(file.headers.slice(0, mostShownColumns), rows, defaultCountry);
  if (confidence['phone_column'] === 0)
    throw Invalid.at('mapping', 'mapping is required: no column of the file looks like phone numbers');
  const { name_column: nameColumn, custom_field_mapping: custom, ...rest } = mapping;
  const last = Object.entries(custom ?? {}).find(([name]) => lastName.test(name.trim()));
  if (last === undefined || nameColumn == null) return mapping;
  const others = Object.fromEntries(Object.entries(custom ?? {}).filter(([name]) => name !== last[0]));
  return { ...rest, name_column: nameColumn, last_name_column: last[1], custom_field_mapping: others };
}

/** A file without column names loses its first person, who is taken for the names. */
function headerWarnings(header: string | undefined, line: number): readonly FieldProblem[] {
  if (header === undefined || !isPhoneNumber(readNumber(header))) return [];
  const message = `Line ${line} is read as the names of the columns, but holds a phone number: if it is a person, write a line of names above it`;
  return [{ field: 'csv_mapping.phone_column', message }];
}

function asInvalid(error: unknown): never {
  throw error instanceof PreparationFailure ? new Invalid(error.message) : error;
}

async function open({ storage }: Pick<Previewer, 'storage'>, key: string): Promise<AsyncIterable<Buffer>> {
  const stream = await storage.read(key);
  if (stream === undefined) throw new NotFound('Campaign file');
  return stream as AsyncIterable<Buffer>;
}

/** Reads the beginning of a file for at most `mostMs`. A row limit is not enough, because blank lines are not rows. */
async function* beginningOf(
  chunks: AsyncIterable<Buffer>,
  state: { isCut: boolean },
): AsyncGenerator<Buffer> {
  const endsAt = performance.now() + mostMs;
  for await (const chunk of chunks) {
    yield chunk;
    state.isCut = performance.now() > endsAt;
    if (state.isCut) return;
  }
}

/** Reads the delimiter, the line of the header and the first rows below it. */
async function readBeginning(dependencies: Pick<Previewer, 'storage'>, key: string) {
  const rows: CsvRow[] = [];
  const reader = createCsvRowReader();
  let [cells, pieces] = [0, 0];
  try {
    const chunks = beginningOf(await open(dependencies, key), { isCut: false });
    for await (const found of readCsvRows(chunks, reader)) {
      rows.push(...found);
      cells += found.reduce((sum, row) => sum + ('cells' in row ? row.cells.length : 0), 0);
      pieces += 1;
      const isEnough = rows.length > guessedFrom || cells > guessedCells || pieces > guessedPieces;
      if (isEnough && rows.length > 1) break;
    }
  } catch (error) {
    asInvalid(error);
  }
  const [header, ...below] = rows;
  return {
    delimiter: reader.delimiter() ?? ',',
    headerLine: header?.line ?? 1,
    rows: below
      .slice(0, guessedFrom)
      .flatMap((row) => ('cells' in row ? [row.cells.slice(0, mostShownColumns)] : [])),
  };
}

interface PreviewedMessage {
  readonly template: Template;
  readonly compiled: CompiledMapping | undefined;
  readonly problems: readonly FieldProblem[];
}

async function messageOf(
  { database, now }: Previewer,
  { workspaceId, templateId, variableMapping }: CsvPreviewRequest,
  mapping: CsvMapping,
): Promise<PreviewedMessage | undefined> {
  if (templateId === undefined) return undefined;
  const template = await getTemplate(database, workspaceId, templateId);
  const result = compileMapping(parseTemplate(template.components, template), variableMapping, {
    selectionType: 'csv_contacts',
    csvKeys: csvKeys(mapping),
    now: now(),
  });
  return result.ok
    ? { template, compiled: result.mapping, problems: [] }
    : { template, compiled: undefined, problems: result.problems };
}

function messageTo(message: PreviewedMessage | undefined, { recipient }: TriedRow): MessagePreview | null {
  if (message === undefined || recipient.skip !== undefined) return null;
  const { template, compiled } = message;
  const sent = compiled === undefined ? [] : compileRenderer(compiled.plan)(recipient.variables);
  return previewMessage(template, sent);
}
