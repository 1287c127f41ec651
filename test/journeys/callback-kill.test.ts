/** Callbacks while the processes that take and apply them are killed: what was answered with 200 counts once, and only once. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nothing, row } from '../../src/records/database/row.ts';
import {
  appSecret,
  eventsOf,
  messagesCallback,
  rowsOf,
  signatureOf,
  status,
  subscribeToAll,
} from '../support/callback-fixtures.ts';
import {
  checkBooks,
  seedCampaign,
  testSecretsKey,
  type SeededCampaign,
} from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTemporal } from '../support/temporal.ts';

let database: TestDatabase;
let temporal: TestWorkflowEnvironment;
let dataDir: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  [database, temporal, dataDir] = await Promise.all([
    createTestDatabase(),
    startTemporal(),
    mkdtemp(join(tmpdir(), 'messaging-campaigns-kill-')),
  ]);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await temporal?.teardown();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** A built process of the product; resolves with the line it logs when it is ready. */
async function startProcess(name: 'server' | 'worker') {
  const child = spawn(process.execPath, [resolve('tools/run-built.mjs'), `src/${name}.js`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace ?? 'default',
      PROVIDER_BASE_URL: 'http://127.0.0.1:1/v23.0',
      PROVIDER_APP_SECRET: appSecret,
      PROVIDER_VERIFY_TOKEN: 'the verify token of the tests',
      KEY_PEPPER: 'a key pepper for the tests',
      SECRETS_KEY: testSecretsKey,
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_FORMAT: 'json',
    },
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise<{ port: number }>((done, failed) => {
    lines.on('line', (line) => {
      if (line.includes('"msg":"listening"')) done(JSON.parse(line) as { port: number });
    });
    child.once('exit', (code) => failed(new Error(`The ${name} ended with exit code ${code}`)));
  });
  // A worker is not waited for, and every child ends by being killed.
  ready.catch(() => undefined);
  return { child, ready };
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A campaign whose messages the provider has accepted. */
async function seedAccepted(
  recipients: number,
): Promise<SeededCampaign & { readonly ids: readonly string[] }> {
  const campaign = await seedCampaign(database.pool, { recipients });
  await subscribeToAll(database.pool, campaign.workspaceId);
  const ids = await database.pool.anyFirst(sql.type(row(t.type({ id: t.string })))`
    UPDATE recipient SET state = 'ACCEPTED', provider_message_id = 'wamid.' || id
    WHERE campaign_id = ${campaign.campaignId} RETURNING id`);
  await database.pool.query(sql.type(nothing)`
    UPDATE campaign_counter SET accepted = pending, pending = 0 WHERE campaign_id = ${campaign.campaignId}`);
  return { ...campaign, ids };
}

/** Returns the answer's HTTP status, or the error when the server was gone. */
async function post(port: number, body: string): Promise<number | string> {
  const headers = { 'Content-Type': 'application/json', 'X-Hub-Signature-256': signatureOf(body) };
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/provider/webhook`, {
      method: 'POST',
      headers,
      body,
    });
    await answer.text();
    return answer.status;
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}

async function inLanes(bodies: readonly string[], work: (body: string) => Promise<void>): Promise<void> {
  const queue = bodies[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (const body of queue) await work(body);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

const patient = { timeout: 60_000, interval: 5 };

const waiting = () =>
  rowsOf<{ n: number; applied: number }>(
    database.pool,
    sql.fragment`SELECT count(waiting.id)::int AS n, count(*) FILTER (WHERE waiting.id IS NULL)::int AS applied
      FROM provider_callback LEFT JOIN waiting_callback AS waiting USING (id)`,
  ).then(([counts]) => counts ?? { n: 0, applied: 0 });

it('loses no callback that was answered, and applies each once', async () => {
  const campaign = await seedAccepted(500);
  const bodies = campaign.ids.flatMap((id) =>
    ['sent', 'delivered'].map((name) =>
      JSON.stringify(
        messagesCallback(campaign.channelId, {
          statuses: [status({ status: name, providerMessageId: `wamid.${id}`, callbackData: id })],
        }),
      ),
    ),
  );

  const first = await startProcess('server');
  const { port } = await first.ready;
  const answered = new Set<string>();
  let killed: Promise<void> | undefined;
  await inLanes(bodies, async (body) => {
    if (killed !== undefined) return;
    if ((await post(port, body)) === 200) answered.add(body);
    if (answered.size === 400) killed ??= kill(first.child);
  });
  await killed;
  expect(answered.size).toBeGreaterThanOrEqual(400);
  expect(answered.size).toBeLessThan(bodies.length);
  expect((await waiting()).n).toBeGreaterThanOrEqual(answered.size);

  // The provider repeats unanswered callbacks, and some answered ones.
  const second = await startProcess('server');
  const again = [...bodies.filter((body) => !answered.has(body)), ...bodies.slice(0, 100)];
  const { port: secondPort } = await second.ready;
  await inLanes(again, async (body) => expect(await post(secondPort, body)).toBe(200));
  await kill(second.child);

  const interrupted = await startProcess('worker');
  await expect.poll(async () => (await waiting()).applied, patient).toBeGreaterThan(0);
  await kill(interrupted.child);

  await startProcess('worker');
  await expect.poll(async () => (await waiting()).n, patient).toBe(0);
  const events = await eventsOf(database.pool, campaign.workspaceId);
  const received = events.map(({ eventKey, data }) => `${eventKey} ${data.status.id}`);
  const expected = campaign.ids.flatMap((id) => [`sent wamid.${id}`, `delivered wamid.${id}`]);
  expect(received.toSorted()).toEqual(expected.toSorted());
  expect(await checkBooks(database.pool, campaign)).toMatchObject({ counters_fit: true, reserved: 0n });
});
