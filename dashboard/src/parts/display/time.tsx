import { Text, Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { exactTime, relativeTime } from '../../format.ts';

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

/** How long ago, with the exact time in the reader's zone on hover, focus and touch. */
export function Time({ at }: { at: string | null | undefined }) {
  useSyncExternalStore(follow, () => tick);
  if (!at) return <>—</>;
  const date = new Date(at);
  return (
    <Tooltip label={exactTime(date)} events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={at} tabIndex={0} inherit>
        {relativeTime(date)}
      </Text>
    </Tooltip>
  );
}
