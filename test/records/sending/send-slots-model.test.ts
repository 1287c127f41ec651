/**
 * Any sequence of questions, renewals, handovers, releases, deaths, pauses and lost signals, several at the same moment: what must
 * hold after each. A failure prints the sequence and its seed; `SEED` and `RUNS` in the environment choose others.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockCampaign, moveCampaign } from '../../../src/records/campaigns/lifecycle.ts';
import type { Connection } from '../../../src/records/database/database.ts';
import { nothing, nullable, row } from '../../../src/records/database/row.ts';
import {
  acquireSlot,
  handOverSlot,
  type HeldSlot,
  leaveSlotQueue,
  recordSlotUsage,
  rejoinSlotQueue,
  releaseSlot,
  renewSlot,
  type SlotAnswer,
} from '../../../src/records/sending/send-slots.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { seedOnChannel } from '../../support/sending-crowd.ts';

let test: TestDatabase;
const campaigns: SeededCampaign[] = [];
const channels = 2;
/** At 80 messages a second a campaign with 20 pending recipients or fewer is small. */
const [large, small] = [500, 15];
const pendingAtFirst = [large, large, large, small, small, small, small, small];
/** The first campaign of each channel has used so many tokens before the sequence begins, and is between two steps. */
const usedBefore = 1_000_000;
const tokensPerStep = 80;
const [handoverMs, longestLeaseMs, reserveMs] = [3_000, 300_000, 30_000];

beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 12 });
  for (let channel = 0; channel < channels; channel += 1) {
    const first = await seedCampaign(test.pool, { recipients: 1, messagesPerSecond: 80 });
    campaigns.push(first);
    for (const _ of pendingAtFirst.slice(1))
      campaigns.push(await seedOnChannel(test.pool, first, { recipients: 1 }));
  }
});
afterAll(() => test.drop());

const run = (connection: Connection, statement: ReturnType<typeof sql.fragment>) =>
  connection.query(sql.type(nothing)`${statement}`);

type Action =
  | {
      readonly kind: 'ask' | 'askOnce' | 'pause' | 'pauseWhileAsking' | 'start' | 'cancel';
      readonly campaign: number;
    }
  /** One of the signalled campaigns asks; or its signal fails, or is lost with the process that would have sent it. */
  | { readonly kind: 'arrive' | 'failSignal' | 'loseSignal'; readonly nth: number }
  | {
      readonly kind:
        | 'renew'
        | 'handOver'
        | 'handOverToItself'
        | 'release'
        | 'releaseAndWait'
        | 'reserve'
        | 'drain'
        | 'die';
      readonly nth: number;
    };
/** These happen alone: they change what the actions of a moment are compared with. */
type Change =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'setClockBack'; readonly channel: number }
  | { readonly kind: 'resize'; readonly campaign: number; readonly pending: number };
type Moment = readonly Action[] | Change;

const campaign = fc.nat(channels * pendingAtFirst.length - 1);
const nth = fc.nat(20);
const oneOf = <K extends string>(...kinds: readonly K[]) => fc.constantFrom(...kinds);
const weigh = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const action: fc.Arbitrary<Action> = fc.oneof(
  weigh(8, fc.record({ kind: oneOf('ask', 'ask', 'askOnce'), campaign })),
  weigh(6, fc.record({ kind: oneOf('arrive'), nth })),
  weigh(1, fc.record({ kind: oneOf('failSignal', 'loseSignal'), nth })),
  weigh(3, fc.record({ kind: oneOf('pause', 'pauseWhileAsking', 'start', 'start', 'cancel'), campaign })),
  weigh(6, fc.record({ kind: oneOf('renew', 'handOver', 'handOver', 'handOverToItself'), nth })),
  weigh(6, fc.record({ kind: oneOf('release', 'releaseAndWait', 'reserve', 'drain', 'die'), nth })),
);
/** All campaigns of a channel ask at the same moment. */
const crowd = (channel: number): Action[] =>
  pendingAtFirst.map((_, place) => ({ kind: 'ask', campaign: channel * pendingAtFirst.length + place }));
const moment: fc.Arbitrary<Moment> = fc.oneof(
  weigh(4, fc.tuple(action)),
  weigh(6, fc.array(action, { minLength: 2, maxLength: 7 })),
  weigh(1, fc.nat(channels - 1).map(crowd)),
  // Longer than a handover, a lease and a reservation.
  weigh(2, fc.record({ kind: oneOf('pass'), ms: fc.constantFrom(1_400, 3_300, 6_000, 40_000) })),
  weigh(1, fc.record({ kind: oneOf('resize'), campaign, pending: fc.constantFrom(small, large) })),
  weigh(1, fc.record({ kind: oneOf('setClockBack'), channel: fc.nat(channels - 1) })),
);

const Slot = t.type({
  channel: t.string,
  number: t.number,
  campaign: t.string,
  step: nullable(t.string),
  next: nullable(t.string),
  /** Epoch milliseconds on Postgres' clock. */
  expires: t.number,
  handover: nullable(t.number),
});
type Slot = t.TypeOf<typeof Slot>;
const Member = t.type({
  id: t.string,
  channel: t.string,
  running: t.boolean,
  pending: t.number,
  waiting: t.boolean,
  used: nullable(t.number),
});
type Member = t.TypeOf<typeof Member>;

interface Tables {
  readonly now: number;
  readonly slots: readonly Slot[];
  /** The campaigns with their rows in the wait queue. */
  readonly members: readonly Member[];
}

async function readNow(): Promise<number> {
  return test.pool.oneFirst(sql.type(row(t.type({ now: t.number })))`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`);
}

async function readTables(): Promise<Tables> {
  const [slots, members] = await Promise.all([
    test.pool.any(sql.type(row(Slot))`
      SELECT channel_id AS channel, slot_number::int AS number, campaign_id AS campaign, step_id AS step, next_campaign_id AS next,
        expires_at AS expires, handover_at AS handover FROM send_slot ORDER BY channel_id, slot_number`),
    test.pool.any(sql.type(row(Member))`
      SELECT campaign.id, campaign.channel_id AS channel, status = 'RUNNING' AS running, pending::int, COALESCE(waiting, false) AS waiting,
        virtual_time::int AS used
      FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
      LEFT JOIN slot_queue ON slot_queue.campaign_id = campaign.id ORDER BY campaign.id`),
  ]);
  return { slots, members, now: await readNow() };
}

// The rules of `send-slots.ts` once more, at the instant `now` of the tables. As time passes, a slot only becomes easier to acquire.
const isSmall = ({ pending }: Member) => pending <= 20;
const isLeased = ({ expires }: Slot, now: number) => expires > now && expires <= now + longestLeaseMs;
const isOpen = ({ handover }: Slot, now: number) =>
  handover === null || handover <= now - handoverMs || handover > now + handoverMs;
const isKeptFor = (slot: Slot, id: string) =>
  slot.next === id || (slot.step === null && slot.campaign === id);
const sends = ({ slots, now }: Tables, id: string) =>
  slots.filter(
    (slot) => slot.campaign === id && slot.step !== null && slot.next !== id && isLeased(slot, now),
  );

function mayAcquire({ slots, now }: Tables, member: Member, number: number): boolean {
  const slot = slots.find((each) => each.channel === member.channel && each.number === number);
  if (slot === undefined || !isLeased(slot, now) || isKeptFor(slot, member.id)) return true;
  return slot.handover !== null && isOpen(slot, now);
}

const isFreeFor = (tables: Tables, member: Member): boolean =>
  member.running &&
  sends(tables, member.id).length === 0 &&
  (isSmall(member) ? [1, 2, 3, 4] : [1]).some((number) => mayAcquire(tables, member, number));

const memberOf = ({ members }: Tables, id: string): Member => {
  const found = members.find((member) => member.id === id);
  if (found === undefined) throw new Error(`There is no campaign ${id}`);
  return found;
};

const finishTime = ({ used, pending }: Member) => (used ?? 0) + Math.min(pending, 80);

interface World {
  /** Steps that believe they hold a slot. */
  steps: HeldSlot[];
  /** Campaigns that were signalled and have not asked yet. */
  signals: string[];
  /**
   * Steps beside which another of their campaign may hold a slot: they renewed an expired lease, or handed over to the campaign
   * itself, which is not small any more and went to slot 1.
   */
  readonly doubled: Set<string>;
  stepsRecorded: number;
}

interface Task {
  readonly kind: Action['kind'];
  readonly campaign: SeededCampaign;
  readonly step?: HeldSlot;
}

interface Effect extends Task {
  readonly acquired?: HeldSlot;
  readonly answer?: SlotAnswer['kind'];
  readonly selected?: string | null;
  readonly renewed?: boolean;
  readonly retryMs?: number;
}

const changesStatus = ['pause', 'pauseWhileAsking', 'start', 'cancel', 'drain'];
const endsStep = ['release', 'releaseAndWait', 'reserve', 'drain', 'die'];
const recordsUsage = ['release', 'releaseAndWait', 'reserve', 'drain'];

const groupOf = ({ kind, campaign: { campaignId }, step }: Task): string => {
  // Two questions of one campaign at the same moment may both acquire a slot, if a third step releases one between them.
  if (kind === 'ask' || kind === 'askOnce' || kind === 'arrive') return `ask ${campaignId}`;
  if (kind === 'handOverToItself') return `handOver ${step?.stepId}`;
  if (endsStep.includes(kind)) return `end ${step?.stepId}`;
  if (kind === 'pauseWhileAsking') return `pause ${campaignId}`;
  return `${kind} ${step?.stepId ?? campaignId}`;
};

/** Decides to whom each action happens, before any of them begins. */
function tasksOf(world: World, actions: readonly Action[]): Task[] {
  const tasks: Task[] = [];
  for (const each of actions) {
    let task: Task | undefined;
    if ('campaign' in each) task = { kind: each.kind, campaign: campaigns[each.campaign] as SeededCampaign };
    else if (each.kind === 'arrive' || each.kind === 'failSignal' || each.kind === 'loseSignal') {
      const id = world.signals[each.nth % world.signals.length];
      const signalled = campaigns.find(({ campaignId }) => campaignId === id);
      if (signalled !== undefined) task = { kind: each.kind, campaign: signalled };
    } else {
      const step = world.steps[each.nth % world.steps.length];
      if (step !== undefined)
        task = { kind: each.kind, step, campaign: { ...(step as HeldSlot & SeededCampaign) } };
    }
    if (task === undefined) continue;
    const group = groupOf(task);
    if (tasks.some((other) => groupOf(other) === group)) continue;
    tasks.push(task);
    const { campaignId } = task.campaign;
    if (['arrive', 'failSignal', 'loseSignal'].includes(task.kind))
      world.signals = world.signals.filter((id) => id !== campaignId);
  }
  return tasks;
}

async function changeStatus({ campaignId }: SeededCampaign, kind: Action['kind']): Promise<void> {
  await test.pool.transaction(async (transaction) => {
    const locked = await lockCampaign(transaction, campaignId);
    const { status } = locked;
    if (kind === 'pause' && status === 'RUNNING')
      await moveCampaign(transaction, locked, 'pause', 'OPERATOR');
    // The row that a question leaves which saw the campaign running, and ended after the pause.
    if (kind === 'pauseWhileAsking' && status === 'RUNNING')
      await run(
        transaction,
        sql.fragment`WITH paused AS (
          UPDATE campaign SET status = 'PAUSED', pause_reason = 'OPERATOR', epoch = epoch + 1 WHERE id = ${campaignId})
        INSERT INTO slot_queue (campaign_id, channel_id, virtual_time, waiting) VALUES (${campaignId}, ${locked.channel_id}, 0, true)
        ON CONFLICT (campaign_id) DO UPDATE SET waiting = true`,
      );
    if (kind === 'start' && status === 'PAUSED') await moveCampaign(transaction, locked, 'resume');
    if (kind === 'cancel' && (status === 'RUNNING' || status === 'PAUSED'))
      await moveCampaign(transaction, locked, 'cancel');
    if (kind === 'drain' && status === 'RUNNING') await moveCampaign(transaction, locked, 'complete');
    // In the place of a campaign that has ended, a new one begins.
    if (kind === 'start' && (status === 'CANCELLED' || status === 'COMPLETED')) {
      await run(transaction, sql.fragment`DELETE FROM slot_queue WHERE campaign_id = ${campaignId}`);
      await run(
        transaction,
        sql.fragment`UPDATE campaign SET status = 'RUNNING', completed_at = NULL WHERE id = ${campaignId}`,
      );
    }
  });
}

async function ask(asking: SeededCampaign, joinsQueue = true) {
  const request = { campaignId: asking.campaignId, stepId: randomUUID() };
  const answer = await acquireSlot(test.pool, request, { joinsQueue });
  if (answer.kind === 'not_running') await leaveSlotQueue(test.pool, asking.campaignId);
  if (answer.kind !== 'acquired') return { answer: answer.kind };
  return {
    answer: answer.kind,
    acquired: { ...asking, stepId: request.stepId, slotNumber: answer.slotNumber },
  };
}

async function end(step: HeldSlot, kind: Action['kind']) {
  const selected = await releaseSlot(test.pool, step, { reserveMs: kind === 'reserve' ? reserveMs : 0 });
  const retryMs = await recordSlotUsage(test.pool, step, {
    tokensUsed: kind === 'reserve' ? 0 : tokensPerStep,
    answerMs: 100,
    drained: kind === 'drain',
    waits: kind === 'releaseAndWait' || (kind === 'release' && selected !== null),
  });
  return { selected, retryMs };
}

async function carryOut(task: Task): Promise<Effect> {
  const { kind, campaign: whose, step } = task;
  if (kind === 'ask' || kind === 'arrive') return { ...task, ...(await ask(whose)) };
  if (kind === 'askOnce') return { ...task, ...(await ask(whose, false)) };
  if (kind === 'failSignal') await rejoinSlotQueue(test.pool, whose.campaignId);
  if (step === undefined) {
    if (changesStatus.includes(kind)) await changeStatus(whose, kind);
    return task;
  }
  if (kind === 'renew') return { ...task, renewed: await renewSlot(test.pool, step) };
  if (kind === 'handOver' || kind === 'handOverToItself')
    return {
      ...task,
      selected: await handOverSlot(test.pool, step, { orToItself: kind === 'handOverToItself' }),
    };
  if (!recordsUsage.includes(kind)) return task;
  const ended = await end(step, kind);
  if (kind === 'drain') await changeStatus(whose, kind);
  return { ...task, ...ended };
}

/** The step's lease lasted from before the moment until after it. */
const isLeasedTo = ({ stepId }: HeldSlot, before: Tables, after: Tables): boolean =>
  before.slots.some(
    (slot) => slot.step === stepId && isLeased(slot, before.now) && isLeased(slot, after.now),
  );

function remember(world: World, before: Tables, after: Tables, effects: readonly Effect[]): void {
  for (const { kind, step, acquired, selected, renewed } of effects) {
    if (acquired !== undefined) world.steps.push(acquired);
    if (recordsUsage.includes(kind)) world.stepsRecorded += 1;
    if (endsStep.includes(kind)) world.steps = world.steps.filter(({ stepId }) => stepId !== step?.stepId);
    if (selected !== undefined && selected !== null && !world.signals.includes(selected))
      world.signals.push(selected);
    if (
      step !== undefined &&
      ((renewed === true && !isLeasedTo(step, before, after)) || selected === step.campaignId)
    )
      world.doubled.add(step.stepId);
  }
}

/** Nobody but those to whom a leased slot was open has acquired it. */
function expectNoTheft(before: Tables, after: Tables, effects: readonly Effect[]): void {
  for (const slot of before.slots) {
    // Leased all the while: time passes in one direction.
    if (!isLeased(slot, before.now) || !isLeased(slot, after.now)) continue;
    if (slot.handover !== null && isOpen(slot, after.now)) continue;
    const own = effects.filter(({ step }) => step !== undefined && step.stepId === slot.step);
    const present = after.slots.find((each) => each.channel === slot.channel && each.number === slot.number);
    if (present === undefined) throw new Error('A slot has vanished');
    if (own.some(({ kind }) => recordsUsage.includes(kind))) {
      const isHandingOver = slot.next !== null && slot.next !== slot.campaign;
      const isReserved = own[0]?.kind === 'reserve';
      // Kept for the next holder, or for the same campaign.
      if (own.length === 1 && isHandingOver !== isReserved) {
        expect(present.campaign).toBe(isReserved ? slot.campaign : slot.next);
        expect(isLeased(present, after.now)).toBe(true);
      }
      continue;
    }
    if (present.step === slot.step) {
      if (slot.step === null) expect(present.campaign).toBe(slot.campaign);
      continue;
    }
    const heirs = [slot.next, ...own.map(({ selected }) => selected)];
    if (slot.step === null) heirs.push(slot.campaign);
    expect(heirs).toContain(present.campaign);
  }
}

function expectOneSlotEach(world: World, { slots, now }: Tables): void {
  const held = slots.filter(
    (slot) =>
      slot.step !== null &&
      isLeased(slot, now) &&
      slot.next !== slot.campaign &&
      !world.doubled.has(slot.step),
  );
  const holders = held.map((slot) => slot.campaign);
  expect(new Set(holders).size, 'one slot for each campaign').toBe(holders.length);
}

function expectOneHolderEach(effects: readonly Effect[]): void {
  const slots = effects.flatMap(({ acquired }) =>
    acquired === undefined ? [] : [`${acquired.channelId} ${acquired.slotNumber}`],
  );
  expect(new Set(slots).size, 'one holder for each slot').toBe(slots.length);
}

/** A waiting campaign leaves the queue by a signal, by a slot, by its own step's end, or because it runs no more. */
function expectNoLostWaiter(before: Tables, after: Tables, effects: readonly Effect[]): void {
  const of = (id: string) => effects.filter(({ campaign: { campaignId } }) => campaignId === id);
  for (const member of after.members) {
    const { waiting, running } = memberOf(before, member.id);
    const own = of(member.id);
    const joined = own.some(({ kind, answer }) => kind !== 'askOnce' && answer === 'busy');
    if (!running || (!waiting && !joined) || member.waiting) continue;
    const leaves =
      effects.some(({ selected }) => selected === member.id) ||
      own.some(
        ({ kind, acquired }) =>
          acquired !== undefined || recordsUsage.includes(kind) || changesStatus.includes(kind),
      );
    expect(leaves, `${member.id} has left the queue`).toBe(true);
  }
}

function expectSoundSelection(before: Tables, after: Tables, effects: readonly Effect[]): void {
  for (const { kind, step, selected, campaign: from } of effects) {
    if (step === undefined || selected === undefined || selected === null) continue;
    if (selected === from.campaignId) {
      if (isLeasedTo(step, before, after)) expect(kind).toBe('handOverToItself');
      continue;
    }
    const [was, is] = [memberOf(before, selected), memberOf(after, selected)];
    const own = effects.filter(({ campaign: { campaignId } }) => campaignId === selected);
    expect(was.running || own.some(({ kind: what }) => what === 'start'), 'is running').toBe(true);
    expect(was.waiting || own.length > 0, 'is waiting').toBe(true);
    expect(isSmall(is), 'fits the slot').toBe(step.slotNumber > 1);
    const other = after.slots.filter(
      (slot) => slot.step !== step.stepId && slot.number !== step.slotNumber && slot.campaign === selected,
    );
    const unchanged = other.filter(
      (slot) =>
        isLeased(slot, before.now) &&
        before.slots.some(
          (each) => each.campaign === selected && each.step === slot.step && isLeased(each, after.now),
        ),
    );
    expect(unchanged, 'has a slot already').toEqual([]);
    if (effects.length > 1) continue;
    expect(finishTime(was)).toBe(Math.min(...waitersFor(before, step).map(finishTime), finishTime(was)));
  }
}

/** The campaigns that the step's slot may go to. */
const waitersFor = ({ members, slots, now }: Tables, { channelId, slotNumber }: HeldSlot): Member[] =>
  members.filter(
    (member) =>
      member.channel === channelId &&
      member.running &&
      member.waiting &&
      isSmall(member) === slotNumber > 1 &&
      !slots.some((slot) => (slot.campaign === member.id || slot.next === member.id) && isLeased(slot, now)),
  );

/** A step's end signals a campaign that waits for the slot. */
function expectWaiterToBeSignalled(before: Tables, effects: readonly Effect[]): void {
  const [only] = effects;
  if (effects.length > 1 || only?.step === undefined) return;
  const { kind, step, selected } = only;
  const slot = before.slots.find((each) => each.step === step.stepId);
  if (!recordsUsage.includes(kind) || kind === 'reserve' || slot === undefined) return;
  const isHandingOver = slot.next !== null && slot.next !== slot.campaign && !isOpen(slot, before.now);
  if (!isHandingOver && waitersFor(before, step).length > 0) expect(selected).not.toBeNull();
}

/** What the campaign's own question would be answered; nothing of it stays. */
async function wouldAcquire(id: string): Promise<boolean> {
  let kind: SlotAnswer['kind'] | undefined;
  const undone = new Error('undone');
  await test.pool
    .transaction(async (transaction) => {
      ({ kind } = await acquireSlot(transaction, { campaignId: id, stepId: randomUUID() }));
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  return kind === 'acquired';
}

/** A campaign's own question acquires a slot if, and only if, one is free or kept for it. */
async function expectOwnQuestionFits(tables: Tables, id: string): Promise<void> {
  const member = memberOf(tables, id);
  const isFree = isFreeFor(tables, member);
  const acquires = await wouldAcquire(id);
  if (isFree) expect(acquires, 'acquires a free slot').toBe(true);
  if (acquires)
    expect(isFreeFor({ ...tables, now: await readNow() }, member), 'acquires no other').toBe(true);
}

async function expectSignalledToAcquire(
  before: Tables,
  after: Tables,
  effects: readonly Effect[],
): Promise<void> {
  for (const { kind, step, selected } of effects) {
    if (step === undefined || selected === undefined || selected === null) continue;
    // Any campaign may acquire a slot whose lease has expired.
    if (!recordsUsage.includes(kind) && !isLeasedTo(step, before, after)) continue;
    const isDisturbed = effects.some(
      (other) =>
        (other.campaign.campaignId === selected && other.step?.stepId !== step.stepId) ||
        (other.step?.stepId === step.stepId && other.selected !== selected),
    );
    if (!isDisturbed && memberOf(after, selected).running)
      expect(await wouldAcquire(selected), 'the signalled campaign acquires').toBe(true);
  }
}

/** A step that ends and waits asks at once if a slot is free by then. */
function expectNoWaitBesideFree(before: Tables, after: Tables, effects: readonly Effect[]): void {
  const [only] = effects;
  if (effects.length > 1 || only?.retryMs === undefined || only.kind === 'drain') return;
  const member = memberOf(after, only.campaign.campaignId);
  if (isFreeFor({ ...after, now: before.now }, member)) expect(only.retryMs).toBe(0);
  if (only.retryMs === 0) expect(isFreeFor(after, member)).toBe(true);
}

/** A step that has lost its slot can change nothing. */
async function expectLostToBePowerless(world: World, after: Tables): Promise<void> {
  const lost = world.steps.filter(({ stepId }) => after.slots.every(({ step }) => step !== stepId));
  for (const step of lost) {
    expect(await renewSlot(test.pool, step)).toBe(false);
    for (const orToItself of [false, true])
      expect(await handOverSlot(test.pool, step, { orToItself })).toBeNull();
    for (const ms of [0, reserveMs]) expect(await releaseSlot(test.pool, step, { reserveMs: ms })).toBeNull();
  }
  if (lost.length === 0) return;
  const { slots, members } = await readTables();
  expect({ slots, members }).toEqual({ slots: after.slots, members: after.members });
  for (const step of lost) await end(step, 'releaseAndWait');
  world.stepsRecorded += lost.length;
  world.steps = world.steps.filter((step) => !lost.includes(step));
}

async function change(present: Change): Promise<void> {
  if (present.kind === 'pass') {
    const passed = sql.fragment`make_interval(secs => ${present.ms / 1_000}::float8)`;
    await run(
      test.pool,
      sql.fragment`UPDATE send_slot SET expires_at = expires_at - ${passed}, handover_at = handover_at - ${passed}`,
    );
  } else if (present.kind === 'setClockBack') {
    const { channelId } = campaigns[present.channel * pendingAtFirst.length] as SeededCampaign;
    await run(
      test.pool,
      sql.fragment`UPDATE send_slot SET expires_at = expires_at + interval '10 hours', handover_at = handover_at + interval '10 hours'
        WHERE channel_id = ${channelId}`,
    );
  } else {
    const { campaignId } = campaigns[present.campaign] as SeededCampaign;
    await run(
      test.pool,
      sql.fragment`UPDATE campaign_counter SET pending = ${present.pending} WHERE campaign_id = ${campaignId}`,
    );
  }
}

async function begin(): Promise<World> {
  await run(test.pool, sql.fragment`DELETE FROM send_slot`);
  await run(test.pool, sql.fragment`DELETE FROM slot_queue`);
  await run(
    test.pool,
    sql.fragment`UPDATE campaign SET status = 'RUNNING', pause_reason = NULL, completed_at = NULL`,
  );
  const size = pendingAtFirst.length;
  const largeOnes = campaigns.filter((_, index) => pendingAtFirst[index % size] === large);
  await run(
    test.pool,
    sql.fragment`UPDATE campaign_counter SET pending = CASE WHEN campaign_id = ANY(${sql.array(
      largeOnes.map(({ campaignId }) => campaignId),
      'uuid',
    )}) THEN ${large}::int ELSE ${small} END`,
  );
  for (const { campaignId, channelId } of campaigns.filter((_, index) => index % size === 0))
    await run(
      test.pool,
      sql.fragment`INSERT INTO slot_queue (campaign_id, channel_id, virtual_time, waiting)
        VALUES (${campaignId}, ${channelId}, ${usedBefore}, false)`,
    );
  return { steps: [], signals: [], doubled: new Set(), stepsRecorded: 0 };
}

/**
 * Every campaign asks once, as it does when nobody signals it, and is then sent to its end. From there on signals alone bring each
 * of them to a slot.
 */
async function expectAllToFinish(world: World): Promise<void> {
  await change({ kind: 'pass', ms: 60_000 });
  const isRunning = new Set(
    (await readTables()).members.filter(({ running }) => running).map(({ id }) => id),
  );
  const running = campaigns.filter(({ campaignId }) => isRunning.has(campaignId));
  const holders: HeldSlot[] = [];
  for (const each of running) {
    const { acquired } = await ask(each);
    if (acquired !== undefined) holders.push(acquired);
  }
  const { members } = await readTables();
  for (const { channelId } of [campaigns[0], campaigns.at(-1)] as SeededCampaign[]) {
    const used = members
      .filter((member) => member.channel === channelId && member.running && member.used !== null)
      .map((member) => member.used ?? 0);
    // Nobody has to wait until others have used what one has used before they began.
    expect(Math.max(...used, 0) - Math.min(...used, Infinity)).toBeLessThanOrEqual(
      2 * tokensPerStep * (world.stepsRecorded + 1),
    );
  }
  let finished = 0;
  for (let holder = holders.shift(); holder !== undefined; holder = holders.shift()) {
    const { selected } = await end(holder, 'drain');
    await changeStatus(holder as HeldSlot & SeededCampaign, 'drain');
    finished += 1;
    const next = campaigns.find(({ campaignId }) => campaignId === selected);
    if (next === undefined) continue;
    const { acquired } = await ask(next);
    if (acquired === undefined) throw new Error('A signalled campaign got no slot');
    holders.push(acquired);
  }
  expect(finished, 'campaigns that came to a slot').toBe(running.length);
}

async function follow(moments: readonly Moment[]): Promise<void> {
  const world = await begin();
  let asked = 0;
  for (const present of moments) {
    if ('kind' in present) {
      await change(present);
      continue;
    }
    const before = await readTables();
    const tasks = tasksOf(world, present);
    const effects = await Promise.all(tasks.map(carryOut));
    const after = await readTables();
    remember(world, before, after, effects);
    expectNoLostWaiter(before, after, effects);
    expectOneSlotEach(world, after);
    // On a machine that stood still, leases may have expired while the statements ran.
    if (after.now - before.now < handoverMs / 2) {
      expectNoTheft(before, after, effects);
      expectOneHolderEach(effects);
      expectSoundSelection(before, after, effects);
      expectNoWaitBesideFree(before, after, effects);
      expectWaiterToBeSignalled(before, effects);
      await expectSignalledToAcquire(before, after, effects);
    }
    asked = (asked + 1) % campaigns.length;
    await expectOwnQuestionFits(after, campaigns[asked]?.campaignId ?? '');
    await expectLostToBePowerless(world, after);
  }
  await expectAllToFinish(world);
}

it('keep their promises in any sequence of events', async () => {
  const seed = Number(process.env['SEED'] ?? 20_261_127);
  const numRuns = Number(process.env['RUNS'] ?? 5);
  const property = fc.asyncProperty(fc.array(moment, { minLength: 20, maxLength: 40, size: 'max' }), follow);
  await fc.assert(property, { seed, numRuns, endOnFailure: true });
});
