/**
 * The doctor: compares Postgres with Temporal, and data that Postgres stores twice. It compares twice: a finding that is the
 * same both times is a disagreement, not work in progress. The checks are in `check-campaigns.ts` and, after a restore,
 * `restore.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Orchestrator } from '../../orchestrator/orchestrator.ts';
import type { Database } from '../../records/database/database.ts';
import { isDiskFull } from '../../records/database/failure.ts';
import { type BookDifference, listBookDifferences } from '../../records/operations/books.ts';
import {
  probeDiskSpace,
  readCallbackSilence,
  readDatabaseState,
} from '../../records/operations/database-state.ts';
import type { Batch } from '../../records/operations/doctor-campaigns.ts';
import { listImpairedChannels } from '../../records/operations/impaired-channels.ts';
import { oldCardDays } from '../wallet/watch-wallets.ts';
import { listAccountsWithoutPrices } from '../../records/wallet/price-cards.ts';
import { listFailingWebhooks } from '../../records/webhooks/configurations.ts';
import { taskQueues } from '../../workflows/contract.ts';
import type { WorkflowView } from './workflow-view.ts';

export interface Doctor {
  readonly database: Database;
  readonly orchestrator: Orchestrator;
  readonly workflows: WorkflowView;
  /** Work that waits longer than this counts as forgotten. Must be longer than any worker loop sleeps. */
  readonly slackSeconds: number;
  /** Skips the checks that read every recipient of campaigns that have ended. */
  readonly quick: boolean;
}

export interface Repair {
  /** The repair, worded to follow "would". */
  readonly does: string;
  /** Makes the repair; safe to run again. Throws if it fails. */
  readonly run: () => Promise<unknown>;
}

export interface Finding {
  /** The kind of disagreement, e.g. `campaign-without-workflow`. */
  readonly kind: string;
  /** The subject: the id of a campaign, channel or delivery, or `events`. */
  readonly id: string;
  readonly meaning: string;
  /** If it differs in the second comparison, work is in progress and the finding is dropped. */
  readonly fingerprint: string;
  /** Both sides were read in one snapshot: there is no second comparison. */
  readonly isCertain?: true;
  /** Undefined if a person has to decide; `meaning` says what. */
  readonly repair?: Repair;
}

/** Checks everything or, given `again`, only the subjects of earlier findings. */
export type Check = (doctor: Doctor, again?: readonly string[]) => AsyncIterable<Finding>;

/** Yields batches of `list` by ascending id, until one is not full. */
export async function* batches<T>(
  limit: number,
  list: (batch: Batch) => Promise<readonly T[]>,
  idOf: (item: T) => string,
): AsyncIterable<readonly T[]> {
  let afterId: string | null = null;
  for (;;) {
    const batch: readonly T[] = await list({ afterId, limit });
    if (batch.length > 0) yield batch;
    const last = batch.at(-1);
    if (batch.length < limit || last === undefined) return;
    afterId = idOf(last);
  }
}

/** Limit for one check; the next run finds the rest once these are repaired. */
const mostFindings = 10_000;

export interface DoctorOptions {
  /** Milliseconds between the two comparisons. */
  readonly pauseMs: number;
  readonly checks: readonly Check[];
}

/** Returns every disagreement. Memory grows with the findings, not with the tables. */
export async function runDoctor(doctor: Doctor, options: DoctorOptions): Promise<readonly Finding[]> {
  const suspicions: (readonly Finding[])[] = [];
  for (const check of options.checks) suspicions.push(await collect(check(doctor)));
  const confirmed = suspicions.flat().filter(({ isCertain }) => isCertain === true);
  const unsure = suspicions.map((all) => all.filter(({ isCertain }) => isCertain !== true));
  if (unsure.every(({ length }) => length === 0)) return confirmed;
  await sleep(options.pauseMs);
  for (const [index, check] of options.checks.entries()) {
    const suspected = unsure[index] ?? [];
    if (suspected.length === 0) continue;
    const before = new Set(suspected.map(keyOf));
    const ids = [...new Set(suspected.map(({ id }) => id))];
    confirmed.push(...(await collect(check(doctor, ids))).filter((finding) => before.has(keyOf(finding))));
  }
  return confirmed;
}

function keyOf({ kind, id, fingerprint }: Finding): string {
  return `${kind} ${id} ${fingerprint}`;
}

async function collect(findings: AsyncIterable<Finding>): Promise<readonly Finding[]> {
  const collected: Finding[] = [];
  for await (const finding of findings) {
    collected.push(finding);
    if (collected.length === mostFindings) break;
  }
  return collected;
}

export interface Settled {
  readonly finding: Finding;
  readonly outcome: 'repaired' | 'failed' | 'not repairable';
  /** Why a repair failed. */
  readonly problem?: string;
}

/** Makes the repairs one after the other; a failed repair does not stop the others. */
export async function repairFindings(findings: readonly Finding[]): Promise<readonly Settled[]> {
  const settled: Settled[] = [];
  for (const finding of findings) settled.push(await repair(finding));
  return settled;
}

async function repair(finding: Finding): Promise<Settled> {
  if (finding.repair === undefined) return { finding, outcome: 'not repairable' };
  try {
    await finding.repair.run();
    return { finding, outcome: 'repaired' };
  } catch (error) {
    return { finding, outcome: 'failed', problem: error instanceof Error ? error.message : String(error) };
  }
}

const meanings: Readonly<Record<BookDifference['kind'], string>> = {
  'counters-differ-from-rows': 'the stored counters differ from the counted recipients',
  'reasons-differ-from-rows': 'the stored counts of reasons differ from the counted recipients',
  'totals-differ-from-rows': 'the stored totals differ from the counted recipients',
  'recipients-stranded':
    'PENDING recipients were passed by and are not exactly those that are queued for another attempt',
  'charged-differs-from-entries': 'the cost of the campaign differs from the sum of its entries',
  'ledger-differs-from-balance': 'the balance of the wallet differs from the sum of its entries',
  'reserved-differs-from-messages':
    'the reserved amount differs from the price of the messages without an outcome',
  'uncollected-differs-from-debts': 'the uncollected amount differs from what messages owe',
};

/** Compares counters and money but never repairs them: a person has to find out which side is right. */
export async function* checkBooks({ database, quick }: Doctor): AsyncIterable<Finding> {
  const byFinding = new Map<string, BookDifference[]>();
  for (const difference of await listBookDifferences(database, { quick })) {
    const key = `${difference.kind} ${difference.id}`;
    byFinding.set(key, [...(byFinding.get(key) ?? []), difference]);
  }
  for (const [first, ...others] of byFinding.values()) {
    if (first === undefined) continue;
    const list = [first, ...others]
      .map(({ what, stored, found }) => `${what} ${stored} ≠ ${found}`)
      .join(', ');
    yield {
      kind: first.kind,
      id: first.id,
      fingerprint: list,
      isCertain: true,
      meaning: `${meanings[first.kind]} (stored ≠ found): ${list}`,
    };
  }
}

// Describes, as notes, problems of the installation that exist even if Postgres and Temporal agree, such as a full disk.

const mostNamed = 100;
/** 10 s: in a shorter silence, callbacks may still be on their way. */
const silentSeconds = 10;

export async function describeImpairments(doctor: Doctor): Promise<readonly string[]> {
  return [
    ...(await describeDatabase(doctor)),
    ...(await describeQueues(doctor)),
    ...(await describeCallbacks(doctor)),
    ...(await describeChannels(doctor)),
    ...(await describeReceivers(doctor)),
    ...(await describePrices(doctor)),
  ];
}

async function describeDatabase({ database }: Doctor): Promise<readonly string[]> {
  const state = await readDatabaseState(database);
  const notes = [];
  if (state.read_only) notes.push('Postgres is read-only: nothing can be recorded, and nothing is sent');
  else if (await database.transaction(probeDiskSpace).then(() => false, isDiskFull))
    notes.push('the disk of Postgres is full (53100): nothing can be recorded, and nothing is sent');
  if (state.archive_behind > 0)
    notes.push(
      `WAL is not archived since ${state.last_archived_at?.toISOString() ?? 'the start'}: see archive_command and the log of Postgres`,
    );
  return notes;
}

async function describeQueues({ workflows }: Doctor): Promise<readonly string[]> {
  const reasons = await Promise.all(Object.values(taskQueues).map((queue) => workflows.findUnserved(queue)));
  return reasons.filter((reason) => reason !== undefined);
}

async function describeCallbacks({ database }: Doctor): Promise<readonly string[]> {
  const { seconds, accepted_at: accepted, received_at: received } = await readCallbackSilence(database);
  if (seconds <= silentSeconds) return [];
  return [
    `the provider accepted messages until ${accepted?.toISOString()} and its last callback came ` +
      `${received === null ? 'never' : `at ${received.toISOString()}`}: see the callback address at the provider and ` +
      'its subscription to `messages` (and `standby`, where another app answers on the number), PROVIDER_APP_SECRET, and the log line "provider callback refused"',
  ];
}

async function describeChannels({ database }: Doctor): Promise<readonly string[]> {
  const channels = await listImpairedChannels(database, mostNamed);
  return channels.map(({ id, workspace_id: workspaceId, kind, code, since }) => {
    const refusal = code === null ? '' : `, refused by the provider with ${code} at ${since?.toISOString()}`;
    return `channel ${id} of workspace ${workspaceId} is impaired: ${kind}${refusal}`;
  });
}

/** Days on which versions of the provider's API end, as published; newer versions have none yet. */
const versionEnds: Readonly<Record<string, string>> = {
  'v22.0': '2027-05-20',
  'v23.0': '2027-10-08',
  'v24.0': '2028-02-18',
  'v25.0': '2028-07-29',
};
const warnDaysBefore = 180;
const dayMs = 86_400_000;

/** Warns when the version in the provider's address ends soon or has ended. */
export function describeVersion(baseUrl: string, now: Date): readonly string[] {
  const version = /\/(v\d+\.\d+)(?:\/|$)/.exec(baseUrl)?.[1] ?? '';
  const end = versionEnds[version];
  if (end === undefined || Date.parse(end) - now.getTime() > warnDaysBefore * dayMs) return [];
  const verb = Date.parse(end) > now.getTime() ? 'ends' : 'ended';
  return [`${version} of the provider's API ${verb} on ${end}: name a newer version in PROVIDER_BASE_URL`];
}

async function describePrices({ database }: Doctor): Promise<readonly string[]> {
  const accounts = await listAccountsWithoutPrices(database, oldCardDays);
  return accounts.map(({ id, currency, effectiveOn, days }) =>
    effectiveOn === null
      ? `business account ${id} has no price card for ${currency}: load the provider's with load-prices`
      : `the price card for ${currency} of business account ${id} is of ${effectiveOn}, ${days} days old: see whether the provider has published another`,
  );
}

async function describeReceivers({ database }: Doctor): Promise<readonly string[]> {
  const webhooks = await listFailingWebhooks(database);
  return webhooks
    .slice(0, mostNamed)
    .map(
      ({ id, workspace_id: workspaceId, failing_since: since, consecutive_failures: failures }) =>
        `webhook ${id} of workspace ${workspaceId} has failed ${failures} times in a row, since ${since.toISOString()}`,
    );
}
