/** The built stack with every process behind PgBouncer in transaction mode: for a minute two workspaces do everything at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { resolve } from 'node:path';
import pg from 'pg';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAdmin } from '../../local/cluster/admin.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startPgbouncer, type Pgbouncer } from '../support/pgbouncer.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/** Two campaigns from each of three kinds of audience. */
const rounds = 6;
const recipientsEach = 40;
const serverConnections = 12;

let database: TestDatabase;
let pgbouncer: Pgbouncer;
let stack: TestStack;
let workspaces: readonly Workspace[];

interface Workspace {
  readonly workspaceId: number;
  readonly apiKey: string;
  readonly templateId: string;
  /** Prefix of its recipients' numbers. */
  readonly prefix: string;
  readonly receiver: WebhookReceiver;
}

beforeAll(async () => {
  database = await createTestDatabase();
  pgbouncer = await startPgbouncer(database.url, { serverConnections });
  stack = await startTestStack({
    environment: { DATABASE_URL: pgbouncer.url, DATABASE_OWNER_URL: database.ownerUrl },
    args: ['--workers', '2'],
  });
  const { workspaceId, apiKey, templateIds } = stack.dev;
  const first = { workspaceId, apiKey, templateId: templateIds['plain_notice'] ?? '' };
  const both = [
    { ...first, prefix: '4915110' },
    { ...(await anotherWorkspace()), prefix: '4915120' },
  ];
  workspaces = await Promise.all(
    both.map(async (workspace) => {
      const receiver = await startWebhookReceiver();
      const events = ['sent', 'delivered', 'contact.created'];
      await call(workspace, 'POST', '/api/external-webhooks', {
        title: 'Journey',
        url: receiver.url,
        events,
      });
      return { ...workspace, receiver };
    }),
  );
}, 120_000);
afterAll(async () => {
  for (const { receiver } of workspaces ?? []) await receiver.close();
  await stack?.remove();
  await pgbouncer?.stop();
  await database?.drop();
});

async function anotherWorkspace() {
  const admin = createAdmin(
    { PATH: process.env['PATH'], DATA_DIR: stack.dataDir, DATABASE_URL: pgbouncer.url },
    resolve('dist/src/admin.js'),
  );
  const [businessAccountId, phoneNumberId] = ['200290129340398', '206540352242922'];
  await request(`${new URL(stack.dev.providerUrl).origin}/_simulator/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ businessAccountId, phoneNumberIds: [phoneNumberId] }),
  });
  const { workspaceId = '' } = await admin('create-workspace', { name: 'Other' });
  const { channelId = '' } = await admin('create-channel', {
    'workspace-id': workspaceId,
    'phone-number-id': phoneNumberId,
    'display-phone-number': '+49 30 1234567',
    'business-account-id': businessAccountId,
    'access-token': 'any-token-of-the-simulator',
    'messages-per-second': '1000',
  });
  await admin('recharge', { 'channel-id': channelId, amount: '100000' });
  await admin('sync-templates', { 'workspace-id': workspaceId });
  const { apiKey = '' } = await admin('create-key', {
    'workspace-id': workspaceId,
    'channel-id': channelId,
    scope: 'channel',
  });
  const listed = await call({ apiKey }, 'GET', '/api/templates?status=APPROVED&search=plain_notice');
  return { workspaceId: Number(workspaceId), apiKey, templateId: JSON.parse(listed).data[0].id as string };
}

async function call(
  { apiKey }: Pick<Workspace, 'apiKey'>,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<string> {
  const answer = await request(`${stack.dev.baseUrl}${path}`, {
    method,
    headers: {
      'x-api-key': apiKey,
      accept: path.includes('/recipients') ? 'text/csv' : 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return text;
}

async function phonesExported(workspace: Workspace, campaignId: string): Promise<readonly string[]> {
  const csv = await call(workspace, 'GET', `/api/campaigns/${campaignId}/recipients`);
  const lines = csv.trimEnd().split('\n').slice(1);
  return lines.map((line) => line.split(',')[1] ?? '');
}

/** Runs campaigns in turn, each with another kind of audience, and exports the earlier ones meanwhile. */
async function work(workspace: Workspace): Promise<readonly string[]> {
  const ids: string[] = [];
  const foreign: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const numbers = Array.from(
      { length: recipientsEach },
      (_, index) => `${workspace.prefix}${String(round * recipientsEach + index).padStart(6, '0')}`,
    );
    const audience = [
      { contact_selection_type: 'quick_contacts', quick_contacts: numbers.map((number) => `+${number}`) },
      {
        contact_selection_type: 'csv_contacts',
        csv_contacts_string: ['phone,code', ...numbers.map((number) => `${number.slice(2)},+49`)].join('\n'),
        csv_mapping: { phone_column: 0, country_code_column: 1 },
      },
      { contact_selection_type: 'all_contacts' },
    ][round % 3];
    const created = await call(workspace, 'POST', '/api/campaigns/auto-trigger', {
      name: `Round ${round}`,
      template_id: workspace.templateId,
      send_type: 'IMMEDIATE',
      ...audience,
    });
    const { id } = JSON.parse(created).data.campaign;
    ids.push(id);
    await untilCompleted(workspace, id, async () => {
      const exports = await Promise.all(ids.slice(-3).map((one) => phonesExported(workspace, one)));
      foreign.push(...exports.flat().filter((phone) => !phone.startsWith(workspace.prefix)));
    });
    expect((await phonesExported(workspace, id)).length).toBeGreaterThanOrEqual(recipientsEach);
  }
  expect(foreign).toEqual([]);
  return ids;
}

async function untilCompleted(
  workspace: Workspace,
  id: string,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const givenUpAt = performance.now() + 60_000;
  for (;;) {
    await meanwhile();
    const { status, counters } = JSON.parse(await call(workspace, 'GET', `/api/campaigns/${id}`)).data;
    if (status === 'COMPLETED' && counters.accepted === 0) {
      expect(counters.unknown).toBe(0);
      return;
    }
    if (performance.now() > givenUpAt)
      throw new Error(`The campaign is ${status}: ${JSON.stringify(counters)}`);
    await sleep(100);
  }
}

/** Reads the settings of four server connections: four transactions are open at once, and each holds one of them. */
async function limitsOfEverySession(): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: 4 }, async () => {
      const client = new pg.Client({ connectionString: pgbouncer.url });
      await client.connect();
      await client.query('BEGIN');
      const { rows } = await client.query<{ limits: string }>(`
        SELECT current_setting('statement_timeout') || ' ' || current_setting('idle_in_transaction_session_timeout') || ' '
          || current_setting('max_parallel_workers_per_gather') || ' ' || current_setting('jit') || ' '
          || coalesce(nullif(current_setting('export.campaign_id', true), ''), 'nobody') AS limits`);
      await sleep(50);
      await client.query('COMMIT');
      await client.end();
      return rows[0]?.limits ?? '';
    }),
  );
}

it('keeps the workspaces apart and every limit, while campaigns, exports and webhooks run at once', async () => {
  const worked = new AbortController();
  const limits = new Set<string>();
  const watching = (async () => {
    while (!worked.signal.aborted) {
      for (const found of await limitsOfEverySession()) limits.add(found);
      await sleep(200);
    }
  })();
  const ids = await Promise.all(workspaces.map((workspace) => work(workspace))).finally(() => worked.abort());
  await watching;
  expect([...limits]).toEqual(['1min 1min 0 off nobody']);
  for (const [at, { workspaceId, prefix, receiver }] of workspaces.entries()) {
    const told = () => receiver.received.map(({ body }) => JSON.parse(body.toString()));
    const sent = () => told().filter(({ eventKey }) => eventKey === 'sent').length;
    await expect
      .poll(sent, { timeout: 120_000 })
      .toBeGreaterThanOrEqual((ids[at]?.length ?? 0) * recipientsEach);
    const strangers = told().filter(
      (event) =>
        event.workspaceId !== workspaceId ||
        (event.eventKey !== 'contact.created' && !event.data.status.recipient_id.startsWith(prefix)),
    );
    expect(strangers).toEqual([]);
  }
}, 360_000);
