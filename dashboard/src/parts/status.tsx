import { Badge } from '@mantine/core';
import { words } from '../format.ts';

const colours: Readonly<Record<string, string>> = {
  RUNNING: 'teal',
  COMPLETED: 'gray',
  PAUSED: 'orange',
  FAILED: 'red',
  CANCELLED: 'gray',
  SCHEDULED: 'blue',
  DRAFT: 'blue',
  APPROVED: 'teal',
  REJECTED: 'red',
  active: 'teal',
  inactive: 'gray',
  blocked: 'red',
  delivered: 'teal',
  failed: 'red',
  pending: 'blue',
  sending: 'blue',
  healthy: 'teal',
  failing: 'red',
  DELIVERED: 'teal',
  READ: 'teal',
};

/** A state in a word; the colour only repeats it. */
export function Status({ state }: { state: string }) {
  return (
    <Badge
      style={{ flexShrink: 0 }}
      miw="max-content"
      variant="light"
      autoContrast
      color={colours[state] ?? 'gray'}
      radius="sm"
      tt="none"
      fw={600}
    >
      {words(state)}
    </Badge>
  );
}
