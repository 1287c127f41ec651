/** One bar of all recipients by their state, and the same as numbers. */
import { Box, Group, Text, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { api } from '../../client.ts';
import { number } from '../../format.ts';
import { stateWord } from './states.ts';
import classes from './state-bar.module.css';

const shownStates = [
  { key: 'read', state: 'READ', colour: '#7e22ce' },
  { key: 'delivered', state: 'DELIVERED', colour: '#3b82f6' },
  { key: 'sent', state: 'SENT', colour: '#0f766e' },
  { key: 'accepted', state: 'ACCEPTED', colour: '#5eead4' },
  { key: 'claimed', state: 'CLAIMED', colour: '#93c5fd' },
  { key: 'pending', state: 'PENDING', colour: '#cbd5e1' },
  { key: 'unknown', state: 'UNKNOWN', colour: '#f59e0b' },
  { key: 'failed', state: 'FAILED', colour: '#dc2626' },
  { key: 'cancelled', state: 'CANCELLED', colour: '#94a3b8' },
] as const;

export type Counters = Readonly<Record<(typeof shownStates)[number]['key'], number>>;

/** Recipients that were sent to or failed; cancelled ones were not sent to. */
export const doneOf = ({ total_contacts: total, counters }: api.Campaign): number =>
  total - counters.pending - counters.claimed - counters.cancelled;

function partsOf(counters: Counters) {
  return shownStates
    .map((state) => ({
      ...state,
      label: stateWord(state.state),
      count: counters[state.key],
    }))
    .filter(({ count }) => count > 0);
}

export function StateBar({ counters, slim = false }: { counters: Counters; slim?: boolean }) {
  const parts = partsOf(counters);
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  const label =
    total === 0
      ? 'No recipients yet'
      : parts.map(({ label: name, count }) => `${name} ${number(count)}`).join(', ');
  return (
    <Box role="img" aria-label={label} className={classes['bar']} h={slim ? 8 : 20}>
      {parts.map(({ key, colour, count }) => (
        <Box key={key} style={{ flexGrow: count, background: colour, minWidth: 3 }} />
      ))}
    </Box>
  );
}

/** Each number leads to the recipients it counts. */
export function StateLegend({ counters, campaignId }: { counters: Counters; campaignId: string }) {
  return (
    <Group gap="lg">
      {partsOf(counters).map(({ key, label, colour, count, state }) => (
        <UnstyledButton
          key={key}
          renderRoot={(props) => (
            <Link
              {...props}
              to="/campaigns/$id/recipients"
              params={{ id: campaignId }}
              search={{ state: [state] }}
            />
          )}
        >
          <Group gap={8} wrap="nowrap">
            <Box w={10} h={10} style={{ background: colour, borderRadius: 3 }} aria-hidden />
            <Text size="sm">{label}</Text>
            <Text size="sm" fw={700} className={classes['number']}>
              {number(count)}
            </Text>
          </Group>
        </UnstyledButton>
      ))}
    </Group>
  );
}
