import { expect, it } from 'vitest';
import { type CampaignFacts } from '../../../src/domain/campaigns/diagnosis-facts.ts';
import { diagnose } from '../../../src/domain/campaigns/diagnosis.ts';

const now = new Date('2026-11-21T09:00:00Z');
const facts: CampaignFacts = {
  status: 'RUNNING',
  pauseReason: null,
  preparationStatus: 'READY',
  preparationError: null,
  createdAt: now,
  scheduledAt: null,
  windows: [],
  total: 1000,
  pending: 812,
  underWay: 0,
  failed: 3,
  template: { name: 'spring_offer', status: 'APPROVED', vanished: false },
  channel: { isActive: true, blockReason: null, refusalCode: null, messagesPerSecond: 80, factor: 1 },
  waitingFor: null,
  waitingUntil: null,
  wallet: {
    available: 100_000_000n,
    currency: 'USD',
    nextPrice: 25_000n,
    remainingCost: 20_300_000n,
    isExact: true,
  },
  broadcasts: { used: 0, limit: null, counted: true },
  outboxSince: null,
  now,
};
const statusOf = (change: Partial<CampaignFacts>) => diagnose({ ...facts, ...change })[0];
const poor = { ...facts.wallet, available: 20_000n };

it('says what is missing, who waits and what to recharge when the wallet is empty', () => {
  expect(statusOf({ status: 'PAUSED', pauseReason: 'INSUFFICIENT_BALANCE', wallet: poor })).toEqual({
    check: 'STATUS',
    ok: false,
    detail:
      'Paused: the wallet holds 0.02 USD and the next message costs 0.025 USD. 812 people still to send.',
    action: 'Recharge at least 20.28 USD to send to all, then start the campaign again.',
  });
  expect(diagnose({ ...facts, wallet: poor }).find(({ check }) => check === 'WALLET')?.missing).toBe('20.28');
  const estimate = { ...poor, isExact: false };
  expect(
    statusOf({ status: 'PAUSED', pauseReason: 'INSUFFICIENT_BALANCE', wallet: estimate })?.action,
  ).toContain('Recharge about 20.28 USD');
});

it('says how long the audience has been prepared for, and that workers are busy', () => {
  const preparing = { status: 'DRAFT', preparationStatus: 'PREPARING', waitingFor: 'PREPARATION' } as const;
  expect(statusOf(preparing)?.ok).toBe(true);
  expect(statusOf({ ...preparing, createdAt: new Date(now.getTime() - 61_000) })).toMatchObject({
    ok: false,
    detail: expect.stringContaining('for 61 s'),
  });
  expect(statusOf({ waitingFor: 'QUEUED' })).toMatchObject({
    ok: false,
    detail: 'Its next step waits: all workers are busy. 812 people still to send.',
  });
});

it('says that it sends, and warns when the balance does not cover all recipients', () => {
  expect(statusOf({})).toMatchObject({
    ok: true,
    detail: 'Sending. 812 people still to send.',
    action: null,
  });
  const short = { ...facts.wallet, available: 10_000_000n };
  expect(diagnose({ ...facts, wallet: short }).find(({ check }) => check === 'WALLET')).toEqual({
    check: 'WALLET',
    ok: true,
    detail: 'The wallet holds 10 USD, but all that wait cost 20.3 USD.',
    action: 'Recharge at least 10.3 USD to send to all.',
    missing: '10.3',
  });
});

it.each<[string, Partial<CampaignFacts>, string]>([
  [
    'an operator',
    { status: 'PAUSED', pauseReason: 'OPERATOR' },
    'A user or an operator paused the campaign. 812 people still to send.',
  ],
  [
    'a block that is lifted',
    { status: 'PAUSED', pauseReason: 'CHANNEL_BLOCKED' },
    'Paused. It is ready to be started again. 812 people still to send.',
  ],
  [
    'a block',
    {
      status: 'PAUSED',
      pauseReason: 'CHANNEL_BLOCKED',
      channel: { ...facts.channel, isActive: false, blockReason: 'OPERATOR' },
    },
    'Paused: the channel is blocked: OPERATOR. 812 people still to send.',
  ],
  [
    'a refusal with a code that the table does not hold',
    {
      status: 'PAUSED',
      pauseReason: 'CHANNEL_BLOCKED',
      channel: { ...facts.channel, refusalCode: 404 },
    },
    'Paused: the provider refused messages of the channel (404). 812 people still to send.',
  ],
  [
    'a template',
    { template: { name: 'spring_offer', status: 'PAUSED', vanished: false } },
    'The template spring_offer is PAUSED, and only approved ones may be sent. 812 people still to send.',
  ],
  [
    'a template that is gone',
    { template: { name: 'spring_offer', status: 'DELETED', vanished: true } },
    'The template spring_offer no longer exists at the provider. 812 people still to send.',
  ],
  [
    'a worker that does not begin it',
    { status: 'SCHEDULED', scheduledAt: new Date(now.getTime() - 60_000) },
    'It was due at 2026-11-21T08:59:00.000Z and has not begun. 812 people still to send.',
  ],
  [
    'the quota',
    { status: 'DRAFT', broadcasts: { used: 5, limit: 5, counted: false } },
    'All 5 broadcasts of this month are used. 812 people still to send.',
  ],
  [
    'silence the provider asked for',
    { waitingFor: 'CHANNEL_THROTTLE', waitingUntil: new Date('2026-11-21T09:00:30Z') },
    'The provider asked us to slow down for 30 s more. 812 people still to send.',
  ],
  [
    'a provider that does not answer',
    { waitingFor: 'CHANNEL_TROUBLE', waitingUntil: new Date('2026-11-21T08:59:59Z') },
    'The provider does not answer; the channel is held. 812 people still to send.',
  ],
  [
    'a messaging limit',
    { waitingFor: 'MESSAGING_LIMIT', waitingUntil: new Date('2026-11-21T10:29:30Z') },
    "The account's limit of people a day is used up for 90 min more. 812 people still to send.",
  ],
  [
    'a workflow that is stuck',
    { waitingFor: 'WORKFLOW_STUCK' },
    'Nothing moves: the workers do not answer, or the campaign’s workflow fails. 812 people still to send.',
  ],
  [
    'a worker that is away',
    { outboxSince: new Date('2026-11-21T08:59:20Z'), pending: 1 },
    'Its workflow has not been notified of the last change for 40 s. 1 person still to send.',
  ],
  [
    'an audience that could not be prepared',
    { status: 'FAILED', preparationStatus: 'FAILED', preparationError: 'The CSV is empty' },
    'Failed: The CSV is empty.',
  ],
])('names %s', (_, change, detail) => {
  expect(statusOf(change)).toMatchObject({ ok: false, detail });
});

it.each<[Partial<CampaignFacts>, string]>([
  [{ status: 'COMPLETED', pending: 0 }, 'Completed: sent to 997 of 1,000 people; 3 failed.'],
  [{ status: 'CANCELLED' }, 'Cancelled: nobody else will get a message.'],
  [{ pending: 0, underWay: 2 }, 'Finishing: 2 people still under way.'],
  [
    { status: 'DRAFT', preparationStatus: 'PREPARING', pending: 0 },
    'Starting: the audience is being prepared.',
  ],
])('reports no problem for %j', (change, detail) => {
  expect(statusOf(change)).toMatchObject({ ok: true, detail, action: null });
});

it('mentions other campaigns of the channel as no problem', () => {
  expect(diagnose({ ...facts, waitingFor: 'TURN' }).find(({ check }) => check === 'PACE')).toMatchObject({
    ok: true,
    detail: 'Other campaigns send on the channel, too: they take turns.',
  });
});

it('mentions throttling as no problem', () => {
  const entry = diagnose({ ...facts, channel: { ...facts.channel, factor: 0.5 } }).find(
    ({ check }) => check === 'PACE',
  );
  expect(entry).toMatchObject({ ok: true, detail: expect.stringContaining('40 of 80 messages a second') });
});
