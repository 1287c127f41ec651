import { Text, Tooltip } from '@mantine/core';
import { exactTime, relativeTime } from '../../format.ts';

/** How long ago, with the exact time in the reader's zone on hover, focus and touch. */
export function Time({ at }: { at: string | null | undefined }) {
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
