/** Finds work that its worker loop should have done long ago: outboxes, sweeps and unmatched statuses. */
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { listOldClaims, listOverdueQueues, listUnclaimed } from '../../records/operations/doctor-overdue.ts';
import { giveUpUnclaimed } from '../../records/operations/doctor-repairs.ts';
import { fanOutEvents } from '../../records/webhooks/events.ts';
import { expireClaimedMessages } from '../../records/messages/outbound-messages.ts';
import { sweepTimeouts } from '../../records/webhooks/delivery-scheduler.ts';
import { deliverOverdueMessages } from '../campaigns/deliver-workflow-outbox.ts';
import {
  applyUnmatchedStatuses,
  emitUnknownStatuses,
  unmatchedSeconds,
} from '../callbacks/settle-unmatched-statuses.ts';
import type { Doctor, Finding, Repair } from './check.ts';

const batchSize = 500;

/** Finds open claims that should have been settled, and CLAIMED recipients without an open claim. */
export async function* checkClaims({ database, config, slackSeconds }: Doctor): AsyncIterable<Finding> {
  const { outcomeGraceSeconds: graceSeconds } = config;
  // A paused campaign checks its claims once a minute.
  for (const { id, count, since } of await listOldClaims(database, graceSeconds + 2 * slackSeconds)) {
    yield {
      kind: 'claim-left-behind',
      id,
      fingerprint: since,
      meaning: `batches with ${count} recipients were claimed at ${since} or later and never recorded`,
      repair: {
        does: 'record those without an outcome as UNKNOWN; none is sent again',
        run: () => expireClaims(database, { campaignId: id, graceSeconds }),
      },
    };
  }
  for (const { id, count } of await listUnclaimed(database)) {
    yield {
      kind: 'recipients-without-claim',
      id,
      fingerprint: String(count),
      meaning: `${count} recipients are CLAIMED and no claim of the campaign is open`,
      repair: {
        does: 'record them as UNKNOWN; none is sent again',
        run: () => giveUpUnclaimed(database, id),
      },
    };
  }
}

/** Queues whose oldest entry has waited longer than the longest pause of their worker loop. */
export async function* checkQueues(doctor: Doctor): AsyncIterable<Finding> {
  const { database, config, slackSeconds } = doctor;
  const overdue = await listOverdueQueues(database, {
    queueSeconds: slackSeconds,
    messageSeconds: config.outcomeGraceSeconds + slackSeconds,
    unmatchedSeconds: unmatchedSeconds + slackSeconds,
    expiryHours: config.webhookExpiryHours,
  });
  for (const { id, count, since } of overdue) {
    const repair = repairsOf(doctor)[id];
    yield {
      kind: 'queue-overdue',
      id,
      // The fingerprint is the oldest entry: if both checks find the same one, the queue does not progress.
      fingerprint: since,
      meaning: `${count === 10_000 ? 'at least 10000' : count} ${meanings[id] ?? 'entries'}, the oldest since ${since}`,
      ...(repair !== undefined && { repair }),
    };
  }
}

const meanings: Readonly<Record<string, string>> = {
  messages: 'single sends were claimed and never recorded',
  'workflow-commands': 'messages of the workflow outbox are not delivered',
  events: 'events are not handed to their subscribers',
  callbacks: 'callbacks of the provider are not applied: start a worker, which applies them',
  'unmatched-statuses': 'statuses of unknown messages wait beyond their time',
  deliveries: 'deliveries are beyond their lease or their expiry',
};

function repairsOf(doctor: Doctor): Readonly<Record<string, Repair>> {
  const { database, config, slackSeconds } = doctor;
  return {
    messages: {
      does: 'record them as UNKNOWN; none is sent again',
      run: () =>
        untilLess(batchSize, () =>
          expireClaimedMessages(database, { graceSeconds: config.outcomeGraceSeconds, limit: batchSize }),
        ),
    },
    'workflow-commands': {
      does: 'deliver them',
      run: async () => {
        for (let afterId: bigint | undefined = 0n; afterId !== undefined;) {
          const overdue = { olderThanMs: slackSeconds * 1000, afterId };
          const { delivered, lastId, failure } = await deliverOverdueMessages(doctor, overdue);
          if (delivered === 0 && failure !== undefined) throw failure;
          afterId = lastId > 0n || delivered >= batchSize ? lastId : undefined;
        }
      },
    },
    events: {
      does: 'create their deliveries, which a webhook worker sends',
      run: () => untilLess(batchSize, async () => (await fanOutEvents(database, batchSize)).events),
    },
    'unmatched-statuses': {
      does: 'apply those whose message is known, emit the others once as unknown',
      run: async () => {
        await untilLess(batchSize, () => applyUnmatchedStatuses(doctor));
        await untilLess(batchSize, () => emitUnknownStatuses(doctor));
      },
    },
    deliveries: {
      does: 'record them as failed (interrupted or expired)',
      run: () =>
        untilLess(5000, async () => {
          const swept = await sweepTimeouts(database, {
            expiryHours: config.webhookExpiryHours,
            redispatchSeconds: 2 * slackSeconds,
          });
          return swept.expired;
        }),
    },
  };
}

async function untilLess(limit: number, work: () => Promise<number>): Promise<void> {
  while ((await work()) >= limit);
}
