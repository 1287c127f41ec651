/** Explains in sentences why a campaign is or is not sending, and what would change that. */
import { formatAmount } from '../money.ts';
import { providerErrorTable } from '../sending/provider-error.ts';
import { isSendable } from '../templates/definition.ts';
import { isFinished, type PauseReason } from './campaign.ts';
import { pauseReasonTable } from './reasons.ts';
import {
  type CampaignFacts,
  type DiagnosisEntry,
  fine,
  goesOnByItself,
  type StatusFacts,
  wrong,
} from './diagnosis-facts.ts';
import { nextOpenTime } from './sending-window.ts';

// Parts of the sentences of a diagnosis.

// Created once, because creating a formatter takes longer than a whole diagnosis.
const whole = new Intl.NumberFormat('en');
const count = (value: number): string => whole.format(value);
const people = (value: number): string => (value === 1 ? '1 person' : `${count(value)} people`);
const amount = (value: bigint, currency: string): string => `${formatAmount(value)} ${currency}`;
const join = (...sentences: readonly string[]): string => sentences.filter(Boolean).join(' ');
const upperFirst = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

/** Returns a sentence about the pending recipients; '' if there are none. */
export function waitingSentence(pending: number): string {
  if (pending === 0) return '';
  return `${people(pending)} still to send.`;
}

// The entry that sums up the checks of a diagnosis. The dashboard calls it too: it imports neither io-ts nor Node.

/** Builds the summarising sentence from checks and counters read at the same moment. */
export function diagnoseStatus(facts: StatusFacts, checks: readonly DiagnosisEntry[]): DiagnosisEntry {
  const obstacle = checks.find(({ ok }) => !ok);
  const waiting = waitingSentence(facts.pending);
  switch (facts.status) {
    case 'COMPLETED':
      return fine('STATUS', completed(facts));
    case 'CANCELLED':
      return fine('STATUS', 'Cancelled: nobody else will get a message.');
    case 'FAILED':
      return wrong('STATUS', `Failed: ${facts.preparationError ?? 'the audience could not be prepared'}.`);
    case 'PAUSED':
      return paused(facts, obstacle, waiting);
    case 'DRAFT':
    case 'SCHEDULED':
    case 'RUNNING':
      break;
  }
  if (obstacle !== undefined) return wrong('STATUS', join(obstacle.detail, waiting), obstacle.action);
  if (facts.status === 'SCHEDULED') return fine('STATUS', join('Scheduled.', waiting));
  if (facts.status === 'DRAFT') return fine('STATUS', 'Starting: the audience is being prepared.');
  return facts.pending === 0
    ? fine('STATUS', `Finishing: ${people(facts.underWay)} still under way.`)
    : fine('STATUS', join('Sending.', waiting));
}

function completed({ total, failed, underWay }: StatusFacts): string {
  const others = [
    failed > 0 ? `; ${count(failed)} failed` : '',
    underWay > 0 ? `; the outcome of ${count(underWay)} is unknown` : '',
  ];
  return `Completed: sent to ${count(total - failed - underWay)} of ${people(total)}${others.join('')}.`;
}

/** Whether no check of the diagnosis covers the pause. If so, its reason is assumed to apply still. */
const unchecked: Readonly<Record<PauseReason, boolean>> = {
  INSUFFICIENT_BALANCE: false,
  BROADCAST_QUOTA: false,
  TEMPLATE_UNAVAILABLE: false,
  CHANNEL_BLOCKED: false,
  MESSAGE_REJECTED: true,
  RECORD_RESTORED: true,
  OPERATOR: true,
  FAILURES: true,
  MAX_COST: true,
  PRICE_RAISED: true,
};

function paused(
  { pauseReason }: StatusFacts,
  obstacle: DiagnosisEntry | undefined,
  waiting: string,
): DiagnosisEntry {
  if (obstacle !== undefined) {
    const action =
      obstacle.action === null
        ? null
        : `${obstacle.action.replace(/\.$/, '')}, then start the campaign again.`;
    return wrong('STATUS', join(`Paused: ${lowerFirst(obstacle.detail)}`, waiting), action);
  }
  const cause =
    pauseReason !== null && unchecked[pauseReason]
      ? pauseReasonTable[pauseReason].meaning
      : 'Paused. It is ready to be started again.';
  return wrong('STATUS', join(cause, waiting), 'Start the campaign to continue where it stopped.');
}

// The diagnosis' entry about the sending window.

/** Returns undefined for a campaign without a sending window. */
function sendingHours({ status: present, windows, now }: CampaignFacts): DiagnosisEntry | undefined {
  const [window] = windows;
  if (window === undefined || isFinished(present)) return undefined;
  const open = nextOpenTime(windows, now);
  if (open === undefined)
    return wrong(
      'SENDING_WINDOW',
      'Its sending window has no time in common with that of the workspace.',
      'Change one of the two windows.',
    );
  const { timezone } = window;
  if (open.opensAt <= now)
    return fine(
      'SENDING_WINDOW',
      `Its sending window is open${open.closesAt === null ? '' : ` until ${wallTime(open.closesAt, now, timezone)}`}.`,
    );
  const opening = `${wallTime(open.opensAt, now, timezone)}, in ${spanText(open.opensAt, now)}`;
  return present === 'RUNNING'
    ? wrong('SENDING_WINDOW', `Waits for ${opening}: its sending window is closed.`, goesOnByItself)
    : fine('SENDING_WINDOW', `Its sending window is closed until ${opening}.`);
}

/** `09:00, Europe/Berlin`; `09:00 on Thursday 26 November, Europe/Berlin` if that is not today. */
function wallTime(at: Date, now: Date, timeZone: string): string {
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long', day: 'numeric', month: 'long' });
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  const date = day.format(at) === day.format(now) ? '' : ` on ${day.format(at)}`;
  return `${time.format(at)}${date}, ${timeZone}`;
}

function spanText(until: Date, now: Date): string {
  const minutes = Math.ceil((until.getTime() - now.getTime()) / 60_000);
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  return `${Math.round(minutes / 60)} hours`;
}

/** Returns the entries; the first, `STATUS`, sums up the others. */
export function diagnose(facts: CampaignFacts): readonly DiagnosisEntry[] {
  const checks = [
    preparation(facts),
    schedule(facts),
    sendingHours(facts),
    quota(facts),
    template(facts),
    channel(facts),
    pace(facts),
    wallet(facts),
    worker(facts),
  ].filter((entry) => entry !== undefined);
  return [diagnoseStatus(facts, checks), ...checks];
}

const slowPreparationSeconds = 15;

function preparation({
  preparationStatus,
  preparationError,
  total,
  waitingFor,
  createdAt,
  now,
}: CampaignFacts): DiagnosisEntry {
  if (preparationStatus === 'FAILED') {
    const why = preparationError ?? 'the cause is unknown';
    return wrong(
      'PREPARATION',
      `The audience could not be prepared: ${why}.`,
      'Create the campaign again, with what was missing or with another audience.',
    );
  }
  if (preparationStatus === 'READY')
    return fine('PREPARATION', `The audience is prepared: ${people(total)}.`);
  const seconds = Math.round((now.getTime() - createdAt.getTime()) / 1000);
  return waitingFor === 'PREPARATION' && seconds >= slowPreparationSeconds
    ? wrong(
        'PREPARATION',
        `The audience has been in preparation for ${seconds} s.`,
        'Wait: large lists and slow file servers take their time. A file that never comes ends in FAILED.',
      )
    : fine('PREPARATION', 'The audience is being prepared.');
}

function schedule({ status: present, scheduledAt, now }: CampaignFacts): DiagnosisEntry | undefined {
  if (present !== 'SCHEDULED' || scheduledAt === null) return undefined;
  if (now.getTime() - scheduledAt.getTime() > slowOutboxMs)
    return wrong('SCHEDULE', `It was due at ${scheduledAt.toISOString()} and has not begun.`, lookAtWorkers);
  return fine('SCHEDULE', `It starts by itself at ${scheduledAt.toISOString()}.`);
}

function quota({ status: present, broadcasts }: CampaignFacts): DiagnosisEntry | undefined {
  const { used, limit, counted } = broadcasts;
  if (limit === null || counted || isFinished(present)) return undefined;
  return used < limit
    ? fine('QUOTA', `${used} of the month's ${limit} broadcasts are used.`)
    : wrong(
        'QUOTA',
        `All ${limit} broadcasts of this month are used.`,
        'Raise the quota of the plan, or wait for next month.',
      );
}

function template({ template: { name, status: present, vanished } }: CampaignFacts): DiagnosisEntry {
  if (vanished) {
    return wrong(
      'TEMPLATE',
      `The template ${name} no longer exists at the provider.`,
      'Create the campaign again with another template.',
    );
  }
  return isSendable(present)
    ? fine('TEMPLATE', `The template ${name} is approved.`)
    : wrong(
        'TEMPLATE',
        `The template ${name} is ${present}, and only approved ones may be sent.`,
        'Have it approved by the provider.',
      );
}

function channel({ channel: { isActive, blockReason, refusalCode } }: CampaignFacts): DiagnosisEntry {
  if (isActive && refusalCode !== null) {
    const meaning = providerErrorTable.find(({ codes }) => codes.includes(refusalCode))?.meaning;
    return wrong(
      'CHANNEL',
      `The provider refused messages of the channel (${meaning === undefined ? refusalCode : `${refusalCode}: ${meaning}`}).`,
      'Solve the problem at the provider or renew the access token.',
    );
  }
  if (isActive) return fine('CHANNEL', 'The channel is active.');
  const why = blockReason === null ? '' : `: ${blockReason}`;
  return wrong(
    'CHANNEL',
    `The channel is blocked${why}.`,
    'Solve the problem at the provider and unblock the channel.',
  );
}

function pace(facts: CampaignFacts): DiagnosisEntry {
  const { messagesPerSecond, factor } = facts.channel;
  switch (facts.waitingFor) {
    case 'CHANNEL_THROTTLE':
      return wrong('PACE', `The provider asked us to slow down${forSpan(facts)}.`, goesOnByItself);
    case 'CHANNEL_TROUBLE':
      if (facts.waitingUntil === null)
        return wrong(
          'PACE',
          'The provider answers slowly; the channel sends less than it may.',
          goesOnByItself,
        );
      return wrong(
        'PACE',
        `The provider does not answer; the channel is held${forSpan(facts)}.`,
        goesOnByItself,
      );
    case 'MESSAGING_LIMIT':
      return wrong(
        'PACE',
        `The account's limit of people a day is used up${forSpan(facts)}.`,
        goesOnByItself,
      );
    case 'TURN':
      return fine('PACE', 'Other campaigns send on the channel, too: they take turns.');
    case 'FIRST_STATUSES':
      return fine('PACE', `The statuses of the first messages are awaited${forSpan(facts)}.`);
    case 'SENDING_WINDOW':
    case 'PREPARATION':
    case 'QUEUED':
    case 'WORKFLOW_STUCK':
    case null:
  }
  const rate = Math.max(1, Math.round(messagesPerSecond * factor));
  return factor >= 0.95
    ? fine('PACE', `The channel may send ${count(messagesPerSecond)} messages a second.`)
    : fine(
        'PACE',
        `The provider throttles: ${count(rate)} of ${count(messagesPerSecond)} messages a second, rising again by itself.`,
      );
}

/** ` for 30 s more`, ` for 90 min more`; empty if the duration is not known. */
function forSpan({ waitingUntil, now }: CampaignFacts): string {
  const seconds = Math.ceil(((waitingUntil ?? now).getTime() - now.getTime()) / 1000);
  if (seconds <= 0) return '';
  return ` for ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} more`;
}

const cent = 10_000n;

function wallet({ wallet: facts, pending, status: present }: CampaignFacts): DiagnosisEntry {
  const { available, currency, nextPrice, remainingCost, isExact } = facts;
  const holds = `the wallet holds ${amount(available, currency)}`;
  if (isFinished(present) || nextPrice === null || pending === 0)
    return fine('WALLET', `${upperFirst(holds)}.`);
  const cost = `${isExact ? '' : 'about '}${amount(remainingCost, currency)}`;
  if (available >= remainingCost) return fine('WALLET', `${upperFirst(holds)}; all that wait cost ${cost}.`);
  const lacking = remainingCost - available;
  const missing = formatAmount(isExact ? lacking : lacking + ((cent - (lacking % cent)) % cent));
  const recharge = `Recharge ${isExact ? 'at least' : 'about'} ${missing} ${currency} to send to all.`;
  if (available >= nextPrice) {
    return {
      ...fine('WALLET', `${upperFirst(holds)}, but all that wait cost ${cost}.`),
      action: recharge,
      missing,
    };
  }
  const costs = `the next message costs ${amount(nextPrice, currency)}`;
  return { ...wrong('WALLET', `${upperFirst(holds)} and ${costs}.`, recharge), missing };
}

const slowOutboxMs = 15_000;
const lookAtWorkers = 'See that a worker runs and that Temporal is reached.';

function worker({ waitingFor, outboxSince, now }: CampaignFacts): DiagnosisEntry | undefined {
  if (waitingFor === 'WORKFLOW_STUCK')
    return wrong(
      'WORKER',
      'Nothing moves: the workers do not answer, or the campaign’s workflow fails.',
      'Ask the operator of this service to look at the workers and the workflow.',
    );
  if (waitingFor === 'QUEUED')
    return wrong('WORKER', 'Its next step waits: all workers are busy.', 'Wait, or add workers.');
  if (outboxSince === null || now.getTime() - outboxSince.getTime() < slowOutboxMs) return undefined;
  const seconds = Math.round((now.getTime() - outboxSince.getTime()) / 1000);
  return wrong(
    'WORKER',
    `Its workflow has not been notified of the last change for ${seconds} s.`,
    lookAtWorkers,
  );
}
