import { get } from 'node:http';
import pg from 'pg';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { nothing, row } from '../../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import { aCampaignToPrepare, aTemplate } from '../../support/audience-campaign.ts';

let api: TestApi;
let workspace: SeededWorkspace;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

async function aCampaign(owner = workspace): Promise<string> {
  const templateId = await aTemplate(api.database.pool, owner);
  return aCampaignToPrepare(api.database.pool, { ...owner, templateId }, {});
}

interface Row {
  readonly state: string;
  readonly reason?: string;
  readonly detail?: string;
  readonly line?: number;
  readonly providerMessageId?: string;
}

const at = '2026-11-21T09:00:07.120Z';

async function recipients(campaignId: string, rows: readonly Row[]): Promise<void> {
  for (const [index, { state, reason, detail, line, providerMessageId }] of rows.entries()) {
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO recipient (campaign_id, position, phone_number, sendable, state, reason, reason_detail, line_number,
        provider_message_id, updated_at)
      VALUES (${campaignId}, ${index + 1}, ${`49151000000${index}`}, ${state !== 'SKIPPED'}, ${state}, ${reason ?? null},
        ${detail ?? null}, ${line ?? null}, ${providerMessageId ?? null}, ${at})`);
  }
}

const path = (campaignId: string, query = '') => `/api/campaigns/${campaignId}/recipients${query}`;
const asCsv = (campaignId: string, query = '') =>
  api.send('GET', path(campaignId, query), { key: workspace.channelKey, headers: { Accept: 'text/csv' } });

const header =
  'id,phone_number,contact_id,state,reason,reason_detail,line_number,message_id,provider_message_id,updated_at';

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');
const phonesOf = (text: string): readonly (string | undefined)[] =>
  linesOf(text)
    .slice(1)
    .map((line) => line.split(',')[1]);

it('finds a recipient by the number as it is dialled, in the list and in the file', async () => {
  const id = await aCampaign();
  await recipients(id, [{ state: 'DELIVERED' }, { state: 'SKIPPED', reason: 'UNSUBSCRIBED' }]);
  for (const typed of ['0151 000 0001', '+49 151 0000001', '0049 1510000001', '491510000001']) {
    const query = `?phone_number=${encodeURIComponent(typed)}`;
    const { body } = await api.send('GET', path(id, query), { key: workspace.channelKey });
    expect(body.data.map((one: { phone_number: string }) => one.phone_number)).toEqual(['491510000001']);
    expect(phonesOf((await asCsv(id, query)).text)).toEqual(['491510000001']);
  }
  const { body } = await api.send('GET', path(id, '?phone_number=0151'), { key: workspace.channelKey });
  expect(body.data).toEqual([]);
});

describe('the recipients of a campaign as CSV', () => {
  test('contain the recipients’ records, one line each', async () => {
    const id = await aCampaign();
    await recipients(id, [
      { state: 'DELIVERED', line: 2, providerMessageId: 'wamid.1' },
      { state: 'SKIPPED', reason: 'DUPLICATE', line: 3 },
      { state: 'PENDING' },
    ]);
    const records = (await api.send('GET', path(id), { key: workspace.channelKey })).body.data;
    const answer = await asCsv(id);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="recipients-${id}.csv"`);
    const [first, second, third] = records;
    expect(linesOf(answer.text)).toEqual([
      header,
      `${first.id},491510000000,,DELIVERED,,,2,${first.id},wamid.1,${at}`,
      `${second.id},491510000001,,SKIPPED,DUPLICATE,,3,,,${at}`,
      `${third.id},491510000002,,PENDING,,,,,,${at}`,
    ]);
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1'])(
    'hold no formula where a text is %j',
    async (detail) => {
      const id = await aCampaign();
      await recipients(id, [
        { state: 'SKIPPED', reason: 'INVALID_PHONE', detail, providerMessageId: detail },
      ]);
      const { text } = await asCsv(id);
      const cell = /[\r\n]/.test(detail) ? `"'${detail}"` : `'${detail}`;
      expect(text.split(cell).length - 1).toBe(2);
    },
  );

  test('keep commas, quotes and line breaks inside their cell', async () => {
    const id = await aCampaign();
    await recipients(id, [{ state: 'FAILED', reason: 'PROVIDER_1', detail: 'a, "b"\nc' }]);
    expect((await asCsv(id)).text).toContain(',"a, ""b""\nc",');
  });

  test('are those of the states and reasons asked for, from the cursor on', async () => {
    const id = await aCampaign();
    const odd = `PROVIDER_'{"\\,`;
    await recipients(id, [
      { state: 'FAILED', reason: 'PROVIDER_1' },
      { state: 'READ' },
      { state: 'SKIPPED', reason: odd },
      { state: 'FAILED', reason: odd },
      { state: 'FAILED', reason: odd },
    ]);
    const ofReason = `?state=FAILED&reason=${encodeURIComponent(odd)}`;
    expect(phonesOf((await asCsv(id, ofReason)).text)).toEqual(['491510000003', '491510000004']);
    const { body } = await api.send('GET', path(id, '?limit=2'), { key: workspace.channelKey });
    expect(phonesOf((await asCsv(id, `?cursor=${body.pagination.nextCursor}`)).text)).toEqual([
      '491510000002',
      '491510000003',
      '491510000004',
    ]);
  });

  test('consist of the header alone without recipients, and are 404 in another workspace', async () => {
    const id = await aCampaign();
    expect((await asCsv(id)).text).toBe(`${header}\n`);
    const stranger = await api.seedWorkspace();
    const answer = await api.send('GET', path(id), {
      key: stranger.channelKey,
      headers: { Accept: 'text/csv' },
    });
    expect(answer.status).toBe(404);
  });
});

it('scans at most 100,000 positions per page for a rare state, and continues behind them', async () => {
  const campaignId = await aCampaign();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO recipient (campaign_id, position, phone_number, sendable, state)
    SELECT ${campaignId}, n, '49' || (15100000000 + n), true, CASE WHEN n = 120000 THEN 'SENT' ELSE 'DELIVERED' END
    FROM generate_series(1, 120001) AS n`);
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO campaign_counter (campaign_id, sent, delivered) VALUES (${campaignId}, 1, 120000)
    ON CONFLICT (campaign_id) DO UPDATE SET sent = 1, delivered = 120000`);
  const page = async (cursor = '') =>
    (
      await api.send('GET', `/api/campaigns/${campaignId}/recipients?state=SENT${cursor}`, {
        key: workspace.channelKey,
      })
    ).body;
  const first = await page();
  expect(first.data).toEqual([]);
  const second = await page(`&cursor=${first.pagination.nextCursor}`);
  expect([second.data.length, second.pagination.nextCursor]).toEqual([1, null]);
});

describe('a large export', () => {
  const count = 50_000;

  async function aLargeCampaign(): Promise<string> {
    const id = await aCampaign();
    await api.database.pool.query(sql.type(nothing)`
      INSERT INTO recipient (campaign_id, position, phone_number, sendable, state)
      SELECT ${id}, n, (4915100000000 + n)::text, true, 'PENDING' FROM generate_series(1, ${count}::int) AS n`);
    return id;
  }

  test('contains every recipient once and in order', async () => {
    const phones = phonesOf((await asCsv(await aLargeCampaign())).text);
    expect(phones.length).toBe(count);
    expect(phones).toEqual(phones.toSorted());
    expect(new Set(phones).size).toBe(count);
  });

  const Count = row(t.type({ count: t.number }));
  const connections = (state: readonly string[]) =>
    api.database.pool.oneFirst(sql.type(Count)`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'export-recipients'
        AND state = ANY (${sql.array(state, 'text')})`);

  /** Runs `work` while no export gets an answer of Postgres. */
  async function whileLocked(work: () => Promise<void>): Promise<void> {
    const holder = new pg.Client({ connectionString: api.database.ownerUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE recipient');
      await work();
    } finally {
      await holder.end();
    }
  }
  // One workspace may use at most half of the export connections.
  const mostOfOne = 2;

  test('shares a few database connections with other exports', async () => {
    const id = await aLargeCampaign();
    let exports: ReturnType<typeof asCsv>[] = [];
    await whileLocked(async () => {
      exports = Array.from({ length: 4 }, () => asCsv(id));
      await expect.poll(() => connections(['active'])).toBe(mostOfOne);
      // All four have been asked for by the time that a later request is answered.
      await api.send('GET', '/api/channels', { key: workspace.channelKey });
      expect(await connections(['active', 'idle'])).toBe(mostOfOne);
    });
    expect(new Set((await Promise.all(exports)).map(({ text }) => text)).size).toBe(1);
  });

  test('ends in Postgres when the client goes away, and leaves its place to the next', async () => {
    const id = await aLargeCampaign();
    await whileLocked(async () => {
      const headers = { 'X-API-Key': workspace.channelKey, Accept: 'text/csv' };
      const requests = Array.from({ length: 4 }, () =>
        get(`${api.baseUrl}${path(id)}`, { headers }).on('error', () => undefined),
      );
      await expect.poll(() => connections(['active'])).toBe(mostOfOne);
      for (const request of requests) request.destroy();
    });
    await expect.poll(() => connections(['active', 'idle'])).toBe(0);
    expect((await asCsv(id)).status).toBe(200);
  });
});

test('refuses a number as a cursor', async () => {
  const campaignId = await aCampaign();
  for (const position of [-1, 1.5, 2_147_483_648, 1e15, Number.MAX_SAFE_INTEGER]) {
    const cursor = Buffer.from(String(position)).toString('base64url');
    const { status, body } = await api.send('GET', path(campaignId, `?cursor=${cursor}`), {
      key: workspace.channelKey,
    });
    expect([status, body.message]).toEqual([400, 'cursor is not a cursor of this list: take its nextCursor']);
  }
});

test('an export ends when its key is revoked', async () => {
  const { recipientExport, database } = api.dependencies;
  const campaignId = await aCampaign(workspace);
  await database.query(sql.type(nothing)`
    INSERT INTO recipient (campaign_id, position, phone_number, sendable, state)
    SELECT ${campaignId}, n, '49151' || n, true, 'PENDING' FROM unnest(ARRAY[1000001, 1020002, 1040003]) AS n`);
  const filter = { campaignId, states: [], reasons: [], afterPosition: 1_000_000 };
  const read = async (answers: boolean[]) => {
    let text = '';
    const content = recipientExport.read(workspace.workspaceId, filter, async () => answers.shift() ?? false);
    try {
      for await (const chunk of content) text += chunk;
    } catch (error) {
      return [text.trim().split('\n').length - 1, (error as Error).message];
    }
    return [text.trim().split('\n').length - 1, 'whole'];
  };
  expect(await read([true, true])).toEqual([3, 'whole']);
  expect(await read([true, false])).toEqual([2, 'The key of this export is not valid any more']);
});

test('four exports of a workspace run at a time, and a fifth when one is over', async () => {
  const { recipientExport } = api.dependencies;
  // Not `workspace`, one of whose exports may still be closing.
  const [owner, other] = [await api.seedWorkspace(), await api.seedWorkspace()];
  const filter = { campaignId: await aCampaign(owner), states: [], reasons: [], afterPosition: 0 };
  const running = [owner, other].flatMap(({ workspaceId }) =>
    Array.from({ length: 4 }, () => recipientExport.read(workspaceId, filter)),
  );
  const ask = () =>
    api.send('GET', path(filter.campaignId), { key: owner.channelKey, headers: { accept: 'text/csv' } });
  expect(() => recipientExport.read(owner.workspaceId, filter)).toThrow('at most 4 exports at a time');
  const refused = await ask();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  for (const stream of running) stream.destroy();
  await expect.poll(async () => (await ask()).status).toBe(200);
});
