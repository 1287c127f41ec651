/**
 * Reads a campaign workflow's history for two facts: up to which position its steps saw recipients claimed, and whether a
 * send step was running at a given time. Reading begins at the newest event, so that its cost does not grow with the history.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import type { Orchestrator } from '../../orchestrator/orchestrator.ts';
import type { CampaignSnapshot } from '../../domain/campaigns/snapshot.ts';

export interface CampaignHistory {
  /** The farthest position that a finished step reported as claimed; undefined when none did. */
  readonly claimedPosition?: number | undefined;
  /** When the last step that reported a position ended. */
  readonly reportedAt?: Date | undefined;
  /** The newest snapshot of the campaign in the history. */
  readonly snapshot?: CampaignSnapshot | undefined;
  /** When the last send step without a result was scheduled; undefined when there is none. */
  readonly openStepSince?: Date | undefined;
  /** When the last send step was scheduled, finished or not. */
  readonly lastStepAt?: Date | undefined;
  /** Time of the newest event; undefined when there is none up to the time asked for. */
  readonly lastEventAt?: Date | undefined;
}

const pageSize = 100;

type Client = Orchestrator['client'];
type Event = NonNullable<
  Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>['history']
>['events'] extends infer E
  ? NonNullable<NonNullable<E>[number & keyof E]>
  : never;

/**
 * With `at`, ignores later events: a step that ended after `at` counts as running, because the record may have been restored
 * before it ended. Rejects when there is no such workflow.
 */
export async function readCampaignHistory(
  client: Client,
  workflowId: string,
  at?: Date,
): Promise<CampaignHistory> {
  let runId = '';
  // A run that continues an earlier one may not have finished a step yet: reads up to three earlier runs.
  for (let runs = 0; ; runs += 1) {
    const events = await readBackwards(client, { workflowId, runId, at });
    const found = summarise(events.filter((event) => at === undefined || timeOf(event) <= at));
    if (found.snapshot !== undefined || runs === 3) return found;
    const earlier = events.at(-1)?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (earlier === undefined || earlier === null || earlier === '') return found;
    runId = earlier;
  }
}

/** Reads events, newest first: one page, or with `at` as many pages as hold one page of events up to `at`. */
async function readBackwards(
  client: Client,
  {
    workflowId,
    runId,
    at,
  }: { readonly workflowId: string; readonly runId: string; readonly at: Date | undefined },
): Promise<readonly Event[]> {
  const events: Event[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId, ...(runId !== '' && { runId }) },
      maximumPageSize: pageSize,
      ...(nextPageToken !== undefined && { nextPageToken }),
    });
    events.push(...((page.history?.events ?? []) as readonly Event[]));
    nextPageToken = page.nextPageToken ?? undefined;
    const before = at === undefined ? events.length : events.filter((event) => timeOf(event) <= at).length;
    if (before >= pageSize) break;
  } while (nextPageToken !== undefined && nextPageToken.length > 0);
  return events;
}

/** Expects the events newest first. */
function summarise(events: readonly Event[]): CampaignHistory {
  const finished = new Set<string>();
  let snapshot: CampaignSnapshot | undefined;
  let claimedPosition: number | undefined;
  let reportedAt: Date | undefined;
  let openStepSince: Date | undefined;
  let lastStepAt: Date | undefined;
  for (const event of events) {
    const completed = event.activityTaskCompletedEventAttributes;
    const result = completed?.result ?? event.workflowExecutionCompletedEventAttributes?.result;
    if (completed?.scheduledEventId !== undefined) finished.add(String(completed.scheduledEventId));
    const reported = snapshotOf(result?.payloads?.[0]);
    if (reported !== undefined) {
      snapshot ??= reported;
      const position = reported.counts.claimedPosition;
      if (position !== undefined) reportedAt ??= timeOf(event);
      if (position !== undefined) claimedPosition = Math.max(claimedPosition ?? 0, position);
    }
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === 'sendStep') {
      lastStepAt ??= timeOf(event);
      if (!finished.has(String(event.eventId))) openStepSince ??= timeOf(event);
    }
  }
  const [newest] = events;
  const lastEventAt = newest === undefined ? undefined : timeOf(newest);
  return { snapshot, claimedPosition, reportedAt, openStepSince, lastStepAt, lastEventAt };
}

function snapshotOf(payload: Parameters<typeof defaultPayloadConverter.fromPayload>[0] | undefined | null) {
  if (payload === undefined || payload === null) return undefined;
  const value: unknown = defaultPayloadConverter.fromPayload(payload);
  if (typeof value !== 'object' || value === null || !('counts' in value)) return undefined;
  return value as CampaignSnapshot;
}

function timeOf({ eventTime }: Event): Date {
  return new Date(Number(eventTime?.seconds ?? 0) * 1000 + Number(eventTime?.nanos ?? 0) / 1e6);
}
