/** Worker processes of the build, side by side on one campaign. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { orchestratorFor } from '../../src/orchestrator.ts';
import { getCampaignStanding } from '../../src/records/campaign-standing.ts';
import { row } from '../../src/records/row.ts';
import {
  checkBooks,
  seedCampaign,
  testSecretsKey,
  type SeededCampaign,
} from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTemporal } from '../support/temporal.ts';
import { startProgram, type StartedProgram } from './child-process.ts';
import { startRecordingProvider, type RecordingProvider } from './recording-provider.ts';

let database: TestDatabase;
let temporal: TestWorkflowEnvironment;
let previousBuild: string;
beforeAll(async () => {
  [database, temporal, previousBuild] = await Promise.all([
    createTestDatabase({ poolSize: 5 }),
    // As the server of `npm start` is, and every one from 1.32 on.
    startTemporal([
      'system.enableActivityEagerExecution=true',
      'matching.numTaskqueueReadPartitions=1',
      'matching.numTaskqueueWritePartitions=1',
    ]),
    makePreviousBuild(),
  ]);
});
afterAll(async () => {
  await temporal?.teardown();
  await database?.drop();
  await rm(previousBuild, { recursive: true, force: true });
});

const running: StartedProgram[] = [];
let provider: RecordingProvider;
afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  await provider.close();
});

/** A release that claims smaller pages: the same contract, another code. */
async function makePreviousBuild(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-previous-'));
  await cp(resolve('dist'), join(folder, 'dist'), {
    recursive: true,
    filter: (path) => !path.endsWith('.locks'),
  });
  for (const name of ['package.json', 'sql', 'tools']) {
    await cp(resolve(name), join(folder, name), { recursive: true });
  }
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  const step = join(folder, 'dist/src/commands/sending/run-send-step.js');
  const text = await readFile(step, 'utf8');
  const changed = text.replace('const largestPage = 500;', 'const largestPage = 4;');
  if (changed === text) throw new Error('The constant that makes the other build is gone');
  await writeFile(step, changed);
  return folder;
}

interface WorkerOptions {
  /** How the provider tells it from the others. */
  readonly name: string;
  readonly folder?: string;
  readonly graceSeconds?: number;
  readonly clock?: Readonly<Record<string, string>>;
}

async function startWorker({ name, folder = '.', graceSeconds = 60, clock }: WorkerOptions) {
  const program = startProgram({
    path: join(folder, 'dist/src/worker.js'),
    environment: {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace ?? 'default',
      PROVIDER_BASE_URL: `${provider.origin}/${name}`,
      SECRETS_KEY: testSecretsKey,
      OUTCOME_GRACE_SECONDS: String(graceSeconds),
      ...clock,
    },
    ...(clock !== undefined && { preload: resolve('test/outages/shift-clock.mjs') }),
  });
  running.push(program);
  await program.says('worker ready');
  return program;
}

async function startCampaign(recipients: number, messagesPerSecond: number): Promise<SeededCampaign> {
  const seeded = await seedCampaign(database.pool, { recipients, messagesPerSecond, status: 'DRAFT' });
  const orchestrator = orchestratorFor(temporal.client, () => Promise.resolve());
  await orchestrator.startCampaign({ id: seeded.campaignId, workspaceId: seeded.workspaceId, name: 'Two' });
  return seeded;
}

const statusOf = async ({ campaignId }: SeededCampaign) =>
  (await getCampaignStanding(database.pool, campaignId)).status;

async function expectSound(seeded: SeededCampaign) {
  const ids = provider.taken.map(({ callbackData }) => callbackData);
  expect(new Set(ids).size).toBe(ids.length);
  const unknown = await database.pool.any(sql.type(row(t.type({ id: t.string })))`
    SELECT id FROM recipient WHERE campaign_id = ${seeded.campaignId} AND state = 'UNKNOWN'`);
  const settled = new Set([...ids, ...unknown.map(({ id }) => id)]);
  const { counts } = await getCampaignStanding(database.pool, seeded.campaignId);
  expect(settled.size).toBe(counts.total);
  expect(counts.accepted + counts.unknown).toBe(counts.total);
  const books = await checkBooks(database.pool, seeded);
  expect(books).toMatchObject({ counters_fit: true, ledger: books.balance, reserved: books.owed });
  return counts;
}

function busiestSecond(): number {
  const times = provider.taken.map(({ at }) => at);
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
}

const sharesOf = (...names: readonly string[]) =>
  names.map((name) => provider.taken.filter(({ root }) => root === name).length);

describe('two workers on one campaign', () => {
  it('share it, of two builds and with clocks minutes apart that are set meanwhile', async () => {
    provider = await startRecordingProvider();
    const [recipients, rate] = [480, 60];
    await Promise.all([
      startWorker({ name: 'ahead', clock: { CLOCK_SHIFT_MS: '1020000', CLOCK_STEP_MS: '-240000' } }),
      startWorker({
        name: 'behind',
        folder: previousBuild,
        clock: { CLOCK_SHIFT_MS: '-1020000', CLOCK_STEP_MS: '360000' },
      }),
    ]);
    const seeded = await startCampaign(recipients, rate);
    await expect.poll(() => statusOf(seeded), { timeout: 80_000, interval: 200 }).toBe('COMPLETED');
    expect(await expectSound(seeded)).toMatchObject({ accepted: recipients, unknown: 0 });
    for (const share of sharesOf('ahead', 'behind')) expect(share).toBeGreaterThan(recipients / 5);
    // The provider's own clock, on a machine that has other things to do, moves a message by a tenth of a second.
    expect(busiestSecond()).toBeLessThanOrEqual(rate * 1.2);
  }, 120_000);

  it('lose and double nobody when one of them dies, and the other goes on', async () => {
    provider = await startRecordingProvider();
    const recipients = 480;
    const [victim] = await Promise.all([
      startWorker({ name: 'victim', graceSeconds: 5 }),
      startWorker({ name: 'survivor', graceSeconds: 5 }),
    ]);
    const seeded = await startCampaign(recipients, 60);
    await expect.poll(() => provider.taken.length, { timeout: 30_000 }).toBeGreaterThan(recipients / 3);
    victim.child.kill('SIGKILL');
    const killedAt = performance.now();
    await expect.poll(() => statusOf(seeded), { timeout: 80_000, interval: 200 }).toBe('COMPLETED');
    expect(performance.now() - killedAt).toBeLessThan(60_000);
    const { unknown } = await expectSound(seeded);
    // Four pages of a quarter of a second at the most, in each of two lanes.
    expect(unknown).toBeLessThanOrEqual(120);
    const [dead = 0, alive = 0] = sharesOf('victim', 'survivor');
    expect(dead).toBeGreaterThan(0);
    expect(alive).toBeGreaterThan(recipients / 3);
  }, 120_000);
});
