/** Uploads in a real S3-compatible store, from the request to their removal. */
import { request as httpRequest } from 'node:http';
import { CreateMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { deleteExpired } from '../../src/commands/operations/delete-expired.ts';
import { prepareCampaign } from '../../src/commands/audience/prepare-campaign.ts';
import { nothing } from '../../src/records/database/row.ts';
import { createS3Storage } from '../../src/storage/s3-storage.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { aTemplate } from '../support/audience-campaign.ts';
import { startS3Server, type S3Server } from '../support/s3-server.ts';

let s3: S3Server;
let api: TestApi;
let workspace: SeededWorkspace;

function useCredentials({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }: S3Server['credentials']): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', AWS_ACCESS_KEY_ID);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', AWS_SECRET_ACCESS_KEY);
}

const storageConfig = () => ({
  kind: 's3' as const,
  bucket: s3.bucket,
  endpoint: s3.endpoint,
  region: 'us-east-1',
  forcePathStyle: true,
});

beforeAll(async () => {
  s3 = await startS3Server();
  useCredentials(s3.credentials);
  api = await startTestApi({ config: { storage: storageConfig() } });
  workspace = await api.seedWorkspace();
  // The SDK asks for its credentials once, at its first request.
  await api.dependencies.storage.check();
}, 1_200_000);
afterAll(async () => {
  await api?.close();
  await s3?.stop();
});

const boundary = 'a-boundary-of-the-tests';
const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="contacts.csv"\r\nContent-Type: text/csv\r\n\r\n`;
const tail = `\r\n--${boundary}--\r\n`;
const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
const upload = (csv: string, key = workspace.channelKey) =>
  api.send('POST', '/api/campaigns/csv-files', { key, body: `${head}${csv}${tail}`, headers });

const line = (index: number) => `+49151${10_000_000 + index},49,Person ${index}\n`;
const rows = (count: number) =>
  `phone,country,name\n${Array.from({ length: count }, (_, index) => line(index)).join('')}`;

describe('a bucket as the store of uploads', () => {
  it('keeps a file of several parts, gives it back, and a campaign is made of it', async () => {
    const csv = rows(250_000);
    const answer = await upload(csv);
    expect(answer.status).toBe(201);
    const { csv_file_key: key, csv_file_url: url, size } = answer.body.data;
    expect(size).toBe(Buffer.byteLength(csv));
    expect(size).toBeGreaterThan(5 * 1024 * 1024);
    expect(await s3.objects()).toContain(key);
    const read = await api.send('GET', new URL(url).pathname, { key: workspace.channelKey });
    expect(read.text === csv).toBe(true);

    const small = (await upload(rows(20))).body.data.csv_file_key;
    const created = await api.send('POST', '/api/campaigns/auto-trigger', {
      key: workspace.channelKey,
      body: {
        name: 'From the bucket',
        template_id: await aTemplate(api.database.pool, workspace),
        contact_selection_type: 'csv_contacts',
        csv_file_key: small,
        csv_mapping: { phone_column: 0, country_code_column: 1, name_column: 2 },
        send_type: 'IMMEDIATE',
      },
    });
    expect(created.status).toBe(201);
    const { id } = created.body.data.campaign;
    await prepareCampaign(api.dependencies, id, {
      heartbeat: () => undefined,
      signal: new AbortController().signal,
    });
    const campaign = await api.send('GET', `/api/campaigns/${id}`, { key: workspace.channelKey });
    expect(campaign.body.data).toMatchObject({ preparation_status: 'READY', total_contacts: 20 });
  });

  it('keeps neither an object nor a part of an upload that breaks off', async () => {
    const before = await s3.objects();
    const sending = httpRequest({
      port: api.port,
      host: '127.0.0.1',
      path: '/api/campaigns/csv-files',
      method: 'POST',
      headers: { ...headers, 'X-API-Key': workspace.channelKey },
    });
    sending.on('error', () => undefined);
    sending.write(`${head}${rows(300_000)}`);
    // Two parts are uploaded by now.
    await expect.poll(() => s3.openUploads()).toBe(1);
    sending.destroy();
    await expect.poll(() => s3.openUploads()).toBe(0);
    expect(await s3.objects()).toEqual(before);
  });

  it('stores nothing of a file that is not a CSV', async () => {
    const before = await s3.objects();
    expect((await upload('only a header\n')).status).toBe(400);
    expect([await s3.objects(), await s3.openUploads()]).toEqual([before, 0]);
  });

  it('deletes files older than the retention, except those that a running preparation reads', async () => {
    const [kept, old, needed] = [await upload(rows(3)), await upload(rows(3)), await upload(rows(3))].map(
      ({ body }) => body.data.csv_file_key as string,
    );
    await api.database.pool.query(sql.type(nothing)`
      UPDATE campaign_file SET created_at = now() - interval '31 days' WHERE key IN (${old ?? ''}, ${needed ?? ''})`);
    const created = await api.send('POST', '/api/campaigns/auto-trigger', {
      key: workspace.channelKey,
      body: {
        name: 'Not prepared yet',
        template_id: await aTemplate(api.database.pool, workspace),
        contact_selection_type: 'csv_contacts',
        csv_file_key: needed,
        csv_mapping: { phone_column: 0, country_code_column: 1, name_column: 2 },
        send_type: 'IMMEDIATE',
      },
    });
    expect(created.status).toBe(201);
    const summary = await deleteExpired(api.dependencies, { batchSize: 100, onBatch: () => undefined });
    expect(summary['files']).toBe(1);
    const left = await s3.objects();
    expect([kept, old, needed].map((key) => left.includes(key ?? ''))).toEqual([true, false, true]);
    const gone = await api.send('GET', `/api/campaigns/csv-files/${old}`, { key: workspace.channelKey });
    expect(gone.status).toBe(404);
  });

  it('deletes the parts of an upload whose process was killed a day ago', async () => {
    useCredentials(s3.credentials);
    const uploads = new S3Client({ endpoint: s3.endpoint, region: 'us-east-1', forcePathStyle: true });
    for (const key of ['csv_left-behind.csv', 'csv_left-behind.csv', 'of-somebody-else.csv']) {
      await uploads.send(new CreateMultipartUploadCommand({ Bucket: s3.bucket, Key: key }));
    }
    uploads.destroy();
    const expire = (now: Date) =>
      deleteExpired({ ...api.dependencies, now: () => now }, { batchSize: 100, onBatch: () => undefined });
    expect([(await expire(new Date()))['leftovers'], await s3.openUploads()]).toEqual([0, 3]);
    const tomorrow = new Date(Date.now() + 25 * 3_600_000);
    expect([(await expire(tomorrow))['leftovers'], await s3.openUploads()]).toEqual([2, 1]);
  });

  it('deletes a file without a row once it is older than the retention', async () => {
    const orphan = (await upload(rows(3))).body.data.csv_file_key as string;
    const known = (await upload(rows(3))).body.data.csv_file_key as string;
    await api.database.pool.query(sql.type(nothing)`DELETE FROM campaign_file WHERE key = ${orphan}`);
    const inDays = (days: number) => () => new Date(Date.now() + days * 86_400_000);
    const expire = (now: () => Date) =>
      deleteExpired({ ...api.dependencies, now }, { batchSize: 100, onBatch: () => undefined });
    await expire(inDays(29));
    expect(await s3.objects()).toContain(orphan);
    await expire(inDays(31));
    const left = await s3.objects();
    expect([left.includes(orphan), left.includes(known)]).toEqual([false, true]);
  });

  it('returns undefined for a missing file, and deletes it without an error', async () => {
    expect(await api.dependencies.storage.read('csv_missing.csv')).toBeUndefined();
    await api.dependencies.storage.delete('csv_missing.csv');
  });
});

describe('a store that cannot be used', () => {
  it('rejects with the reason when the credentials are wrong, and answers 503 to an upload', async () => {
    useCredentials({ ...s3.credentials, AWS_SECRET_ACCESS_KEY: 'wrong' });
    const storage = createS3Storage(storageConfig());
    await expect(storage.check()).rejects.toThrow(
      /^Uploaded files cannot be kept in the bucket uploads at http.*: (SignatureDoesNotMatch|access denied)/,
    );
    const refusing = await startTestApi({ database: api.database, dependencies: { storage } });
    const { status, body } = await refusing.send('POST', '/api/campaigns/csv-files', {
      key: workspace.channelKey,
      body: `${head}${rows(3)}${tail}`,
      headers,
    });
    await refusing.close();
    expect([status, body.message]).toEqual([503, 'The service is temporarily unavailable: try again in 1 s']);
  });

  it('rejects with the reason when there is no such bucket, or no server', async () => {
    useCredentials(s3.credentials);
    const noBucket = createS3Storage({ ...storageConfig(), bucket: 'nowhere' });
    await expect(noBucket.read('csv_a.csv')).rejects.toThrow(/bucket nowhere.*NoSuchBucket \(404\)/);
    const noServer = createS3Storage({ ...storageConfig(), endpoint: 'http://127.0.0.1:1' });
    await expect(noServer.check()).rejects.toThrow(/at http:\/\/127\.0\.0\.1:1: ECONNREFUSED/);
  });
});
