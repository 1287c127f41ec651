/** Uploaded CSV files of campaigns: upload, the public URL it returns, preview, download and deletion. */
import * as t from 'io-ts';
import { describe, named } from '../../codecs/json-schema.ts';
import { campaignFileUrl, isCampaignFileKey } from '../../commands/audience/campaign-file.ts';
import { Digits, Integer, Uuid } from '../../codecs/scalars.ts';
import { nullish, oneOf, optional, refined, struct } from '../../codecs/struct.ts';
import { uploadCampaignFile } from '../../commands/campaigns/upload-campaign-file.ts';
import { excerptCells, excerptHeaders, excerptRows } from '../../domain/audience/csv.ts';
import { Conflict, NotFound, shownProblems } from '../../domain/error.ts';
import { deleteCampaignFile, findCampaignFile, isFileNeeded } from '../../records/campaigns/files.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { endpoint } from '../frame/endpoint.ts';
import { acknowledge, acknowledgement, answer, FieldProblems, succeed } from '../frame/envelope.ts';
import { CsvMapping, UnverifiedNumbers } from '../../codecs/campaign-audience.ts';
import { countsBy, MessagePreview, messagePreviewExample } from '../../codecs/message.ts';
import { VariableMapping } from '../../codecs/variable-mapping.ts';
import { previewCsv } from '../../commands/campaigns/preview-csv.ts';
import { skipReasons } from '../../domain/campaigns/recipient.ts';

const CsvFile = named(
  'CsvFile',
  struct({
    csv_file_key: t.string,
    csv_file_url: t.string,
    size: Integer,
    rows_sampled: Integer,
    headers: t.readonlyArray(t.string),
  }),
);

const maxBytes = 256 * 1024 * 1024;
const what = 'Campaign file';

export const FileKey = refined(t.string, isCampaignFileKey, `${what} not found`, {
  description: '`csv_file_key` of the upload.',
});

export const uploadCsvFile = endpoint(
  {
    method: 'POST',
    path: '/api/campaigns/csv-files',
    operationId: 'uploadCampaignCsv',
    summary: 'Upload a CSV for a campaign',
    tag: 'Campaigns',
    access: 'workspace',
    body: 'multipart',
    bodySchema: {
      type: 'object',
      required: ['file'],
      properties: { file: { type: 'string', format: 'binary', description: 'The CSV, up to 256 MiB.' } },
    },
    responses: {
      201: answer('Stored; a campaign uses `csv_file_key` or `csv_file_url`', CsvFile, {
        csv_file_key: 'csv_4f7a2d2e-5a0b-4c55-9d0a-0a3f5b0c7b11.csv',
        csv_file_url:
          'https://campaigns.example.com/api/campaigns/csv-files/csv_4f7a2d2e-5a0b-4c55-9d0a-0a3f5b0c7b11.csv',
        size: 51234,
        rows_sampled: 1200,
        headers: ['phone', 'country', 'name'],
      }),
    },
  },
  async ({ dependencies, principal, body }) => {
    const { workspaceId } = principal;
    const { key, size, headers, rowsSampled } = await body({ field: 'file', maxBytes }, (file) =>
      uploadCampaignFile(dependencies, workspaceId, file),
    );
    const csv_file_url = campaignFileUrl(dependencies.config, key);
    return {
      status: 201,
      body: succeed({
        csv_file_key: key,
        csv_file_url,
        size,
        rows_sampled: rowsSampled,
        headers: excerptHeaders(headers),
      }),
    };
  },
);

export const getCsvFile = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/csv-files/:key',
    operationId: 'getCampaignCsv',
    summary: 'Download an uploaded CSV',
    tag: 'Campaigns',
    access: 'workspace',
    params: struct({ key: FileKey }),
    responses: { 200: { description: 'The file', content: { 'text/csv': { type: 'string' } } } },
  },
  async ({ dependencies, principal, params }) => {
    const known = await findCampaignFile(dependencies.database, principal.workspaceId, params.key);
    const content = known === undefined ? undefined : await dependencies.storage.read(params.key);
    if (content === undefined) throw new NotFound(what);
    const { workspaceId } = principal;
    await insertAuditEntry(dependencies.database, {
      workspaceId,
      action: 'file.download',
      objectId: params.key,
    });
    return {
      status: 200,
      content,
      contentType: 'text/csv',
      headers: { 'content-disposition': `attachment; filename="${params.key}"` },
    };
  },
);

export const deleteCsvFile = endpoint(
  {
    method: 'DELETE',
    path: '/api/campaigns/csv-files/:key',
    operationId: 'deleteCampaignCsv',
    summary: 'Delete an uploaded CSV',
    description:
      'Campaigns that are prepared no longer need the file. While one is prepared from it, or an import of contacts reads it, this is answered 409. Without a request a file is deleted 7 days after a campaign or an import was last created from it, or after the retention of the installation (30 days by default).',
    tag: 'Campaigns',
    access: 'workspace',
    params: struct({ key: FileKey }),
    responses: { 200: acknowledgement('The file is deleted', 'Campaign file deleted successfully') },
    errors: [409],
  },
  async ({ dependencies: { database, storage }, principal: { workspaceId }, params: { key } }) => {
    const needed = await isFileNeeded(database, workspaceId, key);
    if (needed === undefined) throw new NotFound(what);
    if (needed)
      throw new Conflict(
        'A campaign is being prepared, or contacts are imported, from this file: delete the file afterwards, or cancel them',
      );
    // The file before its row: if the process dies in between, the row leads a repeated request to it.
    await storage.delete(key);
    await database.transaction(async (transaction) => {
      await deleteCampaignFile(transaction, key);
      await insertAuditEntry(transaction, { workspaceId, action: 'file.delete', objectId: key });
    });
    return { status: 200, body: acknowledge('Campaign file deleted successfully') };
  },
);

const mostShownProblems = 20;

const SkippedRow = named(
  'CsvSkippedRow',
  struct({
    line: nullish(Integer),
    phone_number: nullish(Digits),
    reason: oneOf(skipReasons, 'SkipReason'),
    reason_detail: nullish(t.string),
  }),
);

const Preview = named(
  'CsvPreview',
  struct({
    // An enum with a tab stops oapi-codegen.
    delimiter: describe(t.string, { minLength: 1, maxLength: 1 }),
    header_line: describe(Integer, {
      description: 'Line of the file on which the column names begin; titles may come before them.',
    }),
    headers: describe(t.readonlyArray(t.string), {
      description: 'Names of the first 500 columns, shortened if long.',
    }),
    mapping: describe(CsvMapping, { description: '`csv_mapping` of the request, or the guessed one.' }),
    confidence: describe(t.record(t.string, t.number), {
      description: 'Confidence of the guess from 0 to 1, by field of the mapping.',
    }),
    rows: describe(
      t.readonlyArray(
        named(
          'CsvPreviewRow',
          struct({
            line: nullish(Integer),
            cells: t.readonlyArray(t.string),
            phone_number: nullish(Digits),
            reason: nullish(oneOf(skipReasons, 'SkipReason')),
            reason_detail: nullish(t.string),
            message: nullish(MessagePreview),
          }),
        ),
      ),
      { description: 'First ten rows, fewer if they are long, each with its first 500 cells.' },
    ),
    reasons: describe(countsBy('SkipReason'), {
      description: 'Number of rows that would be skipped, by reason.',
    }),
    skipped_rows: describe(t.readonlyArray(SkippedRow), {
      description:
        'Rows that would be skipped, of those that were read; empty unless `with_skipped_rows` is true.',
    }),
    rows_read: Integer,
    is_whole: describe(t.boolean, { description: 'False if the file has more rows than were read.' }),
    unverified_numbers: UnverifiedNumbers,
    warnings: describe(FieldProblems, {
      description:
        'Probable mistakes: numbers in ranges that are not known to be in use; digits that are probably national numbers of one country.',
    }),
    problems: describe(FieldProblems, {
      description: 'Problems of the variable mapping with the template, by field.',
    }),
  }),
);

export const previewCsvFile = endpoint(
  {
    method: 'POST',
    path: '/api/campaigns/csv-files/:key/preview',
    operationId: 'previewCampaignCsv',
    summary: 'Preview how a campaign would read an uploaded CSV',
    description:
      'Reads the first 10,000 rows. Without `csv_mapping` it guesses the columns; with `template_id` it renders the first rows as messages.',
    tag: 'Campaigns',
    access: 'workspace',
    params: struct({ key: FileKey }),
    body: optional({
      csv_mapping: CsvMapping,
      template_id: Uuid,
      variable_mapping: VariableMapping,
      with_skipped_rows: describe(t.boolean, {
        description: '`true` returns `skipped_rows`; default `false`.',
      }),
    }),
    bodyExample: { csv_mapping: { phone_column: 0, country_code_column: 1 } },
    responses: {
      200: answer('First rows as the campaign would read them', Preview, {
        delimiter: ',',
        header_line: 1,
        headers: ['phone', 'country', 'name'],
        mapping: { phone_column: 0, country_code_column: 1, name_column: 2 },
        confidence: { phone_column: 1, country_code_column: 0.98, name_column: 1 },
        rows: [
          {
            line: 2,
            cells: ['15112345678', '49', 'Ada'],
            phone_number: '4915112345678',
            reason: null,
            reason_detail: null,
            message: messagePreviewExample,
          },
        ],
        reasons: { INVALID_PHONE: 3 },
        skipped_rows: [],
        rows_read: 1200,
        is_whole: true,
        unverified_numbers: {},
        warnings: [],
        problems: [],
      }),
    },
  },
  async ({ dependencies, principal: { workspaceId }, params: { key }, body }) => {
    const found = await previewCsv(dependencies, {
      workspaceId,
      key,
      mapping: body.csv_mapping,
      templateId: body.template_id,
      variableMapping: body.variable_mapping,
      keepsSkipped: body.with_skipped_rows === true,
    });
    const rows = found.rows.map(({ candidate, recipient, message }) => ({
      line: candidate.line,
      cells: excerptCells(candidate.row ?? []),
      phone_number: recipient.phone?.digits ?? null,
      reason: recipient.skip?.reason ?? null,
      reason_detail: recipient.skip?.detail ?? null,
      message,
    }));
    const { delimiter, headerLine, headers, confidence, reasons, rowsRead, isWhole, problems } = found;
    const { phone_column, country_code_column, name_column, email_column } = found.mapping;
    const { custom_field_mapping, default_country, consent } = found.mapping;
    const mapping = {
      phone_column,
      country_code_column,
      ...(name_column != null && { name_column }),
      ...(email_column != null && { email_column }),
      ...(custom_field_mapping != null && { custom_field_mapping }),
      ...(default_country != null && { default_country }),
      ...(consent != null && { consent }),
    };
    const rest = {
      delimiter,
      header_line: headerLine,
      headers: excerptHeaders(headers),
      mapping,
      confidence,
      reasons,
      rows_read: rowsRead,
      is_whole: isWhole,
      unverified_numbers: found.unverified,
      warnings: found.warnings,
      problems: shownProblems(problems).slice(0, mostShownProblems),
    };
    const skippedRows = found.skippedRows.map(({ line, phone, skip }) => ({
      line,
      phone_number: phone?.digits ?? null,
      reason: skip?.reason ?? 'INVALID_PHONE',
      reason_detail: skip?.detail ?? null,
    }));
    return {
      status: 200,
      body: succeed({ ...rest, skipped_rows: skippedRows, rows: excerptRows(rows, rest) }),
    };
  },
);
