import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingMessage } from './bodies.ts';
import { createCallbackOutbox, type OutboxCounts } from './outbox.ts';
import type { CallbackSender } from './sender.ts';
import { defaultCallbackSettings, readCallbackSettings, type CallbackSettings } from './settings.ts';
import { shareOf } from '../protocol/count-table.ts';
import { stepsOf, type MessageFate } from '../messages/fate.ts';

/** The statuses that follow a message, each after its delay. */
export interface StatusCallbacks {
  schedule(message: Omit<PendingMessage, 'steps' | 'next'>, fate: MessageFate): void;
  configure(input: unknown): CallbackSettings;
  readonly settings: CallbackSettings;
  /** Sends all scheduled statuses at once; resolves to true when all are delivered before `timeoutMs` has passed. */
  flush(timeoutMs: number): Promise<boolean>;
  counts(): CallbackCounts;
  /** Drops the scheduled statuses and resets the settings. */
  reset(): void;
  close(): void;
}

export interface CallbackCounts extends OutboxCounts {
  /** Messages that have a status scheduled. */
  readonly scheduled: number;
}

const tickMs = 25;

/** A wheel of ticks instead of a timer for every message. */
export function createStatusCallbacks(
  sender: CallbackSender,
  onDelivered: (message: PendingMessage, at: number) => void = () => undefined,
): StatusCallbacks {
  let settings = defaultCallbackSettings;
  let lastTick = tickOf(Date.now());
  let scheduled = 0;
  const wheel = new Map<number, PendingMessage[]>();
  const outbox = createCallbackOutbox(sender, () => settings);

  const place = (message: PendingMessage, now: number): void => {
    const step = message.steps[message.next];
    if (!step) return;
    startTimer(now);
    // 0.5 to 1.5 times the delay; the factor is the same for all statuses of a message.
    const delayMs = step.delayMs * (0.5 + shareOf(message.id));
    const tick = Math.max(tickOf(now + delayMs), lastTick + 1);
    const slot = wheel.get(tick);
    if (slot) slot.push(message);
    else wheel.set(tick, [message]);
    scheduled += 1;
  };

  const advance = (message: PendingMessage, now: number): void => {
    scheduled -= 1;
    const step = message.steps[message.next];
    if (step) outbox.add({ message, step, at: now });
    if (arrivesAt(message.steps) === message.next) onDelivered(message, now);
    message.next += 1;
    place(message, now);
  };

  const turn = (): void => {
    const now = Date.now();
    const current = tickOf(now);
    while (lastTick < current && wheel.size > 0) {
      lastTick += 1;
      const due = wheel.get(lastTick);
      wheel.delete(lastTick);
      due?.forEach((message) => advance(message, now));
    }
    lastTick = current;
    outbox.pump();
    if (wheel.size === 0 && outbox.counts().waiting === 0) stopTimer();
  };
  // Without anything to send the process has no timer, which would cost it 0.3 % of a core.
  let timer: NodeJS.Timeout | undefined;
  const startTimer = (now: number): void => {
    if (timer !== undefined) return;
    lastTick = tickOf(now);
    timer = setInterval(turn, tickMs);
  };
  const stopTimer = (): void => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    schedule: (message, fate) => {
      if (!settings.enabled || sender.url === undefined) return;
      const callbackData = settings.callbackData ? message.callbackData : '';
      place({ ...message, callbackData, steps: stepsOf(fate, settings), next: 0 }, Date.now());
    },
    configure: (input) => {
      settings = readCallbackSettings(input, settings);
      return settings;
    },
    get settings() {
      return settings;
    },
    flush: async (timeoutMs) => {
      const deadline = Date.now() + timeoutMs;
      while (scheduled + outbox.counts().waiting > 0) {
        if (Date.now() > deadline) return false;
        const due = [...wheel.values()].flat();
        wheel.clear();
        due.forEach((message) => advance(message, Date.now()));
        outbox.pump();
        await sleep(5);
      }
      return true;
    },
    counts: () => ({ scheduled, ...outbox.counts() }),
    reset: () => {
      settings = defaultCallbackSettings;
      wheel.clear();
      scheduled = 0;
      outbox.clear();
    },
    close: () => {
      stopTimer();
      outbox.clear();
    },
  };
}

/** The step with which a message arrives; −1: it does not. */
const arrivesAt = (steps: PendingMessage['steps']): number => {
  const delivered = steps.findIndex(({ status }) => status === 'delivered');
  return delivered < 0 ? steps.findIndex(({ status }) => status === 'read') : delivered;
};

function tickOf(time: number): number {
  return Math.floor(time / tickMs);
}
