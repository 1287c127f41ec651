import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
  type ScheduleOptionsAction,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';

/** Creates a schedule, or updates one that an earlier release defined differently. A paused schedule stays paused. */
export async function keepHourlySchedule(
  { schedule }: Client,
  scheduleId: string,
  action: ScheduleOptionsAction,
): Promise<void> {
  const handle = schedule.getHandle(scheduleId);
  try {
    const present = await handle.describe();
    if (!isHourly(present, action)) await handle.update(({ state }) => ({ ...hourly, action, state }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    await schedule.create({ scheduleId, ...hourly, action }).catch(unlessMadeMeanwhile);
  }
}

const hourMs = 3_600_000;
const hourly = {
  // 10 minutes of jitter spread the accounts, so that they do not all sync at once.
  spec: { intervals: [{ every: hourMs, offset: 0 }], jitter: hourMs / 6 },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: hourMs / 6 },
};

function isHourly({ spec, policies, action }: ScheduleDescription, wanted: ScheduleOptionsAction): boolean {
  const { intervals, jitter } = spec;
  const { overlap, catchupWindow } = policies;
  const { workflowType, taskQueue, args } = action;
  return isDeepStrictEqual(
    [
      { spec: { intervals, jitter }, policies: { overlap, catchupWindow } },
      workflowType,
      taskQueue,
      args,
      shown(action),
    ],
    [hourly, wanted.workflowType, wanted.taskQueue, wanted.args, shown(wanted)],
  );
}

/** Returns search attributes as pairs: a description holds them as a map, a definition as pairs. */
function shown({ typedSearchAttributes = [] }: Pick<ScheduleOptionsAction, 'typedSearchAttributes'>) {
  return typedSearchAttributes instanceof TypedSearchAttributes
    ? typedSearchAttributes.getAll()
    : typedSearchAttributes;
}

function unlessMadeMeanwhile(error: unknown): void {
  if (!(error instanceof ScheduleAlreadyRunning)) throw error;
}
