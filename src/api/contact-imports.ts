/** Imports of contacts from a CSV: begin, progress, what became of the rows, cancel. */
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { DefaultCountry, ImportMapping } from '../codecs/campaign-audience.ts';
import { describe, named } from '../codecs/json-schema.ts';
import { report } from '../codecs/report.ts';
import {
  cursorOf,
  Digits,
  idOf,
  Integer,
  integerOf,
  IsoDateTime,
  limitUpTo,
  repeated,
  Uuid,
} from '../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../codecs/struct.ts';
import { type UploadedFile, uploadCampaignFile } from '../commands/campaigns/upload-campaign-file.ts';
import { cancelImport, createImport } from '../commands/contacts/create-import.ts';
import type { Dependencies } from '../dependencies.ts';
import { preparationErrorCodes } from '../domain/campaigns/campaign.ts';
import { describeReasons, importReasonTable } from '../domain/campaigns/reasons.ts';
import { importModes, importReasons, importResults, importStates } from '../domain/contacts/import.ts';
import { CallerFailure, Invalid } from '../domain/error.ts';
import { deleteCampaignFile } from '../records/campaigns/files.ts';
import {
  type ContactImport,
  getImport,
  type ImportedRow,
  listImportRows,
  listImports,
} from '../records/contacts/imports.ts';
import { insertAuditEntry } from '../records/operations/audit.ts';
import { FileKey } from './campaigns/csv-files.ts';
import { csvAnswer, wantsCsv } from './frame/csv.ts';
import { endpoint, type FileReceiver } from './frame/endpoint.ts';
import {
  answer,
  answerWith,
  cursorPageOf,
  cutPage,
  oneCursorPage,
  succeed,
  succeedWith,
} from './frame/envelope.ts';

const tag = 'Contacts';
const path = '/api/contacts/imports';
const params = struct({ id: idOf('Import') });
const maxBytes = 256 * 1024 * 1024;

const Count = (description: string) => describe(Integer, { description });

const Import = named(
  'ContactImport',
  struct({
    id: Uuid,
    state: describe(oneOf(importStates, 'ContactImportState'), {
      description:
        'PENDING: waits for a worker. RUNNING: reads the file. COMPLETED: every row is done. FAILED: the file cannot be read further, see `error`. CANCELLED: you cancelled it. What is done stays in every state.',
    }),
    csv_file_key: describe(t.string, { description: 'Key of the file, for another import.' }),
    mapping: describe(ImportMapping, { description: '`mapping` of the request, or the guessed one.' }),
    mode: describe(oneOf(importModes, 'ContactImportMode'), {
      description: 'Whether people without a contact get one, and contacts are changed.',
    }),
    default_country: describe(nullish(t.string), {
      description:
        'Country of numbers that name none (ISO 3166 alpha-2), of the request or the workspace; null without one.',
    }),
    dry_run: describe(t.boolean, { description: 'True if nothing but the counts and rows is written.' }),
    progress: describe(t.number, { description: 'Share of the file that is done, from 0 to 1.' }),
    rate: describe(nullish(t.number), { description: 'Rows per second; null before the first rows.' }),
    counts: describe(
      named(
        'ContactImportCounts',
        struct({
          rows: Count('Rows that are done.'),
          created: Count('New contacts.'),
          updated: Count('Contacts that were changed.'),
          unchanged: Count('Contacts that have everything the row says.'),
          skipped: Count('Rows that were not imported; see `reasons`.'),
          opted_out: Count('Rows that say that the person opted out, skipped ones included.'),
          opted_in: Count('Rows whose opt-in was recorded.'),
        }),
      ),
      { description: 'Rows by what became of them.' },
    ),
    reasons: describe(t.record(t.string, Integer), {
      description: 'Number of skipped rows by reason.',
      propertyNames: { $ref: '#/components/schemas/ContactImportReason' },
    }),
    error: describe(
      nullish(
        named(
          'ContactImportError',
          struct({
            code: describe(oneOf(preparationErrorCodes, 'PreparationErrorCode'), {
              description: 'Machine-readable cause.',
            }),
            message: t.string,
          }),
        ),
      ),
      { description: 'Why the import failed; null otherwise.' },
    ),
    created_at: IsoDateTime,
    started_at: describe(nullish(IsoDateTime), { description: 'When a worker began; null before.' }),
    ended_at: describe(nullish(IsoDateTime), { description: 'When it ended; null before.' }),
  }),
);

const example = {
  id: '0197c0de-0000-7000-8000-0000000000d1',
  state: 'RUNNING',
  csv_file_key: 'csv_4f7a2d2e-5a0b-4c55-9d0a-0a3f5b0c7b11.csv',
  mapping: {
    phone_column: 0,
    name_column: 1,
    custom_field_mapping: { city: 2 },
    consent: { column: 3, meaning: 'opt_out' },
    tags: ['VIP'],
  },
  mode: 'both',
  default_country: 'DE',
  dry_run: false,
  progress: 0.42,
  rate: 25000,
  counts: {
    rows: 42000,
    created: 30000,
    updated: 8000,
    unchanged: 3997,
    skipped: 3,
    opted_out: 412,
    opted_in: 0,
  },
  reasons: { INVALID_PHONE: 3 },
  error: null,
  created_at: '2026-11-21T09:00:00.000Z',
  started_at: '2026-11-21T09:00:01.000Z',
  ended_at: null,
};

const msPerSecond = 1_000;

function present(found: ContactImport) {
  const { rows, created, updated, unchanged, skipped, optedOut, optedIn, size, bytesRead } = found;
  const { startedAt, endedAt, updatedAt, state } = found;
  const seconds =
    startedAt === null ? 0 : ((endedAt ?? updatedAt).getTime() - startedAt.getTime()) / msPerSecond;
  return {
    id: found.id,
    state,
    csv_file_key: found.fileKey,
    mapping: found.mapping,
    mode: found.mode,
    default_country: found.defaultCountry,
    dry_run: found.dryRun,
    progress:
      state === 'COMPLETED' ? 1 : Math.min(1, Math.round((1_000 * bytesRead) / Math.max(1, size)) / 1_000),
    rate: rows === 0 || seconds <= 0 ? null : Math.round(rows / seconds),
    counts: { rows, created, updated, unchanged, skipped, opted_out: optedOut, opted_in: optedIn },
    reasons: found.reasons,
    error:
      found.errorCode === null
        ? null
        : {
            code:
              preparationErrorCodes.find((code) => code === found.errorCode) ?? ('CSV_UNREADABLE' as const),
            message: found.errorMessage ?? '',
          },
    created_at: found.createdAt,
    started_at: startedAt,
    ended_at: endedAt,
  };
}

const options = {
  mapping: describe(nullish(ImportMapping), {
    description: 'Columns by meaning, counted from 0; guessed if it is null or absent.',
  }),
  mode: describe(oneOf(importModes, 'ContactImportMode'), {
    description:
      '`create`: only people without a contact; `update`: only contacts; `both` (default). Values of the file replace those of a contact; blank cells do not.',
  }),
  default_country: DefaultCountry,
  dry_run: describe(t.boolean, {
    description: '`true` changes no contact, and shows what would become of the rows; default `false`.',
  }),
};
const JsonBody = struct({ csv_file_key: FileKey }, options);

const text = (description: string) => ({ type: 'string', description });
const started = 'Import started';

export const createContactImport = endpoint(
  {
    method: 'POST',
    path,
    operationId: 'createContactImport',
    summary: 'Import contacts from a CSV',
    description:
      'Takes a form with the file, or `csv_file_key` of a file uploaded before as a form or as JSON. A worker then reads the file in batches; each row is applied once. Opt-outs in the file always count, those of skipped rows too; an opt-in is recorded and never overrides an opt-out. Emits `contact.created` and `contact.updated`. A workspace can have 10 imports at a time that have not ended.',
    tag,
    access: 'workspace',
    body: 'multipart',
    bodySchema: {
      type: 'object',
      properties: {
        file: { type: 'string', format: 'binary', description: 'The CSV, up to 256 MiB.' },
        csv_file_key: text('`csv_file_key` of a file that was uploaded before, in place of `file`.'),
        mapping: text('`mapping` as JSON; guessed if it is absent.'),
        mode: text('`create`, `update` or `both` (default).'),
        default_country: text('Country of numbers that name none (ISO 3166 alpha-2).'),
        dry_run: text('`true` changes no contact.'),
      },
    },
    jsonBody: JsonBody,
    bodyExample: { csv_file_key: example.csv_file_key, mapping: example.mapping, default_country: 'DE' },
    responses: { 202: answerWith('The import', started, Import, { ...example, state: 'PENDING' }) },
    errors: [404, 409],
  },
  async ({ dependencies, principal, body }) => {
    const given = body as FileReceiver | t.TypeOf<typeof JsonBody>;
    const create = ({ csv_file_key, mapping, mode, default_country, dry_run }: t.TypeOf<typeof JsonBody>) =>
      createImport(dependencies, principal, {
        fileKey: csv_file_key,
        mapping: mapping ?? undefined,
        mode: mode ?? 'both',
        defaultCountry: default_country ?? null,
        dryRun: dry_run ?? false,
      });
    const created =
      typeof given === 'function'
        ? await createFromForm(dependencies, principal.workspaceId, { receive: given, create })
        : await create(given);
    return { status: 202, body: succeedWith(started, present(created)) };
  },
);

interface FormImport {
  readonly receive: FileReceiver;
  readonly create: (asked: t.TypeOf<typeof JsonBody>) => Promise<ContactImport>;
}

/** A file whose import is refused is deleted. */
async function createFromForm(
  dependencies: Dependencies,
  workspaceId: number,
  { receive, create }: FormImport,
): Promise<ContactImport> {
  const { database, storage } = dependencies;
  const fields = new Map<string, string>();
  const uploaded = await receive(
    { field: 'file', maxBytes, fields, isOptional: true },
    (file): Promise<UploadedFile | undefined> => uploadCampaignFile(dependencies, workspaceId, file),
  );
  try {
    const key = uploaded?.key ?? fields.get('csv_file_key');
    if (key === undefined) throw Invalid.at('file', 'file or csv_file_key is required');
    const decoded = JsonBody.decode({ ...readFields(fields), csv_file_key: key });
    if (!isRight(decoded)) throw Invalid.of(report(decoded.left));
    return await create(decoded.right);
  } catch (error) {
    // After anything but a refusal the import may have been stored; retention removes the file then.
    if (uploaded !== undefined && error instanceof CallerFailure) {
      await storage.delete(uploaded.key);
      await deleteCampaignFile(database, uploaded.key);
    }
    throw error;
  }
}

/** The fields of a form as JSON has them; an empty one counts as absent. */
function readFields(fields: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> {
  const given = Object.fromEntries([...fields].filter(([, value]) => value.trim() !== ''));
  const { mapping, dry_run: dryRun, mode, default_country } = given;
  return {
    ...(mapping !== undefined && { mapping: parseJson('mapping', mapping) }),
    ...(dryRun !== undefined && {
      dry_run: ({ true: true, false: false } as Record<string, unknown>)[dryRun] ?? dryRun,
    }),
    ...(mode !== undefined && { mode }),
    ...(default_country !== undefined && { default_country }),
  };
}

function parseJson(field: string, given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw Invalid.at(field, `${field} must be a JSON object`);
  }
}

const ImportCursor = cursorOf(struct({ id: Uuid }));

export const listContactImports = endpoint(
  {
    method: 'GET',
    path,
    operationId: 'listContactImports',
    summary: 'List the imports of contacts',
    description: 'Newest first.',
    tag,
    access: 'workspace',
    query: optional({ cursor: ImportCursor, limit: limitUpTo(100) }),
    responses: { 200: oneCursorPage('One page of imports', Import, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? 10;
    const found = await listImports(database, workspaceId, { after: query.cursor?.id, limit });
    const cursor = ({ id }: ContactImport) => ImportCursor.encode({ id });
    return { status: 200, body: cutPage(found, limit, { cursor, present }) };
  },
);

export const getContactImport = endpoint(
  {
    method: 'GET',
    path: `${path}/:id`,
    operationId: 'getContactImport',
    summary: 'Read the progress of an import of contacts',
    tag,
    access: 'workspace',
    params,
    responses: { 200: answer('The import', Import, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(present(await getImport(database, workspaceId, id))),
  }),
);

const cancelled = 'Import cancelled';

export const cancelContactImport = endpoint(
  {
    method: 'POST',
    path: `${path}/:id/cancel`,
    operationId: 'cancelContactImport',
    summary: 'Cancel an import of contacts',
    description: 'Rows that are done stay. An import that has ended stays as it is.',
    tag,
    access: 'workspace',
    params,
    responses: {
      200: answerWith('The import', cancelled, Import, {
        ...example,
        state: 'CANCELLED',
        ended_at: '2026-11-21T09:00:03.000Z',
      }),
    },
  },
  async ({ dependencies, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeedWith(cancelled, present(await cancelImport(dependencies, workspaceId, id))),
  }),
);

const RowCursor = cursorOf(struct({ line: integerOf({ min: 0 }) }));
const Reason = describe(oneOf(importReasons, 'ContactImportReason'), {
  description: describeReasons(importReasonTable),
});

const Row = named(
  'ContactImportRow',
  struct({
    line: describe(Integer, {
      description: 'Line of the file on which the row begins; the header is line 1.',
    }),
    result: describe(oneOf(importResults, 'ContactImportResult'), {
      description: 'What became of the row. Rows that changed nothing are not listed.',
    }),
    reason: describe(nullish(Reason), { description: 'Why the row was skipped; null otherwise.' }),
    detail: describe(nullish(t.string), {
      description: 'What exactly is wrong, cells masked; null if there is nothing to add.',
    }),
    contact_id: describe(nullish(Uuid), { description: 'Id of the contact; null without one.' }),
    phone_number: describe(nullish(Digits), {
      description:
        'Number of the contact, digits with country calling code; null without one and after an erasure.',
    }),
  }),
);

const presentRow = ({ line, result, reason, detail, contactId, phoneNumber }: ImportedRow) => ({
  line,
  result,
  reason,
  detail,
  contact_id: contactId,
  phone_number: phoneNumber,
});

const rowColumns = ['line', 'phone_number', 'result', 'reason', 'detail', 'contact_id'] as const;

export const listContactImportRows = endpoint(
  {
    method: 'GET',
    path: `${path}/:id/rows`,
    operationId: 'listContactImportRows',
    summary: 'List the skipped and changed rows of an import',
    description:
      'In the order of the file: the first 100,000 skipped rows, and the first 10,000 that created and that changed a contact. They are kept for the retention of the installation (30 days by default). `Accept: text/csv` or `format=csv` returns all of them as CSV.',
    tag,
    access: 'workspace',
    params,
    query: optional({
      result: describe(repeated(oneOf(importResults, 'ContactImportResult')), {
        description: 'Only rows with these results.',
      }),
      reason: repeated(Reason),
      cursor: RowCursor,
      limit: limitUpTo(1000),
      format: describe(oneOf(['csv'], 'ConsentFormat'), {
        description: '`csv` returns a CSV file, as `Accept: text/csv` does; useful for links.',
      }),
    }),
    responses: {
      200: {
        description: 'Rows of the import',
        body: cursorPageOf(Row),
        content: { 'text/csv': { type: 'string' } },
        example: {
          status: 'success',
          data: [
            {
              line: 17,
              result: 'skipped',
              reason: 'INVALID_PHONE',
              detail: '***123: it is too short: a mobile number of Germany has 10 to 11 digits after +49',
              contact_id: null,
              phone_number: null,
            },
          ],
          pagination: { limit: 100, nextCursor: null },
        },
      },
    },
  },
  async ({
    dependencies: { database },
    principal: { workspaceId },
    params: { id },
    query: asked,
    request,
  }) => {
    await getImport(database, workspaceId, id);
    const { result: results, reason: reasons } = asked;
    const list = (after: number, limit: number) =>
      listImportRows(database, { workspaceId, importId: id, results, reasons }, { after, limit });
    if (asked.format === 'csv' || wantsCsv(request)) {
      await insertAuditEntry(database, { workspaceId, action: 'contact.export-import', objectId: id });
      return {
        status: 200,
        ...csvAnswer<ReturnType<typeof presentRow>>(`import-${id}.csv`, rowColumns, {
          list: async (after, limit) => (await list(after?.line ?? 0, limit)).map(presentRow),
          isStillAllowed: request.isStillAllowed,
        }),
      };
    }
    const limit = asked.limit ?? 100;
    const found = await list(asked.cursor?.line ?? 0, limit);
    const cursor = ({ line }: ImportedRow) => RowCursor.encode({ line });
    return { status: 200, body: cutPage(found, limit, { cursor, present: presentRow }) };
  },
);
