/**
 * What the history of a campaign's workflow witnesses: how far its steps saw the campaign claimed, and whether a step of
 * sending was under way at a time. Read backwards from its end, so that its cost does not grow with its length.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import type { Orchestrator } from '../../orchestrator.ts';
import type { CampaignSnapshot } from '../../domain/campaigns/snapshot.ts';

export interface CampaignHistory {
  /** The farthest position that a finished step reported as claimed; undefined when none did. */
  readonly claimedPosition?: number | undefined;
  /** When the last step that reported a position had ended. */
  readonly reportedAt?: Date | undefined;
  /** The last standing of all. */
  readonly standing?: CampaignSnapshot | undefined;
  /** When the last step of sending that has no result was handed out; undefined when there is none. */
  readonly openStepSince?: Date | undefined;
  /** When the last step of sending was handed out, finished or not. */
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
 * As it was at `at`: a step that ended later, perhaps on a record that had been taken back meanwhile, was under way. Rejects when
 * there is no such workflow.
 */
export async function readCampaignHistory(
  client: Client,
  workflowId: string,
  at?: Date,
): Promise<CampaignHistory> {
  let runId = '';
  // A run that began by continuing another one may not have finished a step yet.
  for (let runs = 0; ; runs += 1) {
    const events = await readBackwards(client, { workflowId, runId, at });
    const witnessed = witness(events.filter((event) => at === undefined || timeOf(event) <= at));
    if (witnessed.standing !== undefined || runs === 3) return witnessed;
    const earlier = events.at(-1)?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (earlier === undefined || earlier === null || earlier === '') return witnessed;
    runId = earlier;
  }
}

/** Newest first: a page, and as many as it takes to have a page of those before `at`. */
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

/** Newest first. */
function witness(events: readonly Event[]): CampaignHistory {
  const finished = new Set<string>();
  let standing: CampaignSnapshot | undefined;
  let claimedPosition: number | undefined;
  let reportedAt: Date | undefined;
  let openStepSince: Date | undefined;
  let lastStepAt: Date | undefined;
  for (const event of events) {
    const completed = event.activityTaskCompletedEventAttributes;
    const result = completed?.result ?? event.workflowExecutionCompletedEventAttributes?.result;
    if (completed?.scheduledEventId !== undefined) finished.add(String(completed.scheduledEventId));
    const told = standingOf(result?.payloads?.[0]);
    if (told !== undefined) {
      standing ??= told;
      const position = told.counts.claimedPosition;
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
  return { standing, claimedPosition, reportedAt, openStepSince, lastStepAt, lastEventAt };
}

function standingOf(payload: Parameters<typeof defaultPayloadConverter.fromPayload>[0] | undefined | null) {
  if (payload === undefined || payload === null) return undefined;
  const value: unknown = defaultPayloadConverter.fromPayload(payload);
  if (typeof value !== 'object' || value === null || !('counts' in value)) return undefined;
  return value as CampaignSnapshot;
}

function timeOf({ eventTime }: Event): Date {
  return new Date(Number(eventTime?.seconds ?? 0) * 1000 + Number(eventTime?.nanos ?? 0) / 1e6);
}
