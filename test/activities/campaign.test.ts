import { MockActivityEnvironment } from '@temporalio/testing';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sql } from 'slonik';
import { createCampaignActivities } from '../../src/activities/campaign.ts';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import { getCampaignReport } from '../../src/records/campaigns/report.ts';
import { nothing } from '../../src/records/database/row.ts';
import { createFolderStorage } from '../../src/storage/folder-storage.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { aCampaignToPrepare, aSender } from '../support/audience-campaign.ts';
import { seedCampaign } from '../support/campaign-factory.ts';
import { until } from '../support/campaign-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createFakeProvider } from '../support/fake-provider.ts';
import { sendingDependencies } from '../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('sends nothing more in a step that Temporal has given up or whose workflow was terminated', async () => {
  const recipients = 2_000;
  const { campaignId } = await seedCampaign(test.pool, { recipients, messagesPerSecond: 100 });
  const provider = createFakeProvider();
  const dependencies = sendingDependencies({ database: test.pool, provider });
  const { sendStep } = createCampaignActivities(dependencies, { draining: () => false });
  const environment = new MockActivityEnvironment();
  const step: ReturnType<typeof sendStep> = environment.run(sendStep, campaignId);
  await until(async () => provider.received.length > 20);
  environment.cancel('NOT_FOUND');
  const sent = provider.received.length;
  const { counts } = await step;
  expect(provider.received).toHaveLength(sent);
  expect(counts).toMatchObject({ claimed: 0, unknown: 0, accepted: provider.received.length });
  expect(counts.pending).toBe(recipients - provider.received.length);
});

it('stops sending while results cannot be written, keeps them, and records them once that is possible', async () => {
  const { campaignId } = await seedCampaign(test.pool, { recipients: 500, messagesPerSecond: 100 });
  const owner = new pg.Client({ connectionString: test.ownerUrl });
  await owner.connect();
  await owner.query("ALTER TABLE recipient ADD CONSTRAINT broken CHECK (state <> 'ACCEPTED') NOT VALID");
  const provider = createFakeProvider();
  const dependencies = sendingDependencies({ database: test.pool, provider });
  const { sendStep } = createCampaignActivities(dependencies, { draining: () => false });
  const step = new MockActivityEnvironment().run(sendStep, campaignId);
  try {
    let sent = 0;
    const stands = async () => {
      const before = sent;
      sent = provider.received.length;
      return sent > 0 && sent === before;
    };
    await expect.poll(stands, { interval: 1_000 }).toBe(true);
    expect(sent).toBeLessThan(500);
  } finally {
    await owner.query('ALTER TABLE recipient DROP CONSTRAINT broken');
    await owner.end();
  }
  await step;
  const { counts } = await getCampaignSnapshot(test.pool, campaignId);
  expect(counts).toMatchObject({ claimed: 0, unknown: 0, accepted: provider.received.length });
});

describe('a small campaign', () => {
  const seedQuick = async (numbers: number) => {
    const sender = await aSender(test.pool);
    await postLedgerEntry(test.pool, { channelId: sender.channelId, kind: 'recharge', amount: 100_000_000n });
    await test.pool.query(sql.type(nothing)`
      UPDATE channel SET messages_per_second = 1000 WHERE id = ${sender.channelId}`);
    // Otherwise a campaign of more than fifty waits for its first statuses.
    await test.pool.query(sql.type(nothing)`
      UPDATE workspace SET failure_brake = 'off' WHERE id = ${sender.workspaceId}`);
    const quickContacts = Array.from({ length: numbers }, (_, index) => `+49151${10_000_000 + index}`);
    return aCampaignToPrepare(test.pool, sender, {
      selectionType: 'quick_contacts',
      content: JSON.stringify(quickContacts),
    });
  };
  const prepare = async (campaignId: string) => {
    const provider = createFakeProvider();
    const dependencies = sendingDependencies({
      database: test.pool,
      provider,
      config: { databaseUrl: test.url },
    });
    const { prepareCampaign } = createCampaignActivities(dependencies, { draining: () => false });
    const run: ReturnType<typeof prepareCampaign> = new MockActivityEnvironment().run(
      prepareCampaign,
      campaignId,
    );
    return { snapshot: await run, provider };
  };

  /** For the process, time passes a tenth as fast: messages that it could not send for 800 ms are left to the next step. */
  const slowDownClock = () => {
    const now = performance.now.bind(performance);
    const from = now();
    vi.spyOn(performance, 'now').mockImplementation(() => from + (now() - from) / 10);
  };

  it('goes from its preparation to its end in one step', async () => {
    const campaignId = await seedQuick(100);
    slowDownClock();
    const { snapshot, provider } = await prepare(campaignId);
    expect(snapshot).toMatchObject({
      status: 'COMPLETED',
      counts: { accepted: 100, claimed: 0, pending: 0, unknown: 0 },
    });
    expect(provider.received).toHaveLength(100);
  });

  it('has at most a hundred recipients', async () => {
    const { snapshot, provider } = await prepare(await seedQuick(101));
    expect(snapshot).toMatchObject({ status: 'DRAFT', prepared: true, counts: { pending: 101 } });
    expect(provider.received).toHaveLength(0);
  });
});

it('prepares a small campaign while six files of three other workspaces download slowly', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slow-files-'));
  let downloads = 0;
  const outbound = {
    fetchFile: async () => {
      downloads += 1;
      const stream = new Readable({ read: () => undefined });
      stream.push('phone,country\n');
      return { ok: true, stream };
    },
  };
  const dependencies = {
    ...sendingDependencies({
      database: test.pool,
      provider: createFakeProvider(),
      config: { databaseUrl: test.url, publicUrl: 'https://campaigns.example.com', host: '', port: 0 },
    }),
    storage: createFolderStorage(folder),
    outbound,
  } as unknown as Parameters<typeof createCampaignActivities>[0];
  const { prepareCampaign } = createCampaignActivities(dependencies, { draining: () => false });
  const slow: MockActivityEnvironment[] = [];
  const ends: Promise<unknown>[] = [];
  const waiting: [workspaceId: number, campaignId: string][] = [];
  try {
    for (let workspace = 0; workspace < 3; workspace += 1) {
      const sender = await aSender(test.pool);
      for (let file = 0; file < 2; file += 1) {
        const id = await aCampaignToPrepare(test.pool, sender, {
          audience: {
            csv_mapping: { phone_column: 0, country_code_column: 1 },
            csv_file_url: `https://files${workspace}.example.com/${file}.csv`,
          },
        });
        const environment = new MockActivityEnvironment();
        slow.push(environment);
        ends.push(environment.run(prepareCampaign, id).catch(() => undefined));
        waiting.push([sender.workspaceId, id]);
      }
    }
    await until(async () => downloads === 6);
    const sender = await aSender(test.pool);
    const id = await aCampaignToPrepare(test.pool, sender, {
      selectionType: 'quick_contacts',
      content: JSON.stringify(['+4915110000000', '+4915110000001']),
    });
    await new MockActivityEnvironment().run(prepareCampaign, id);
    expect(await getCampaignReport(test.pool, sender.workspaceId, id)).toMatchObject({
      preparation_status: 'READY',
      total_contacts: 2,
    });
    for (const [workspaceId, campaignId] of waiting)
      expect(await getCampaignReport(test.pool, workspaceId, campaignId)).toMatchObject({
        preparation_status: 'PREPARING',
        waiting_for: 'PREPARATION',
      });
  } finally {
    for (const environment of slow) environment.cancel('CANCELLED');
    await Promise.all(ends);
    await rm(folder, { recursive: true });
  }
});

it('retries a preparation within ten seconds when its workspace already prepares as many as allowed', async () => {
  const dependencies = sendingDependencies({ database: test.pool, provider: createFakeProvider() });
  const fetchFile = async () => ({ ok: true, stream: new Readable({ read: () => undefined }) });
  const busy = {
    ...dependencies,
    config: { ...dependencies.config, publicUrl: 'https://campaigns.example.com' },
    outbound: { fetchFile },
    storage: { write: (_key: string, content: Readable) => content.toArray() },
  } as unknown as typeof dependencies;
  const { prepareCampaign } = createCampaignActivities(busy, { draining: () => false });
  const sender = await aSender(test.pool);
  const environments: MockActivityEnvironment[] = [];
  const prepare = async (attempt: number) => {
    const id = await aCampaignToPrepare(test.pool, sender, {
      audience: {
        csv_mapping: { phone_column: 0, country_code_column: 1 },
        csv_file_url: 'https://files.example.com/a.csv',
      },
    });
    const environment = new MockActivityEnvironment({ attempt });
    environments.push(environment);
    return environment.run(prepareCampaign, id);
  };
  const refused = (attempt: number): Promise<unknown> =>
    prepare(attempt).catch(({ nextRetryDelay }: { nextRetryDelay?: unknown }) => nextRetryDelay);
  // Three download and four wait; whichever comes last is refused.
  const others = Array.from({ length: 8 }, () => refused(1));
  const delays = [await Promise.race(others), await refused(3), await refused(9)];
  for (const environment of environments) environment.cancel('CANCELLED');
  await Promise.all(others);
  expect(delays).toEqual([1_000, 4_000, 10_000]);
});
