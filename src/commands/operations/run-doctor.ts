/** Compares Postgres and Temporal twice: a finding that is the same both times is a disagreement, not work in progress. */
import { setTimeout as sleep } from 'node:timers/promises';
import { checkBooks } from './check-books.ts';
import { checkCampaignWorkflows, checkOpenCampaigns } from './check-campaigns.ts';
import { checkDeliveries, checkDeliveryWorkflows } from './check-deliveries.ts';
import { checkClaims, checkQueues } from './check-overdue.ts';
import { checkPartitions } from './check-partitions.ts';
import { checkSchedules } from './check-schedules.ts';
import type { Check, Doctor, Finding } from './check.ts';

export const everyCheck: readonly Check[] = [
  checkOpenCampaigns,
  checkCampaignWorkflows,
  checkDeliveries,
  checkDeliveryWorkflows,
  checkSchedules,
  checkClaims,
  checkQueues,
  checkPartitions,
  checkBooks,
];

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
  if (suspicions.every(({ length }) => length === 0)) return [];
  await sleep(options.pauseMs);
  const confirmed: Finding[] = [];
  for (const [index, check] of options.checks.entries()) {
    const suspected = suspicions[index] ?? [];
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
