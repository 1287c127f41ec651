/**
 * What the model does to two workspaces and two workers. An action is drawn from the seed alone, and is left out by what earlier
 * actions did, never by how far the workers are: the same seed gives the same actions in the same order.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { rechargeWallet } from '../../src/commands/wallet/change-wallet.ts';
import { updateChannel } from '../../src/commands/workspaces/channels.ts';
import { insertProviderCallbacks } from '../../src/records/callbacks/provider-callbacks.ts';
import { nothing, row, timestamp as instant } from '../../src/records/database/row.ts';
import type { SeededWorkspace, TestApi } from '../support/api.ts';
import { fieldCallback, messagesCallback, status } from '../support/callback-fixtures.ts';
import type { StartedProgram } from './child-process.ts';
import type { SendingFixture } from './sending-fixture.ts';

/** Ms since the epoch, on the clock of Postgres. */
type Time = number;

/** From `from` until `until` something must not happen. */
export interface Ban {
  readonly from: Time;
  until: Time;
}

export interface Tenant extends SeededWorkspace {
  readonly templateId: string;
  readonly numberOf: (person: number) => string;
  /** Ids, with the people of each. */
  readonly campaigns: { readonly id: string; readonly people: readonly number[] }[];
  /** Of a person who opted out, until the person opted in. */
  readonly optOuts: Map<number, Ban[]>;
  /** Of a campaign that was paused or cancelled, until it was started. */
  readonly pauses: Map<string, Ban[]>;
  /** People whose erasure was asked for: no later action names them. */
  readonly gone: Set<number>;
  /** Those of them whose number may occur nowhere, and since when nothing may be sent to it. */
  readonly erased: Map<number, Time>;
  /** The second in which a person chose last: the provider's times have no fractions. */
  readonly choseAt: Map<number, number>;
}

interface Frozen {
  actionsLeft: number;
  readonly outage: Ban;
}

export interface World {
  readonly api: TestApi;
  readonly fixture: SendingFixture;
  readonly tenants: readonly [Tenant, Tenant];
  readonly workers: [Promise<StartedProgram>, Promise<StartedProgram>];
  readonly startWorker: () => Promise<StartedProgram>;
  /** How many more actions a worker stays frozen. */
  readonly frozen: [Frozen | undefined, Frozen | undefined];
  /** When a worker was frozen or dead. */
  readonly outages: Ban[];
  /** Further requests whose answers the provider does not send. */
  answersToLose: number;
}

export const people = 90;
/** Contacts of both workspaces. The others are known to one. */
const shared = 30;
const mostCampaigns = 6;

const now = async ({ fixture }: World): Promise<Time> =>
  (
    await fixture.database.pool.oneFirst(sql.type(row(t.type({ now: instant })))`
      SELECT clock_timestamp() AS now`)
  ).getTime();

/** Every third person lives where a message costs more. */
export const numberIn = (round: number, tenant: number) => (person: number) =>
  [
    person % 3 === 0 ? '336' : '49151',
    String(1_000 + (round % 9_000)),
    person < shared ? 0 : tenant + 1,
    String(person).padStart(3, '0'),
  ].join('');

interface Action<Given, Done> {
  readonly name: string;
  readonly weight: number;
  readonly given: fc.Arbitrary<Given>;
  /** Asks only what the model knows. Default: always. */
  readonly possible?: (world: World, given: Given) => boolean;
  readonly act: (world: World, given: Given) => Promise<Done>;
  /** What the model knows afterwards. */
  readonly learn?: (world: World, given: Given, done: Done) => void;
}

export interface Step {
  readonly name: string;
  readonly text: string;
  readonly possible: (world: World) => boolean;
  readonly run: (world: World) => Promise<void>;
}

function action<Given, Done>({ name, weight, given: arbitrary, possible, act, learn }: Action<Given, Done>) {
  const step = (given: Given): Step => ({
    name,
    text: `${name} ${JSON.stringify(given)}`,
    possible: (world) => possible?.(world, given) ?? true,
    run: async (world) => learn?.(world, given, await act(world, given)),
  });
  return { name, weight, arbitrary: arbitrary.map(step) };
}

const tenant = fc.constantFrom(0 as const, 1 as const);
const worker = tenant;
const person = fc.integer({ min: 0, max: people - 1 });
const campaign = fc.integer({ min: 0, max: mostCampaigns - 1 });
const ofPerson = fc.record({ tenant, person });
const ofCampaign = fc.record({ tenant, campaign });

interface OfTenant {
  readonly tenant: 0 | 1;
}
interface OfPerson extends OfTenant {
  readonly person: number;
}
interface OfCampaign extends OfTenant {
  readonly campaign: number;
}

const isHere = ({ tenants }: World, given: OfPerson) => !tenants[given.tenant].gone.has(given.person);
const exists = ({ tenants }: World, given: OfCampaign) =>
  given.campaign < tenants[given.tenant].campaigns.length;
const campaignIdOf = ({ tenants }: World, given: OfCampaign) =>
  tenants[given.tenant].campaigns[given.campaign]?.id ?? '';

/** Fails unless the request succeeds or is refused because of the record's state. Returns whether it succeeded. */
async function ask(
  { api }: World,
  [method, path]: readonly [string, string],
  key: string,
  body?: unknown,
): Promise<boolean> {
  const answer = await api.send(method, path, { key, ...(body !== undefined && { body }) });
  if (![200, 202, 409].includes(answer.status)) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.status !== 409;
}

const change = async (world: World, given: OfCampaign, verb: string, body?: unknown) => {
  const { channelKey } = world.tenants[given.tenant];
  const done = await ask(
    world,
    ['POST', `/api/campaigns/${campaignIdOf(world, given)}/${verb}`],
    channelKey,
    body,
  );
  return { done, at: await now(world) };
};

const bansOf = <Key>(bans: Map<Key, Ban[]>, key: Key): Ban[] => {
  const list = bans.get(key) ?? [];
  bans.set(key, list);
  return list;
};

const forbid = <Key>(bans: Map<Key, Ban[]>, key: Key, from: Time): void => {
  bansOf(bans, key).push({ from, until: Infinity });
};

const permit = <Key>(bans: Map<Key, Ban[]>, key: Key, at: Time): void => {
  for (const ban of bansOf(bans, key)) ban.until = Math.min(ban.until, at);
};

/** Stores what the provider reports, as the API does; a worker applies it. Returns when it was stored. */
async function report(world: World, callbacks: readonly object[]): Promise<{ before: Time; after: Time }> {
  const before = await now(world);
  const bodies = callbacks.map((callback) => Buffer.from(JSON.stringify(callback)));
  if (bodies.length > 0) await insertProviderCallbacks(world.fixture.database.pool, bodies);
  return { before, after: await now(world) };
}

/** A second in which the person has not chosen yet. */
async function nextSecond({ choseAt }: Tenant, who: number): Promise<number> {
  while (Math.floor(Date.now() / 1_000) <= (choseAt.get(who) ?? 0)) await sleep(50);
  const second = Math.floor(Date.now() / 1_000);
  choseAt.set(who, second);
  return second;
}

async function write(world: World, given: OfPerson, text: string) {
  const from = world.tenants[given.tenant];
  const number = from.numberOf(given.person);
  const timestamp = String(await nextSecond(from, given.person));
  const message = {
    id: `wamid.${randomUUID()}`,
    from: number,
    timestamp,
    type: 'text',
    text: { body: text },
  };
  const contacts = [{ profile: { name: 'Ada' }, wa_id: number }];
  return report(world, [messagesCallback(from.phoneNumberId, { contacts, messages: [message] })]);
}

async function choose(world: World, given: OfPerson, value: 'stop' | 'resume') {
  const from = world.tenants[given.tenant];
  const timestamp = await nextSecond(from, given.person);
  const choice = { wa_id: from.numberOf(given.person), category: 'marketing_messages', value, timestamp };
  const metadata = { display_phone_number: '15550100000', phone_number_id: from.phoneNumberId };
  const changed = { metadata, user_preferences: [choice] };
  return report(world, [fieldCallback(from.businessAccountId, 'user_preferences', changed)]);
}

const hasOptedOut = ({ tenants }: World, given: OfPerson, { after }: { readonly after: Time }) =>
  forbid(tenants[given.tenant].optOuts, given.person, after);
const hasOptedIn = ({ tenants }: World, given: OfPerson, { before }: { readonly before: Time }) =>
  permit(tenants[given.tenant].optOuts, given.person, before);

/** A window of six hours that is open, or one that opens in six hours. */
function windowThatIs(state: 'open' | 'closed') {
  const hour = new Date().getUTCHours();
  const at = (ahead: number) => `${String((hour + 24 + ahead) % 24).padStart(2, '0')}:00`;
  const [from, to] = state === 'open' ? [at(-3), at(3)] : [at(6), at(12)];
  return { timezone: 'UTC', from, to };
}

const windowState = fc.constantFrom('open' as const, 'closed' as const, 'none' as const);

export const setChannel = (
  world: World,
  to: Tenant,
  settings: Omit<Parameters<typeof updateChannel>[1], 'channelId'>,
) => updateChannel(world.api.dependencies, { channelId: to.channelId, ...settings });

export const recharge = (world: World, { workspaceId, channelId }: Tenant, messages: number) =>
  rechargeWallet(world.api.dependencies, { workspaceId, channelId, amount: (messages / 1_000).toFixed(6) });

export const setWindowOfCampaign = (world: World, given: OfCampaign, window: object | null) =>
  ask(
    world,
    ['PATCH', `/api/campaigns/${campaignIdOf(world, given)}`],
    world.tenants[given.tenant].channelKey,
    {
      name: `Renamed ${given.campaign}`,
      sending_window: window,
    },
  );

export const setWindowOfWorkspace = (world: World, { operatorKey }: Tenant, window: object | undefined) =>
  ask(world, [window === undefined ? 'DELETE' : 'PUT', '/api/workspace/sending-window'], operatorKey, window);

function beginOutage({ outages }: World): Ban {
  const outage = { from: Date.now(), until: Infinity };
  outages.push(outage);
  return outage;
}

/** Lets frozen workers go on whose actions are over, or all of them. */
export async function thaw({ frozen, workers }: World, which: 'due' | 'all'): Promise<void> {
  for (const index of [0, 1] as const) {
    const one = frozen[index];
    if (one === undefined) continue;
    one.actionsLeft -= 1;
    if (one.actionsLeft > 0 && which === 'due') continue;
    (await workers[index]).child.kill('SIGCONT');
    one.outage.until = Date.now();
    frozen[index] = undefined;
  }
}

/** Up to twenty messages, each with one to four statuses in any order, some of them twice. */
function statusesOf({ fixture }: World, to: Tenant, order: number): readonly object[] {
  const mine = new Set(Array.from({ length: people }, (_, who) => to.numberOf(who)));
  const names = ['sent', 'delivered', 'read', 'failed'];
  const messages = fixture.provider.accepted.filter(({ to: number }) => mine.has(number)).slice(-20);
  return messages.flatMap(({ id, callbackData }, index) =>
    Array.from({ length: 1 + ((order + index) % 4) }, (_, at) => {
      const name = names[(order * (at + 1) + index * 7) % names.length] ?? 'sent';
      const spec = { status: name, providerMessageId: id, ...(order % 3 > 0 && { callbackData }) };
      const code = order % 5 === 0 ? 131050 : 131026;
      return messagesCallback(to.phoneNumberId, {
        statuses: [status({ ...spec, ...(name === 'failed' && { code }) })],
      });
    }),
  );
}

/** People of campaigns whom the other workspace does not know. */
const listedAlone = ({ campaigns, gone }: Tenant): readonly number[] =>
  [...new Set(campaigns.flatMap((one) => one.people))].filter((who) => who >= shared && !gone.has(who));
const nthOf = (list: readonly number[], nth: number): number => list[nth % list.length] ?? 0;

export const actions = [
  action({
    name: 'campaign',
    weight: 8,
    given: fc.record({ tenant, people: fc.uniqueArray(person, { minLength: 10, maxLength: 45 }) }),
    possible: ({ tenants }, given) => tenants[given.tenant].campaigns.length < mostCampaigns,
    act: async ({ api, tenants }, given) => {
      const { channelKey: key, templateId: template_id, numberOf, gone } = tenants[given.tenant];
      const listed = given.people.filter((who) => !gone.has(who));
      const lines = listed.map((who) => `+${numberOf(who)},${numberOf(who).slice(0, 2)},Ada ${who}`);
      const answer = await api.send('POST', '/api/campaigns/auto-trigger', {
        key,
        body: {
          name: 'Model',
          template_id,
          contact_selection_type: 'csv_contacts',
          csv_contacts_string: ['phone,country,name', ...lines].join('\n'),
          csv_mapping: { phone_column: 0, country_code_column: 1, name_column: 2 },
          variable_mapping: { body: { 1: 'name_column' } },
          send_type: 'IMMEDIATE',
        },
      });
      if (answer.status !== 201) throw new Error(answer.text);
      return { id: answer.body.data.campaign.id as string, people: listed };
    },
    learn: ({ tenants }, given, created) => tenants[given.tenant].campaigns.push(created),
  }),
  action({
    name: 'start',
    weight: 4,
    given: ofCampaign,
    possible: exists,
    act: async (world, given) => ({ asked: await now(world), ...(await change(world, given, 'start')) }),
    learn: (world, given, { done, asked }) => {
      if (done) permit(world.tenants[given.tenant].pauses, campaignIdOf(world, given), asked);
    },
  }),
  ...(['pause', 'cancel'] as const).map((verb) =>
    action({
      name: verb,
      weight: verb === 'pause' ? 4 : 1,
      given: ofCampaign,
      possible: exists,
      act: (world, given) => change(world, given, verb),
      learn: (world, given, { done, at }) => {
        if (done) forbid(world.tenants[given.tenant].pauses, campaignIdOf(world, given), at);
      },
    }),
  ),
  action({
    name: 'campaign window',
    weight: 3,
    given: fc.record({ tenant, campaign, state: windowState }),
    possible: exists,
    act: (world, given) =>
      setWindowOfCampaign(world, given, given.state === 'none' ? null : windowThatIs(given.state)),
  }),
  action({
    name: 'workspace window',
    weight: 1,
    given: fc.record({ tenant, state: windowState }),
    act: (world, given) =>
      setWindowOfWorkspace(
        world,
        world.tenants[given.tenant],
        given.state === 'none' ? undefined : windowThatIs(given.state),
      ),
  }),
  action({
    name: 'pace',
    weight: 2,
    given: fc.record({ tenant, messagesPerSecond: fc.integer({ min: 5, max: 100 }) }),
    act: (world, { tenant: to, ...settings }) => setChannel(world, world.tenants[to], settings),
  }),
  action({
    name: 'block',
    weight: 1,
    given: fc.record({ tenant, status: fc.constantFrom('active', 'blocked') }),
    act: (world, { tenant: to, ...settings }) => setChannel(world, world.tenants[to], settings),
  }),
  action({
    name: 'messaging limit',
    weight: 2,
    given: fc.record({ tenant, messagingLimit: fc.constantFrom(null, 20, 60, 1_000) }),
    act: (world, { tenant: to, ...settings }) => setChannel(world, world.tenants[to], settings),
  }),
  action({
    name: 'price',
    weight: 2,
    given: fc.record({ tenant, price: fc.integer({ min: 300, max: 5_000 }) }),
    act: ({ fixture, tenants }, given) =>
      fixture.database.pool.query(sql.type(nothing)`
        UPDATE rate_card SET price = ${given.price} WHERE workspace_id = ${tenants[given.tenant].workspaceId} AND country <> 'DE'`),
  }),
  action({
    name: 'recharge',
    weight: 4,
    given: fc.record({ tenant, messages: fc.integer({ min: 1, max: 60 }) }),
    act: (world, given) => recharge(world, world.tenants[given.tenant], given.messages),
  }),
  action({
    name: 'single',
    weight: 2,
    given: ofPerson,
    possible: isHere,
    act: async ({ api, tenants }, given) => {
      const { channelKey: key, numberOf, templateId } = tenants[given.tenant];
      const number = numberOf(given.person);
      const answer = await api.send('POST', '/api/templates/external/message/send', {
        key,
        body: {
          templateId,
          recipientPhoneNumber: number,
          countryCode: `+${number.slice(0, 2)}`,
          variables: ['Ada'],
        },
      });
      // The wallet may be empty, the channel blocked or at its limit.
      if (answer.status >= 500 && answer.status !== 503) throw new Error(answer.text);
    },
  }),
  action({
    name: 'STOP',
    weight: 5,
    given: ofPerson,
    possible: isHere,
    act: (world, given) => write(world, given, 'STOP'),
    learn: hasOptedOut,
  }),
  action({
    name: 'stop in the app',
    weight: 4,
    given: ofPerson,
    possible: isHere,
    act: (world, given) => choose(world, given, 'stop'),
    learn: hasOptedOut,
  }),
  action({
    name: 'START',
    weight: 3,
    given: ofPerson,
    possible: isHere,
    act: (world, given) => write(world, given, 'START'),
    learn: hasOptedIn,
  }),
  action({
    name: 'erase',
    weight: 3,
    given: fc.record({ tenant, nth: fc.nat(people) }),
    possible: ({ tenants }, given) => listedAlone(tenants[given.tenant]).length > 0,
    act: async (world, given) => {
      const { pool } = world.fixture.database;
      const { workspaceId, channelKey, numberOf, campaigns } = world.tenants[given.tenant];
      const who = nthOf(listedAlone(world.tenants[given.tenant]), given.nth);
      const contactId = await pool.maybeOneFirst(sql.type(row(t.type({ id: t.string })))`
        SELECT id FROM contact WHERE workspace_id = ${workspaceId} AND phone_number = ${numberOf(who)}`);
      const listed = campaigns.filter((one) => one.people.includes(who)).map(({ id }) => id);
      // A list that is read after the erasure makes the person known again.
      const isUnread = await pool.exists(sql.type(nothing)`
        SELECT FROM campaign WHERE id = ANY(${sql.array(listed, 'uuid')}) AND preparation_status = 'PREPARING'`);
      const isDone =
        contactId !== null &&
        (await ask(world, ['DELETE', `/api/contacts/${contactId}?erase=true`], channelKey));
      return { who, erasedAt: isDone && !isUnread ? await now(world) : undefined };
    },
    learn: ({ tenants }, given, { who, erasedAt }) => {
      const { gone, erased } = tenants[given.tenant];
      gone.add(who);
      if (erasedAt !== undefined) erased.set(who, erasedAt);
    },
  }),
  action({
    name: 'statuses',
    weight: 4,
    given: fc.record({ tenant, order: fc.integer({ min: 1, max: 9_999 }) }),
    act: (world, given) => report(world, statusesOf(world, world.tenants[given.tenant], given.order)),
  }),
  action({
    name: 'freeze',
    weight: 2,
    given: fc.record({ worker, actions: fc.integer({ min: 2, max: 12 }) }),
    possible: ({ frozen }, given) => frozen[given.worker] === undefined,
    act: async (world, given) => {
      (await world.workers[given.worker]).child.kill('SIGSTOP');
      return beginOutage(world);
    },
    learn: ({ frozen }, given, outage) => {
      frozen[given.worker] = { actionsLeft: given.actions + 1, outage };
    },
  }),
  action({
    name: 'kill',
    weight: 2,
    given: fc.record({ worker }),
    possible: ({ frozen }, given) => frozen[given.worker] === undefined,
    act: async (world, given) => {
      const { child, ended } = await world.workers[given.worker];
      const outage = beginOutage(world);
      child.kill('SIGKILL');
      await ended;
      const next = world.startWorker();
      world.workers[given.worker] = next;
      next.then(
        () => (outage.until = Date.now()),
        () => undefined,
      );
    },
  }),
  action({
    name: 'cut Postgres',
    weight: 2,
    given: fc.constant({}),
    // Committed or not: who waits for an answer cannot know.
    act: ({ fixture }) =>
      fixture.database.owner.query(sql.type(nothing)`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'model-worker'`),
  }),
  action({
    name: 'lose answers',
    weight: 2,
    given: fc.record({ answers: fc.integer({ min: 1, max: 4 }) }),
    act: async () => undefined,
    learn: (world, given) => {
      world.answersToLose = given.answers;
    },
  }),
  action({
    name: 'wait',
    weight: 14,
    given: fc.record({ ms: fc.integer({ min: 50, max: 1_200 }) }),
    act: (_, given) => sleep(given.ms),
  }),
];

export const step: fc.Arbitrary<Step> = fc.oneof(...actions);
