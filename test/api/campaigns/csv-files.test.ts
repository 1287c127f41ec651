import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listExpiredCampaignFiles } from '../../../src/records/campaigns/files.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

const csv = 'phone,country,"full name"\r\n+4915112345678,49,Ada\r\n\r\n+4915112345679,49,Bert\r\n';
const boundary = 'a-boundary-of-the-tests';

function multipart(content: string | Buffer, field = 'file'): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="contacts.csv"\r\nContent-Type: text/csv\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

const upload = (body: Buffer, key = workspace.channelKey) =>
  api.send('POST', '/api/campaigns/csv-files', {
    key,
    body: new Uint8Array(body),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  });

const Count = row(t.type({ n: t.number }));
const countFiles = () =>
  api.database.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS n FROM campaign_file`);
const storedFiles = async () => readdir(join(api.dependencies.config.dataDir, 'files')).catch(() => []);

describe('POST /api/campaigns/csv-files', () => {
  it('stores the file and returns the key and URL by which a campaign names it', async () => {
    const answer = await upload(multipart(csv));
    expect(answer.status).toBe(201);
    const { csv_file_key: key, csv_file_url: url, ...rest } = answer.body.data;
    expect(rest).toEqual({
      size: Buffer.byteLength(csv),
      rows_sampled: 2,
      headers: ['phone', 'country', 'full name'],
    });
    expect(url.endsWith(`/api/campaigns/csv-files/${key}`)).toBe(true);
    const read = await api.send('GET', new URL(url).pathname, { key: workspace.channelKey });
    expect(read.status).toBe(200);
    expect(read.text).toBe(csv);
  });

  it('samples only the beginning of a large file', async () => {
    const rows = Array.from({ length: 200_000 }, (_, i) => `+49151${10_000_000 + i},49`).join('\n');
    const answer = await upload(multipart(`phone,country\n${rows}`));
    expect(answer.status).toBe(201);
    expect(answer.body.data.size).toBe(rows.length + 14);
    expect(answer.body.data.rows_sampled).toBeGreaterThan(1000);
    expect(answer.body.data.rows_sampled).toBeLessThan(200_000);
  });

  it.each([
    ['an empty file', multipart(''), 'file'],
    ['a header without rows', multipart('phone,country\n'), 'file'],
    ['a binary file', multipart(Buffer.from('89504e470d0a1a0a0000000d', 'hex')), 'file'],
    ['a form without the file', multipart(csv, 'other'), 'file'],
    ['a form that breaks off', multipart(csv).subarray(0, -30), undefined],
    [
      'a form that breaks off after the file',
      Buffer.concat([multipart(csv).subarray(0, -4), Buffer.from('\r\nContent-')]),
      undefined,
    ],
    ['what is no form', Buffer.from('phone,country'), undefined],
  ])('refuses %s with 400 and keeps nothing', async (_, body, field) => {
    const before = await countFiles();
    const filesBefore = await storedFiles();
    const answer = await upload(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error?.[0]?.field).toBe(field);
    expect(await countFiles()).toBe(before);
    expect(await storedFiles()).toEqual(filesBefore);
  });

  it('answers 415 to another media type, and 401 without a key', async () => {
    expect(
      (await api.send('POST', '/api/campaigns/csv-files', { key: workspace.channelKey, body: {} })).status,
    ).toBe(415);
    const answer = await api.send('POST', '/api/campaigns/csv-files', {
      body: new Uint8Array(multipart(csv)),
      headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    });
    expect(answer.status).toBe(401);
  });

  it('answers 413 to a file that says it is too large, before it is sent', async () => {
    const request = httpRequest(`${api.baseUrl}/api/campaigns/csv-files`, {
      method: 'POST',
      headers: {
        'X-API-Key': workspace.channelKey,
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
        'Content-Length': String(300 * 1024 * 1024),
      },
    });
    request.on('error', () => undefined);
    request.write(multipart(csv).subarray(0, 200));
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(413);
    request.destroy();
  });

  it('keeps nothing of an upload that is abandoned', async () => {
    const before = await storedFiles();
    const request = httpRequest(`${api.baseUrl}/api/campaigns/csv-files`, {
      method: 'POST',
      headers: {
        'X-API-Key': workspace.channelKey,
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
        'Content-Length': '1000000',
      },
    });
    request.on('error', () => undefined);
    request.write(multipart(csv).subarray(0, 200));
    await expect.poll(async () => (await storedFiles()).length).toBe(before.length + 1);
    request.destroy();
    await expect.poll(storedFiles).toEqual(before);
  });

  it('refuses a file that is not a CSV without waiting for the rest of it', async () => {
    const before = await storedFiles();
    const request = httpRequest(`${api.baseUrl}/api/campaigns/csv-files`, {
      method: 'POST',
      headers: {
        'X-API-Key': workspace.channelKey,
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
        'Content-Length': '1000000',
      },
    });
    request.on('error', () => undefined);
    request.write(multipart(Buffer.alloc(100_000)).subarray(0, 90_000));
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(400);
    expect(await storedFiles()).toEqual(before);
    request.destroy();
  });

  it("hides another workspace's files", async () => {
    const other = await api.seedWorkspace();
    const { csv_file_key: key } = (await upload(multipart(csv))).body.data;
    expect((await api.send('GET', `/api/campaigns/csv-files/${key}`, { key: other.channelKey })).status).toBe(
      404,
    );
    expect(
      (await api.send('GET', '/api/campaigns/csv-files/nonsense', { key: other.channelKey })).status,
    ).toBe(404);
  });
});

describe('a campaign of an uploaded file', () => {
  const entriesOf = async (key: string) =>
    (await api.send('GET', `/api/audit?object_id=${key}`, { key: workspace.workspaceKey })).body.data.map(
      ({ action }: { action: string }) => action,
    );
  const remove = (key: string, owner: SeededWorkspace = workspace) =>
    api.send('DELETE', `/api/campaigns/csv-files/${key}`, { key: owner.workspaceKey });

  it('needs the file until it is prepared; then the file can be deleted', async () => {
    const { csv_file_key: key, csv_file_url } = (await upload(multipart(csv))).body.data;
    const { body } = await create(workspace, { csv_file_url });
    expect(await remove(key)).toMatchObject({ status: 409, body: { error_code: 'conflict' } });
    expect(await remove(key, await api.seedWorkspace())).toMatchObject({ status: 404 });
    expect(
      (await api.send('GET', `/api/campaigns/csv-files/${key}`, { key: workspace.channelKey })).status,
    ).toBe(200);
    await api.database.pool.query(sql.type(nothing)`
      UPDATE campaign SET preparation_status = 'READY' WHERE id = ${body.data.campaign.id}`);
    expect(await remove(key)).toMatchObject({ status: 200 });
    expect(await storedFiles()).not.toContain(key);
    expect(await remove(key)).toMatchObject({ status: 404 });
    expect(await entriesOf(key)).toEqual(['file.delete', 'file.download']);
  });

  it('keeps the file for another one for seven days', async () => {
    const { csv_file_key: key } = (await upload(multipart(csv))).body.data;
    const listed = () => listExpiredCampaignFiles(api.database.pool, { olderThanDays: 30, limit: 100 });
    const { body } = await create(workspace, { csv_file_key: key });
    await api.database.pool.query(sql.type(nothing)`
      UPDATE campaign_file SET used_at = used_at - interval '8 days' WHERE key = ${key}`);
    expect(await listed()).not.toContain(key);
    await api.database.pool.query(sql.type(nothing)`
      UPDATE campaign SET preparation_status = 'READY' WHERE id = ${body.data.campaign.id}`);
    expect(await listed()).toContain(key);
    await create(workspace, { csv_file_key: key });
    await api.database.pool.query(sql.type(nothing)`
      UPDATE campaign SET preparation_status = 'READY' WHERE audience ->> 'csv_file_key' = ${key}`);
    expect(await listed()).not.toContain(key);
  });

  const mapping = { phone_column: 0, country_code_column: 1, name_column: 2 };

  async function create(owner: SeededWorkspace, fields: object) {
    const id = randomUUID();
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category,
        status, components)
      VALUES (${id}, ${owner.workspaceId}, ${owner.businessAccountId}, ${id}, 'hello', 'en_US', 'UTILITY', 'APPROVED',
        '[{"type":"BODY","text":"Hi"}]')`);
    return api.send('POST', '/api/campaigns/auto-trigger', {
      key: owner.channelKey,
      body: {
        name: 'Spring offer',
        description: null,
        template_id: id,
        contact_selection_type: 'csv_contacts',
        csv_mapping: mapping,
        send_type: 'IMMEDIATE',
        ...fields,
      },
    });
  }

  it('takes its key or its URL', async () => {
    const { csv_file_key, csv_file_url } = (await upload(multipart(csv))).body.data;
    expect((await create(workspace, { csv_file_key })).status).toBe(201);
    expect((await create(workspace, { csv_file_url, csv_file_key: null })).status).toBe(201);
  });

  it('refuses a file of another workspace, and columns that the file does not have', async () => {
    const { csv_file_key } = (await upload(multipart(csv))).body.data;
    const other = await api.seedWorkspace();
    const foreign = await create(other, { csv_file_key });
    expect(foreign.status).toBe(400);
    expect(foreign.body.error[0].field).toBe('csv_file_key');
    const outside = await create(workspace, { csv_file_key, csv_mapping: { ...mapping, name_column: 3 } });
    expect(outside.status).toBe(400);
    expect(outside.body.message).toBe('csv_mapping.name_column is 3, but the last column of the CSV is 2');
  });
});

it('refuses an upload when the workspace keeps as much as it may, and keeps nothing of it', async () => {
  const { workspaceId, channelKey } = await api.seedWorkspace();
  const fill = (bytes: number) =>
    api.database.pool.query(sql.type(nothing)`
      INSERT INTO campaign_file (key, workspace_id, size, headers)
      VALUES (${`csv_${randomUUID()}.csv`}, ${workspaceId}, ${bytes}, '[]')`);
  // The remaining quota fits one of two concurrent uploads.
  await fill(10 * 1024 ** 3 - Buffer.byteLength(csv));
  const before = (await storedFiles()).length;
  const answers = await Promise.all([upload(multipart(csv), channelKey), upload(multipart(csv), channelKey)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 413]);
  const refused = answers.find(({ status }) => status === 413);
  expect(refused?.body.message).toBe(
    'A workspace can keep at most 10 GiB and 10000 campaign files at a time: delete those that are no longer needed',
  );
  expect(await storedFiles()).toHaveLength(before + 1);
  expect((await upload(multipart(csv))).status).toBe(201);
});
