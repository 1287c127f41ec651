/** POST /api/campaigns/csv-files, and the public URL it answers with. */
import * as t from 'io-ts';
import { named } from '../../codecs/json-schema.ts';
import { campaignFileUrl, isCampaignFileKey } from '../../commands/audience/campaign-file.ts';
import { Integer } from '../../codecs/scalars.ts';
import { refined, struct } from '../../codecs/struct.ts';
import { uploadCampaignFile } from '../../commands/campaigns/upload-campaign-file.ts';
import { excerptHeaders } from '../../domain/audience/csv-excerpt.ts';
import { NotFound } from '../../domain/error.ts';
import { findCampaignFile } from '../../records/campaigns/files.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, succeed } from '../frame/envelope.ts';

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
    return {
      status: 200,
      content,
      contentType: 'text/csv',
      headers: { 'content-disposition': `attachment; filename="${params.key}"` },
    };
  },
);
