/** Preparations of several workspaces at once, in one worker. */
import { Readable } from 'node:stream';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createPreparationSlots,
  type PreparationSlots,
} from '../../../src/commands/audience/preparation-slots.ts';
import { prepareCampaign } from '../../../src/commands/audience/prepare-campaign.ts';
import { createKeyedSemaphore, type KeyedSemaphore } from '../../../src/concurrency/keyed-semaphore.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { nothing } from '../../../src/records/database/row.ts';
import {
  aCampaignToPrepare,
  aSender,
  type CampaignOptions,
  type Sender,
} from '../../support/audience-campaign.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let holder: pg.Client;
let stop = new AbortController();
const underWay: Promise<unknown>[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  // Not the application's role, whose idle transactions end after five seconds.
  holder = new pg.Client({ connectionString: database.ownerUrl });
  await holder.connect();
});
afterEach(async () => {
  stop.abort();
  await Promise.allSettled(underWay.splice(0));
  stop = new AbortController();
});
afterAll(async () => {
  await holder.end();
  await database.drop();
});

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const csv_mapping = { phone_column: 0, country_code_column: 1 };

/** The storage holds one short file; every other one never ends. */
const storage = {
  read: async (key: string) => {
    if (key === 'short') return Readable.from([Buffer.from('p,c\n+4915100000001,49\n')]);
    const endless = new Readable({ read: () => undefined });
    endless.push('p,c\n+4915100000009,49\n');
    return endless;
  },
};

const prepare = (
  id: string,
  slots: PreparationSlots,
  onTurn: () => Promise<void> = () => Promise.resolve(),
): Promise<number> => {
  const dependencies = {
    config: { databaseUrl: database.url, publicUrl: 'https://campaigns.example.com', host: '', port: 0 },
    database: database.pool,
    logger: silent,
    now: () => new Date(),
    storage,
    outbound: {},
  } as unknown as Dependencies;
  const prepared = prepareCampaign(dependencies, id, {
    heartbeat: () => undefined,
    signal: stop.signal,
    slots,
    onTurn,
  });
  prepared.catch(() => undefined);
  underWay.push(prepared);
  return prepared;
};

const aCampaign = (sender: Sender, options: CampaignOptions) =>
  aCampaignToPrepare(database.pool, sender, options);

const aContact = ({ workspaceId }: Sender) =>
  database.pool.query(sql.type(nothing)`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
    VALUES (${workspaceId}, '4915112345678', '49', 'DE', 'manual')`);

/** Two files that never end of each of two workspaces. */
async function prepareEndlessFiles(slots: PreparationSlots): Promise<void> {
  for (const sender of [await aSender(database.pool), await aSender(database.pool)])
    for (const key of ['one', 'two']) {
      const id = await aCampaign(sender, { audience: { csv_mapping, csv_file_key: key } });
      void prepare(id, slots);
    }
  const Count = sql.type(nothing)`SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'prepare-recipients'`;
  await expect
    .poll(async () => (await database.pool.query(Count)).rowCount, { timeout: 10_000 })
    .toBeGreaterThanOrEqual(2);
}

describe('a short preparation', () => {
  it('of stored contacts does not wait for the files of other workspaces', { timeout: 30_000 }, async () => {
    const slots = createPreparationSlots();
    const sender = await aSender(database.pool);
    await aContact(sender);
    await prepareEndlessFiles(slots);
    const id = await aCampaign(sender, { selectionType: 'all_contacts' });
    expect(await prepare(id, slots)).toBe(1);
  });

  it('of an uploaded file does not wait for the files of other workspaces', { timeout: 30_000 }, async () => {
    const slots = createPreparationSlots();
    const sender = await aSender(database.pool);
    await database.pool.query(sql.type(nothing)`
      INSERT INTO campaign_file (key, workspace_id, size, headers) VALUES ('short', ${sender.workspaceId}, 23, '[]')`);
    await prepareEndlessFiles(slots);
    const id = await aCampaign(sender, { audience: { csv_mapping, csv_file_key: 'short' } });
    expect(await prepare(id, slots)).toBe(1);
  });

  it('does not wait for those whose contacts another transaction locks', { timeout: 30_000 }, async () => {
    const slots = createPreparationSlots();
    const quick = (sender: Sender) =>
      aCampaign(sender, { selectionType: 'quick_contacts', content: '["+4915112345678"]' });
    let givenUp = 0;
    const waitInVain = (id: string) => void prepare(id, slots).catch(() => (givenUp += 1));
    await holder.query('BEGIN');
    try {
      for (let tenants = 0; tenants < 5; tenants += 1) {
        const sender = await aSender(database.pool);
        await holder.query(
          `INSERT INTO contact (workspace_id, phone_number, country_code, country, source) VALUES ($1, '4915112345678', '49', 'DE', 'manual')`,
          [sender.workspaceId],
        );
        for (let campaigns = 0; campaigns < 3; campaigns += 1) waitInVain(await quick(sender));
      }
      const id = await quick(await aSender(database.pool));
      expect(await prepare(id, slots)).toBe(1);
      // None of the others left its slot to it.
      expect(givenUp).toBe(0);
    } finally {
      await holder.query('ROLLBACK');
    }
  });
});

describe('the next campaign of the workspace may start', () => {
  /** One slot, which the test holds; `asked` resolves when a preparation waits for it. */
  async function takenSlot() {
    const semaphore = createKeyedSemaphore({ total: 1, perKey: 1, waiting: 1 });
    const release = await semaphore.acquire(['the test']);
    let ask = (): void => undefined;
    const asked = new Promise<void>((resolve) => (ask = resolve));
    const acquire: KeyedSemaphore['acquire'] = (...args) => {
      const slot = semaphore.acquire(...args);
      ask();
      return slot;
    };
    return { asked, release: () => release?.(), semaphore: { acquire } };
  }
  const observed = () => {
    const turns = { count: 0 };
    return { turns, onTurn: async () => void (turns.count += 1) };
  };

  it('once a short preparation has its slot', async () => {
    const { asked, release, semaphore } = await takenSlot();
    const { turns, onTurn } = observed();
    const id = await aCampaign(await aSender(database.pool), {
      selectionType: 'quick_contacts',
      content: '["+4915112345678"]',
    });
    const prepared = prepare(id, { ...createPreparationSlots(), short: semaphore }, onTurn);
    await asked;
    expect(turns.count).toBe(0);
    release();
    expect(await prepared).toBe(1);
    expect(turns.count).toBe(1);
  });

  it('while a long preparation waits for its slot', async () => {
    const { asked, semaphore } = await takenSlot();
    const { turns, onTurn } = observed();
    const id = await aCampaign(await aSender(database.pool), {
      audience: { csv_mapping, csv_file_key: 'one' },
    });
    void prepare(id, { ...createPreparationSlots(), long: semaphore }, onTurn);
    await asked;
    expect(turns.count).toBe(1);
  });
});

it('leaves slots of each kind to a third workspace when two take all they can', async () => {
  const slots = createPreparationSlots();
  for (const kind of ['short', 'long'] as const) {
    for (const workspaceId of [1, 2])
      for (let asked = 0; asked < 4; asked += 1)
        slots[kind].acquire([workspaceId], stop.signal).catch(() => undefined);
    expect(await slots[kind].acquire([3])).toBeDefined();
  }
});
