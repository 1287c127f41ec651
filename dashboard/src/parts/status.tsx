import { Badge } from '@mantine/core';
import { showState } from './states.ts';

interface StatusProps {
  readonly state: string;
  /** In place of the state's own colour, such as red for a campaign in which everybody failed. */
  readonly colour?: string;
}

/** A state in a word; the colour only repeats it. */
export function Status({ state, colour }: StatusProps) {
  const { word, colour: own } = showState(state);
  return (
    <Badge
      style={{ flexShrink: 0 }}
      miw="max-content"
      variant="light"
      color={colour ?? own}
      radius="sm"
      tt="none"
      fw={600}
    >
      {word}
    </Badge>
  );
}
