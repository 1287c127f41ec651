import { Badge } from '@mantine/core';
import { showState } from './states.ts';

interface StatusProps {
  readonly state: string;
  /** Overrides the state's colour, for example red for a campaign whose recipients all failed. */
  readonly colour?: string;
}

/** Shows a state as a word, which can be understood without its colour. */
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
