/**
 * Campaigns of two workspaces under any order of what operators, people, the provider and the machines do (`model-actions.ts`):
 * what must hold all the while, and in the end. `MODEL_SEED` repeats a run, `MODEL_MINUTES` makes it longer.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import { nothing, nullable, row, timestamp } from '../../src/records/database/row.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { checkBooks } from '../support/campaign-factory.ts';
import { createFakeProvider } from '../support/fake-provider.ts';
import { tablesWith } from '../support/tables-with.ts';
import { testOrchestrator } from '../support/test-orchestrator.ts';
import {
  numberIn,
  people,
  recharge,
  setChannel,
  setWindowOfCampaign,
  setWindowOfWorkspace,
  step,
  thaw,
  type Ban,
  type Step,
  type Tenant,
  type World,
} from './model-actions.ts';
import type { StartedProgram } from './child-process.ts';
import type { Verdict } from './recording-provider.ts';
import { createSendingFixture, type SendingFixture } from './sending-fixture.ts';

const actionsInRound = 100;
const graceSeconds = 4;
/** Within this time an opt-out, a pause or a cancel ends claims, unless workers were frozen or dead meanwhile. */
const actsWithinMs = 10_000;
/** The limit is for campaigns that hang: a circuit opens for a minute, and a recipient's attempts may take as long. */
const endsWithinMs = 400_000;

let fixture: SendingFixture;
let api: TestApi;
let workers: World['workers'];
let started = 0;

async function startWorker(): Promise<StartedProgram> {
  const { dataDir, secretsKeys, keyPeppers } = api.dependencies.config;
  const url = new URL(fixture.database.url);
  url.searchParams.set('application_name', 'model-worker');
  return fixture.startWorker({
    name: `worker-${(started += 1)}`,
    graceSeconds,
    environment: {
      DATABASE_URL: url.href,
      DATA_DIR: dataDir,
      SECRETS_KEY: secretsKeys[0] ?? '',
      KEY_PEPPER: keyPeppers[0] ?? '',
    },
  });
}

beforeAll(async () => {
  fixture = await createSendingFixture();
  const orchestrator = testOrchestrator(fixture.temporal.client);
  const dependencies = { orchestrator, provider: createFakeProvider() };
  api = await startTestApi({ database: fixture.database, dependencies });
  await noteChanges();
  workers = [startWorker(), startWorker()];
  await Promise.all(workers);
});
afterAll(async () => {
  await fixture?.clear();
  await api?.close();
  await fixture?.close();
});

/** Has Postgres note when a recipient is claimed, and when the provider's refusal says that a person opted out. */
async function noteChanges(): Promise<void> {
  const statements = [
    sql.fragment`CREATE TABLE noted (at timestamptz NOT NULL DEFAULT clock_timestamp(), campaign_id uuid NOT NULL,
      phone_number text, state text NOT NULL)`,
    sql.fragment`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO noted (campaign_id, phone_number, state) VALUES (NEW.campaign_id, NEW.phone_number, NEW.state);
      RETURN NULL;
    END $$`,
    sql.fragment`CREATE TRIGGER note AFTER UPDATE OF state ON recipient FOR EACH ROW WHEN (OLD.state <> NEW.state
      AND (NEW.state = 'CLAIMED' OR NEW.state = 'FAILED' AND NEW.reason = 'PROVIDER_131050')) EXECUTE FUNCTION note()`,
  ];
  for (const statement of statements) await fixture.database.owner.query(sql.type(nothing)`${statement}`);
}

async function createTenant(round: number, index: number): Promise<Tenant> {
  const seeded = await api.seedWorkspace();
  const { workspaceId, businessAccountId } = seeded;
  const templateId = randomUUID();
  const statements = [
    sql.fragment`INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category,
        status, components)
      VALUES (${templateId}, ${workspaceId}, ${businessAccountId}, ${templateId}, 'offer', 'en', 'MARKETING', 'APPROVED',
        '[{"type":"BODY","text":"Hi {{1}}"}]')`,
    sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
      VALUES (${workspaceId}, 'MARKETING', '', 1000), (${workspaceId}, 'MARKETING', 'DE', 1000),
        (${workspaceId}, 'MARKETING', 'FR', 2300)`,
  ];
  for (const statement of statements) await fixture.database.pool.query(sql.type(nothing)`${statement}`);
  return {
    ...seeded,
    templateId,
    numberOf: numberIn(round, index),
    campaigns: [],
    optOuts: new Map(),
    pauses: new Map(),
    gone: new Set(),
    erased: new Map(),
    choseAt: new Map(),
  };
}

interface Asked {
  readonly callbackData: string;
  readonly to: string;
  readonly at: number;
  readonly verdict: Verdict;
}

/** Refuses some numbers for good, some because they opted out, and a few once. */
function listen(world: World): readonly Asked[] {
  const asked: Asked[] = [];
  const later = new Set<string>();
  const verdictOf = (to: string): Verdict => {
    const last = Number(to.slice(-3));
    if (last % 13 === 5) return 131026;
    if (last % 17 === 7) return 131050;
    if (last % 19 === 11 && !later.has(to)) return later.add(to) && 131000;
    if (world.answersToLose === 0) return 'accepted';
    world.answersToLose -= 1;
    return 'lost';
  };
  fixture.provider.watch = {
    // A third of the answers take 50 to 300 ms, so that workers die and freeze while requests are under way.
    answersAfter: (to) => (Number(to.slice(-3)) % 3 === 0 ? 50 + ((Number(to.slice(-4)) * 37) % 250) : 0),
    verdict: (message) => {
      const verdict = verdictOf(message.to);
      asked.push({ ...message, at: Date.now(), verdict });
      return verdict;
    },
  };
  return asked;
}

const Totals = row(t.type({ fit: t.boolean }));

async function expectSoundBooks(tenant: Tenant): Promise<void> {
  for (const { id: campaignId } of tenant.campaigns) {
    const { totals_fit: _, ...books } = await checkBooks(fixture.database.pool, { ...tenant, campaignId });
    expect(books).toMatchObject({ counters_fit: true, ledger: books.balance, owed: books.reserved });
    expect(books.balance).toBeGreaterThanOrEqual(books.reserved);
    // A claim that skips somebody who opted out changes no total.
    const { fit } = await fixture.database.pool.one(sql.type(Totals)`
      SELECT total_contacts + total_contacts_skipped = (SELECT count(*) FROM recipient WHERE campaign_id = campaign.id) AS fit
      FROM campaign WHERE id = ${campaignId}`);
    expect(fit, 'total of the campaign').toBe(true);
  }
}

/** Ends every outage, gives money, lifts windows, limits and blocks, and starts what is paused. */
async function bringToTheEnd(world: World): Promise<void> {
  await thaw(world, 'all');
  await Promise.all(world.workers);
  world.answersToLose = 0;
  for (const [index, tenant] of world.tenants.entries()) {
    await recharge(world, tenant, 50_000);
    await setChannel(world, tenant, { messagingLimit: null, status: 'active', messagesPerSecond: 200 });
    await setWindowOfWorkspace(world, tenant, undefined);
    for (const campaign of tenant.campaigns.keys())
      await setWindowOfCampaign(world, { tenant: index === 0 ? 0 : 1, campaign }, null);
  }
  const deadline = Date.now() + endsWithinMs;
  const isOver = async (what: string, over: () => Promise<boolean>) => {
    while (!(await over())) {
      if (Date.now() > deadline) throw new Error(`Not over: ${what}`);
      await sleep(200);
    }
  };
  for (const tenant of world.tenants)
    for (const { id } of tenant.campaigns) await isOver(`campaign ${id}`, () => hasEnded(tenant, id));
  for (const table of ['waiting_callback', 'waiting_opt_out', 'erasure'])
    await isOver(
      table,
      async () =>
        !(await fixture.database.owner.exists(sql.type(nothing)`SELECT FROM ${sql.identifier([table])}`)),
    );
}

/** Starts the campaign if it is paused. */
async function hasEnded({ channelKey: key, pauses }: Tenant, id: string): Promise<boolean> {
  const { status, counts } = await getCampaignSnapshot(fixture.database.pool, id);
  if (status === 'PAUSED') {
    await api.send('POST', `/api/campaigns/${id}/start`, { key, body: { force: true } });
    for (const pause of pauses.get(id) ?? []) pause.until = Math.min(pause.until, Date.now());
  }
  return status === 'COMPLETED' || (status === 'CANCELLED' && counts.pending + counts.claimed === 0);
}

const Noted = row(
  t.type({ at: timestamp, campaign_id: t.string, phone_number: nullable(t.string), state: t.string }),
);
const Skipped = row(t.type({ phone_number: nullable(t.string) }));

/** Milliseconds of this time in which a worker was frozen or dead. */
function outageBetween(outages: readonly Ban[], from: number, until: number): number {
  let ms = 0;
  let seen = from;
  for (const outage of outages.toSorted((a, b) => a.from - b.from)) {
    const end = Math.min(until, outage.until);
    ms += Math.max(0, end - Math.max(seen, outage.from));
    seen = Math.max(seen, end);
  }
  return ms;
}

/** No claim comes later than ten seconds after the beginning of a ban, unless the ban has ended. */
async function expectNoForbiddenClaim({ tenants, outages }: World, asked: readonly Asked[]): Promise<void> {
  for (const tenant of tenants) {
    const ids = tenant.campaigns.map(({ id }) => id);
    const noted = await fixture.database.owner.any(sql.type(Noted)`
      SELECT at, campaign_id, phone_number, state FROM noted WHERE campaign_id = ANY(${sql.array(ids, 'uuid')}) ORDER BY at`);
    const personOf = new Map(Array.from({ length: people }, (_, who) => [tenant.numberOf(who), who]));
    for (const { at, phone_number: number, state } of noted) {
      const person = personOf.get(number ?? '');
      if (state !== 'FAILED' || person === undefined) continue;
      const bans = tenant.optOuts.get(person) ?? [];
      tenant.optOuts.set(person, [...bans, { from: at.getTime(), until: nextOptIn(bans, at.getTime()) }]);
    }
    for (const { at, campaign_id: id, phone_number: number, state } of noted) {
      if (state !== 'CLAIMED') continue;
      const claimedAt = at.getTime();
      const person = personOf.get(number ?? '') ?? -1;
      const late = ({ from, until }: Ban) =>
        claimedAt > from + actsWithinMs + outageBetween(outages, from, claimedAt) && claimedAt < until;
      const told = `${number} of ${id} was claimed at ${at.toISOString()}`;
      expect((tenant.optOuts.get(person) ?? []).filter(late), `${told}, after an opt-out`).toEqual([]);
      expect((tenant.pauses.get(id) ?? []).filter(late), `${told}, after a pause or cancel`).toEqual([]);
      expect(claimedAt, `${told}, after its erasure`).toBeLessThan(tenant.erased.get(person) ?? Infinity);
    }
    const skipped = await fixture.database.owner.any(sql.type(Skipped)`
      SELECT phone_number FROM recipient WHERE campaign_id = ANY(${sql.array(ids, 'uuid')}) AND reason = 'UNSUBSCRIBED'`);
    for (const { phone_number: number } of skipped) {
      const person = personOf.get(number ?? '');
      if (person === undefined) continue;
      const mayBeOut =
        tenant.optOuts.has(person) || asked.some(({ to, verdict }) => to === number && verdict === 131050);
      expect(mayBeOut, `${number} was skipped and had not opted out`).toBe(true);
    }
  }
}

/** An opt-in counts for every opt-out before it. */
const nextOptIn = (bans: readonly Ban[], at: number): number =>
  Math.min(Infinity, ...bans.map(({ until }) => until).filter((until) => until > at));

/** States of a recipient of whom the provider said this last. */
function statesAfter(verdict: Verdict | undefined, campaignStatus: string): readonly string[] {
  if (verdict === 'accepted' || verdict === 'lost')
    return ['ACCEPTED', 'SENT', 'DELIVERED', 'READ', 'FAILED', 'UNKNOWN'];
  if (verdict !== undefined && verdict !== 131000) return ['FAILED', 'UNKNOWN'];
  return ['UNKNOWN', 'SKIPPED', 'FAILED', ...(campaignStatus === 'CANCELLED' ? ['CANCELLED'] : [])];
}

const Recipient = row(t.type({ id: t.string, state: t.string }));

async function expectEveryoneOnce({ tenants }: World, asked: readonly Asked[]): Promise<void> {
  const attempts = new Map<string, Asked[]>();
  for (const one of asked) attempts.set(one.callbackData, [...(attempts.get(one.callbackData) ?? []), one]);
  for (const [id, all] of attempts)
    expect(
      all.slice(0, -1).filter(({ verdict }) => verdict !== 131000),
      `${id} was sent again`,
    ).toEqual([]);
  for (const { campaigns } of tenants)
    for (const campaign of campaigns) {
      const { status } = await getCampaignSnapshot(fixture.database.pool, campaign.id);
      const rows = await fixture.database.pool.any(sql.type(Recipient)`
        SELECT id, state FROM recipient WHERE campaign_id = ${campaign.id}`);
      // Of a campaign that was cancelled before it was prepared there is nobody.
      const expected = status === 'CANCELLED' && rows.length === 0 ? 0 : campaign.people.length;
      expect(rows.length).toBe(expected);
      for (const { id, state } of rows) {
        const verdict = attempts.get(id)?.at(-1)?.verdict;
        const possible = statesAfter(verdict, status);
        expect(possible, `${id}: the provider said ${verdict}`).toContain(state);
      }
    }
}

async function expectErased({ tenants }: World): Promise<void> {
  for (const { erased, numberOf } of tenants)
    for (const person of erased.keys()) {
      const tables = await tablesWith(fixture.database.owner, numberOf(person));
      expect(
        tables.filter((name) => name !== 'noted'),
        `tables with ${numberOf(person)}`,
      ).toEqual([]);
    }
}

const counts = new Map<string, number>();
const totals = {
  rounds: 0,
  people: 0,
  skipped: 0,
  sent: 0,
  refused: 0,
  lost: 0,
  unknown: 0,
  erased: 0,
  completed: 0,
  cancelled: 0,
};

async function playRound(seed: number, round: number): Promise<void> {
  const world: World = {
    api,
    fixture,
    tenants: [await createTenant(round, 0), await createTenant(round, 1)],
    workers,
    startWorker,
    frozen: [undefined, undefined],
    outages: [],
    answersToLose: 0,
  };
  const asked = listen(world);
  for (const tenant of world.tenants) {
    await recharge(world, tenant, 60);
    await setChannel(world, tenant, { accessToken: 'token', messagesPerSecond: 30 });
  }
  const length = { minLength: actionsInRound, maxLength: actionsInRound };
  const [steps = []] = fc.sample(fc.array(step, { ...length, size: 'max' }), { seed, numRuns: 1 });
  const done: Step[] = [];
  try {
    for (const one of steps) {
      if (!one.possible(world)) continue;
      done.push(one);
      await one.run(world);
      counts.set(one.name, (counts.get(one.name) ?? 0) + 1);
      await thaw(world, 'due');
      for (const tenant of world.tenants) await expectSoundBooks(tenant);
    }
    await bringToTheEnd(world);
    for (const tenant of world.tenants) await expectSoundBooks(tenant);
    await expectEveryoneOnce(world, asked);
    await expectNoForbiddenClaim(world, asked);
    await expectErased(world);
  } catch (error) {
    process.stdout.write(`After these actions:\n${done.map(({ text }) => text).join('\n')}\n`);
    throw error;
  }
  await summarise(world, asked);
}

async function summarise({ tenants }: World, asked: readonly Asked[]): Promise<void> {
  totals.rounds += 1;
  totals.sent += asked.filter(({ verdict }) => verdict === 'accepted').length;
  totals.lost += asked.filter(({ verdict }) => verdict === 'lost').length;
  totals.refused += asked.filter(({ verdict }) => typeof verdict === 'number').length;
  for (const { campaigns, erased } of tenants) {
    totals.erased += erased.size;
    for (const { id } of campaigns) {
      const { status, counts: states } = await getCampaignSnapshot(fixture.database.pool, id);
      totals.people += states.total + states.skipped;
      totals.skipped += states.skipped;
      totals.unknown += states.unknown;
      totals[status === 'COMPLETED' ? 'completed' : 'cancelled'] += 1;
    }
  }
}

// Half a minute of actions; before a release an hour.
const minutes = Number(process.env['MODEL_MINUTES'] ?? (process.env['EVERY_CASE'] === 'true' ? 60 : 0.5));

it(
  'keeps its promises in any order of actions, frozen workers and lost answers',
  async () => {
    const until = Date.now() + minutes * 60_000;
    let seed = Number(process.env['MODEL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    for (let round = 0; round === 0 || Date.now() < until; round += 1) {
      process.stdout.write(`Repeat this round of the model with MODEL_SEED=${seed}\n`);
      await playRound(seed, round);
      seed += 1;
      process.stdout.write(`${JSON.stringify({ ...totals, actions: Object.fromEntries(counts) })}\n`);
    }
  },
  (minutes + 15) * 60_000,
);
