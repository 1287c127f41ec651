/**
 * Records the outcomes of a send step while it sends: bounded batches, one statement at a time. An outcome stays in memory
 * until its statement has succeeded, whatever the error. Only the end of the process loses it; the open claim then remains.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorName } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { RecipientState } from '../../domain/campaigns/recipient.ts';
import { keepChoice } from '../contacts/opted-out-numbers.ts';
import { recordOutcomes, type OutcomeBatch, type RecipientOutcome } from '../../records/sending/outcomes.ts';
import { countRecipients } from '../../telemetry/metrics.ts';

/** 100 ms: outcomes that come within it share a statement. */
const collectForMs = 100;
/** 500 outcomes bound the time of a statement, and so of its locks on wallet and counter. */
const largestBatch = 500;
/** With more than 2,000 outcomes unwritten the step claims nothing: a dying process would lose them. */
const mostWaiting = 2_000;
const [firstPauseMs, longestPauseMs] = [250, 5_000];
/** A write that keeps failing is logged again after this many failures, about every minute. */
const logEvery = 12;

export interface OutcomeRecorder {
  readonly add: (outcome: RecipientOutcome) => void;
  /** Resolves when every outcome is recorded. Never rejects. */
  readonly flush: () => Promise<void>;
  /** Resolves to true when every outcome is recorded, or to false as soon as a write fails. */
  readonly tryToFlush: () => Promise<boolean>;
  /** True while a write fails or too many outcomes wait: claim nothing. */
  readonly isBehind: () => boolean;
}

export function createOutcomeRecorder(
  { database, metrics, logger, secrets }: Pick<Dependencies, 'database' | 'metrics' | 'logger' | 'secrets'>,
  { campaignId, channelId, workspaceId }: Omit<OutcomeBatch, 'outcomes'> & { readonly workspaceId: number },
  recorded: (states: readonly RecipientState[]) => void,
): OutcomeRecorder {
  let waiting: RecipientOutcome[] = [];
  let batchSize = largestBatch;
  let failures = 0;
  let writing: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;
  let onFailure: () => void = () => undefined;

  const writeBatch = async (): Promise<void> => {
    const outcomes = nextBatch(waiting, batchSize);
    const stop = metrics.recordSeconds.startTimer();
    const strangers = await recordOutcomes(database, { campaignId, channelId, outcomes });
    stop();
    waiting = waiting.slice(outcomes.length);
    if (strangers.length > 0)
      await keepChoice({ secrets }, database, { workspaceId, names: strangers, subscribed: false });
    const states = outcomes.map(({ outcome }) => outcomeStates[outcome.kind]);
    countRecipients(metrics, states);
    recorded(states);
    logger.info({ campaignId, recorded: outcomes.length }, 'outcomes recorded');
  };

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      try {
        await writeBatch();
        failures = 0;
        batchSize = Math.min(largestBatch, batchSize * 2);
      } catch (error) {
        if (failures % logEvery === 0)
          logger.error(
            { campaignId, waiting: waiting.length, error: errorName(error) },
            'outcomes could not be recorded, trying again',
          );
        failures += 1;
        onFailure();
        // A statement that takes too long, or one outcome that Postgres refuses, must not hold up the others.
        if (batchSize === 1) waiting = [...waiting.slice(1), ...waiting.slice(0, 1)];
        batchSize = Math.max(1, Math.floor(Math.min(batchSize, waiting.length) / 2));
        await sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures - 1, 10)));
      }
    }
  };

  const flush = (): Promise<void> => {
    clearTimeout(soon);
    soon = undefined;
    writing ??= writeAll().finally(() => (writing = undefined));
    return writing;
  };

  return {
    add(outcome) {
      waiting.push(outcome);
      soon ??= setTimeout(() => void flush(), collectForMs);
    },
    flush,
    async tryToFlush() {
      if (failures > 0) return false;
      const failed = new Promise<boolean>((resolve) => (onFailure = () => resolve(false)));
      return Promise.race([flush().then(() => true), failed]);
    },
    isBehind: () => failures > 0 || waiting.length > mostWaiting,
  };
}

/** Takes up to `size` outcomes from the front; ends before a position that the batch contains already. */
function nextBatch(waiting: readonly RecipientOutcome[], size: number): readonly RecipientOutcome[] {
  const seen = new Set<number>();
  const batch: RecipientOutcome[] = [];
  for (const outcome of waiting) {
    if (batch.length === size || seen.has(outcome.position)) break;
    seen.add(outcome.position);
    batch.push(outcome);
  }
  return batch;
}

const outcomeStates = {
  accepted: 'ACCEPTED',
  failed: 'FAILED',
  unknown: 'UNKNOWN',
  released: 'PENDING',
  skipped: 'SKIPPED',
} as const satisfies Record<RecipientOutcome['outcome']['kind'], RecipientState>;
