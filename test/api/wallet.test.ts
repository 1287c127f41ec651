import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { query } from '../support/webhook-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const recharge = (key: string, body: object) => api.send('POST', '/api/wallet/recharge', { key, body });
const wallet = (key: string, search = '') => api.send('GET', `/api/wallet${search}`, { key });

describe('GET /api/wallet', () => {
  it("answers the wallet of the key's channel with every price", async () => {
    const workspace = await api.seedWorkspace();
    await recharge(workspace.operatorKey, { channel_id: workspace.channelId, amount: '12.50' });
    await query(api.database, 'UPDATE wallet SET reserved = 1 WHERE channel_id = $1', [workspace.channelId]);
    const { status, body } = await wallet(workspace.channelKey);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['status', 'data']);
    const { message_prices: prices, ...rest } = body.data;
    expect(rest).toEqual({
      channel_id: workspace.channelId,
      balance: '12.5',
      uncollected: '0',
      low_balance_threshold: null,
      reserved: '0.000001',
      currency: 'USD',
      card: { currency: 'USD', effective_on: '1970-01-01', source: 'example' },
      next_card: null,
    });
    expect(prices).toContainEqual({ category: 'MARKETING', country: null, price: '0.05' });
    expect(prices).toContainEqual({ category: 'UTILITY', country: 'IN', price: '0.0014' });
  });

  it('needs channel_id where the workspace has several channels', async () => {
    const workspace = await api.seedWorkspace();
    expect((await wallet(workspace.workspaceKey)).body.data.channel_id).toBe(workspace.channelId);
    const second = await api.seedChannel(workspace.workspaceId);
    const answer = await wallet(workspace.workspaceKey);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toEqual([
      { field: 'channel_id', message: 'channel_id is required: see GET /api/channels' },
    ]);
    for (const key of [workspace.workspaceKey, workspace.operatorKey, workspace.channelKey]) {
      const named = await wallet(key, `?channel_id=${second.channelId}`);
      expect(named.body.data.channel_id).toBe(second.channelId);
    }
    expect((await wallet(workspace.channelKey)).body.data.channel_id).toBe(workspace.channelId);
  });

  it('answers 404 for a channel of another workspace, 400 for a malformed id', async () => {
    const workspace = await api.seedWorkspace();
    const stranger = await api.seedWorkspace();
    for (const id of [stranger.channelId, randomUUID()]) {
      const answer = await wallet(workspace.channelKey, `?channel_id=${id}`);
      expect(answer.status).toBe(404);
      expect(answer.body.message).toBe('Channel not found');
    }
    expect((await wallet(workspace.channelKey, '?channel_id=1')).status).toBe(400);
  });

  it('answers 404 where the workspace has no channel', async () => {
    const { workspaceId } = await createWorkspace(api.dependencies, { name: 'Empty' });
    const { apiKey } = await createApiKey(api.dependencies, { workspaceId, scope: 'workspace' });
    expect((await wallet(apiKey)).status).toBe(404);
  });
});

describe('POST /api/wallet/recharge', () => {
  it('adds money and answers the wallet', async () => {
    const { operatorKey, channelId } = await api.seedWorkspace();
    await recharge(operatorKey, { channel_id: channelId, amount: '0.1' });
    const answer = await recharge(operatorKey, { channel_id: channelId, amount: '0.2' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: 'success',
      message: expect.any(String),
      data: { channel_id: channelId, balance: '0.3', reserved: '0' },
    });
  });

  it('adds money once for an Idempotency-Key, and refuses another amount under it', async () => {
    const { operatorKey, channelId } = await api.seedWorkspace();
    const send = (amount: string) =>
      api.send('POST', '/api/wallet/recharge', {
        key: operatorKey,
        body: { channel_id: channelId, amount },
        headers: { 'Idempotency-Key': 'one recharge' },
      });
    expect((await send('7')).body.data.balance).toBe('7');
    expect((await send('7')).body.data.balance).toBe('7');
    expect((await send('8')).status).toBe(422);
  });

  it.each([
    ['-1', 'amount'],
    ['0', 'amount'],
    ['1.0000001', 'amount'],
    ['1e3', 'amount'],
    ['', 'amount'],
    [5, 'amount'],
    [undefined, 'amount'],
    ['9999999999999', 'amount'],
  ])('refuses the amount %j', async (amount, field) => {
    const { operatorKey, channelId, channelKey } = await api.seedWorkspace();
    const answer = await recharge(operatorKey, { channel_id: channelId, amount });
    expect(answer.status).toBe(400);
    expect(answer.body.error[0].field).toBe(field);
    expect((await wallet(channelKey)).body.data.balance).toBe('0');
  });

  it('is for operators of the workspace only', async () => {
    const workspace = await api.seedWorkspace();
    const stranger = await api.seedWorkspace();
    const body = { channel_id: workspace.channelId, amount: '1' };
    for (const key of [workspace.channelKey, workspace.workspaceKey]) {
      expect((await recharge(key, body)).status).toBe(401);
    }
    expect((await recharge(stranger.operatorKey, body)).status).toBe(404);
    expect((await wallet(workspace.channelKey)).body.data.balance).toBe('0');
  });
});

describe('GET /api/wallet/statement', () => {
  it('adds up from the opening to the closing balance, as JSON and as CSV', async () => {
    const workspace = await api.seedWorkspace();
    await recharge(workspace.operatorKey, { channel_id: workspace.channelId, amount: '0.000001' });
    await recharge(workspace.operatorKey, { channel_id: workspace.channelId, amount: '12.5' });
    const read = (search: string, headers = {}) =>
      api.send('GET', `/api/wallet/statement${search}`, { key: workspace.channelKey, headers });
    expect((await read('')).body.data).toEqual({
      channel_id: workspace.channelId,
      month: new Date().toISOString().slice(0, 7),
      time_zone: 'UTC',
      currency: 'USD',
      opening_balance: '0',
      closing_balance: '12.500001',
      lines: [{ kind: 'recharge', category: null, market: null, country: null, amount: '12.500001' }],
    });
    const csv = await read('?month=2099-01', { Accept: 'text/csv' });
    expect(csv.headers.get('content-disposition')).toContain('statement-2099-01.csv');
    expect(csv.text).toBe(
      'kind,category,market,country,amount,currency\nopening_balance,,,,12.500001,USD\nclosing_balance,,,,12.500001,USD\n',
    );
    expect((await read('?month=2026-13')).status).toBe(400);
  });
});

describe('GET /api/wallet/comparison', () => {
  it('lists what differs from the provider, the latest first', async () => {
    const workspace = await api.seedWorkspace();
    const { workspaceId, channelId, channelKey } = workspace;
    await query(
      api.database,
      `INSERT INTO price_comparison (workspace_id, channel_id, day, state, category, country, pricing_type, our_messages,
         our_cost, their_messages, their_cost, difference, cause)
       VALUES ($1, $2, '2026-10-31', 'DIFFERENT', 'UTILITY', 'IN', 'REGULAR', 100, 140000, 100, 130000, 10000, 'TIER')`,
      [workspaceId, channelId],
    );
    await query(
      api.database,
      `INSERT INTO price_comparison (workspace_id, channel_id, day, state, details)
       VALUES ($1, $2, '2026-11-01', 'NOT_COMPARED', 'No')`,
      [workspaceId, channelId],
    );
    const first = await api.send('GET', '/api/wallet/comparison?limit=1', { key: channelKey });
    expect(first.body.data).toMatchObject([
      { day: '2026-11-01', state: 'NOT_COMPARED', ours: null, theirs: null, difference: null, details: 'No' },
    ]);
    const cursor = encodeURIComponent(first.body.pagination.nextCursor);
    const next = await api.send('GET', `/api/wallet/comparison?cursor=${cursor}`, { key: channelKey });
    expect(next.body.data).toMatchObject([
      {
        channel_id: channelId,
        day: '2026-10-31',
        ours: { messages: 100, cost: '0.14' },
        theirs: { messages: 100, cost: '0.13' },
        difference: '0.01',
        likely_cause: 'TIER',
        booked_at: null,
      },
    ]);
    expect(next.body.pagination.nextCursor).toBeNull();
  });
});

describe('/api/prices', () => {
  const form = (fields: Readonly<Record<string, string>>) => {
    const body = new FormData();
    const csv =
      'Market,Currency,Marketing,Utility,Authentication,Service\nIndia,EUR,0.0099,0.0012,0.0012,n/a\nOther,EUR,0.05,0.0064,0.0064,n/a\n';
    body.set('file', new Blob([csv]), 'EUR.csv');
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return body;
  };
  const load = async (key: string, fields: Readonly<Record<string, string>>) => {
    const answer = await fetch(`${api.baseUrl}/api/prices`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: form(fields),
    });
    return {
      status: answer.status,
      body: (await answer.json()) as {
        readonly data: { readonly card: { readonly id: string }; readonly differences: unknown };
      },
    };
  };

  it('loads the file of an operator once, and shows it', async () => {
    const { operatorKey, workspaceKey } = await api.seedWorkspace();
    const fields = { currency: 'EUR', effective_on: '2026-10-01', source: 'EUR.csv' };
    expect((await load(workspaceKey, fields)).status).toBe(401);
    const dry = await load(operatorKey, { ...fields, dry_run: 'true' });
    expect(dry).toMatchObject({ status: 200, body: { data: { card: null, loaded: false } } });
    expect(dry.body.data.differences).toContainEqual({
      market: 'India',
      category: 'MARKETING',
      before: null,
      after: '0.0099',
    });
    const loaded = await load(operatorKey, fields);
    expect(loaded).toMatchObject({ status: 201, body: { data: { loaded: true, warnings: [] } } });
    const { card } = loaded.body.data;
    expect(await load(operatorKey, fields)).toMatchObject({
      status: 200,
      body: { data: { card, loaded: false, differences: [] } },
    });
    const { body } = await api.send('GET', '/api/prices', { key: workspaceKey });
    expect(body.data.map(({ source }: { source: string }) => source)).toEqual(['EUR.csv', 'example']);
    const detail = await api.send('GET', `/api/prices/${card.id}`, { key: workspaceKey });
    expect(detail.body.data).toMatchObject({ ...card, currency: 'EUR', effective_on: '2026-10-01' });
    expect(detail.body.data.prices).toContainEqual({
      market: 'India',
      category: 'MARKETING',
      price: '0.0099',
      tier_from: 0,
      tier_to: null,
    });
    expect(detail.body.data.markets).toContainEqual({ country: 'IN', market: 'India' });
  });

  it('names what is wrong with a card', async () => {
    const { operatorKey } = await api.seedWorkspace();
    const wrong = await load(operatorKey, { currency: 'USD', effective_on: '2026-10-01' });
    expect(wrong).toMatchObject({
      status: 400,
      body: { error: [{ field: 'file', message: 'India is priced in EUR, not in USD' }, { field: 'file' }] },
    });
    expect(await load(operatorKey, { currency: 'EUR', effective_on: '2026-13-01' })).toMatchObject({
      status: 400,
      body: { error: [{ field: 'effective_on' }] },
    });
  });
});
