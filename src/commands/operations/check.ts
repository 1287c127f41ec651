/** The types of the doctor: its dependencies, a check, a finding and its repair. */
import type { Config } from '../../config.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Orchestrator } from '../../orchestrator/orchestrator.ts';
import type { Database } from '../../records/database/database.ts';
import type { Batch } from '../../records/operations/doctor-campaigns.ts';
import type { WorkflowView } from './workflow-view.ts';

export interface Doctor {
  readonly database: Database;
  readonly orchestrator: Orchestrator;
  readonly workflows: WorkflowView;
  readonly config: Config;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Work that waits longer than this counts as forgotten. Must exceed the longest sleep of a worker loop. */
  readonly slackSeconds: number;
  /** Skips the checks that read every recipient of campaigns that have ended. */
  readonly quick: boolean;
}

export interface Repair {
  /** The repair, as the end of a sentence that begins with "would". */
  readonly does: string;
  /** Makes the repair; safe to run again. Throws if it could not be made. */
  readonly run: () => Promise<unknown>;
}

export interface Finding {
  /** The kind of disagreement, e.g. `campaign-without-workflow`. */
  readonly kind: string;
  /** The subject: the id of a campaign, channel, delivery, workflow or account, or the name of a queue. */
  readonly id: string;
  readonly meaning: string;
  /** A fingerprint that differs in the second comparison shows work in progress: the finding is dropped. */
  readonly fingerprint: string;
  /** Undefined when a person has to decide; `meaning` says what. */
  readonly repair?: Repair;
}

/** Checks everything, or with `again` only the subjects of earlier findings. */
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
