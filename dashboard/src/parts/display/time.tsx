import { Text, Tooltip } from '@mantine/core';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { exactTime, plannedTime, relativeTime } from '../../format.ts';

const tickEveryMs = 30_000;
let tick = Date.now();
const listeners = new Set<() => void>();
let clock: ReturnType<typeof setInterval> | undefined;

/** One clock for all times on the screen, so that they change together. */
function follow(listener: () => void): () => void {
  listeners.add(listener);
  clock ??= setInterval(() => {
    tick = Date.now();
    for (const notify of listeners) notify();
  }, tickEveryMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
}

/** Draws a component again every 30 s, for texts such as `in 5 min`. */
export const useClock = (): void => void useSyncExternalStore(follow, () => tick);

/** True within the rows of a list, where a tab stop for each time would double the way through the list. */
export const InRows = createContext(false);

/** How long ago, with the exact time in the reader's zone on hover, focus and touch. */
export function Time({ at }: { at: string | null | undefined }) {
  useClock();
  const isInRow = useContext(InRows);
  if (!at) return <>—</>;
  const date = new Date(at);
  return (
    <Tooltip position="bottom" label={exactTime(date)} events={{ hover: true, focus: true, touch: true }}>
      <Text
        component="time"
        dateTime={at}
        inherit
        style={{ whiteSpace: 'nowrap' }}
        {...(!isInRow && { tabIndex: 0 })}
      >
        {relativeTime(date)}
      </Text>
    </Tooltip>
  );
}

/** `Wed 25 Nov, 09:00 (Europe/Berlin), in 23 h` */
export function PlannedTime({ at }: { at: string }) {
  useClock();
  return <>{plannedTime(new Date(at))}</>;
}
