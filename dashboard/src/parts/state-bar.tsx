/** One bar of all recipients by their state, and the same as numbers. */
import { Box, Group, Text, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { api } from '../client.ts';
import { number } from '../format.ts';
import classes from './state-bar.module.css';

export const shownStates = [
  { key: 'read', label: 'Read', colour: '#0f766e', states: ['READ'] },
  { key: 'delivered', label: 'Delivered', colour: '#14b8a6', states: ['DELIVERED'] },
  { key: 'sent', label: 'Sent', colour: '#5eead4', states: ['SENT', 'ACCEPTED'] },
  { key: 'claimed', label: 'Being sent', colour: '#93c5fd', states: ['CLAIMED'] },
  { key: 'pending', label: 'Waiting', colour: '#cbd5e1', states: ['PENDING'] },
  { key: 'unknown', label: 'Outcome unknown', colour: '#f59e0b', states: ['UNKNOWN'] },
  { key: 'failed', label: 'Failed', colour: '#dc2626', states: ['FAILED'] },
  { key: 'cancelled', label: 'Cancelled', colour: '#94a3b8', states: ['CANCELLED'] },
] as const;

export type Counters = Readonly<Record<string, number>>;

/** Who was cancelled was not sent to. */
export const doneOf = ({ total_contacts: total, counters }: api.Campaign): number =>
  total - counters.pending - counters.claimed - counters.cancelled;

export function partsOf(counters: Counters) {
  return shownStates
    .map((state) => ({
      ...state,
      count: (counters[state.key] ?? 0) + (state.key === 'sent' ? (counters['accepted'] ?? 0) : 0),
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
      {partsOf(counters).map(({ key, label, colour, count, states }) => (
        <UnstyledButton
          key={key}
          renderRoot={(props) => (
            <Link
              {...props}
              to="/campaigns/$id/recipients"
              params={{ id: campaignId }}
              search={{ state: [...states] }}
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
