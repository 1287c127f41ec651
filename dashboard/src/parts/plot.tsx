/** Messages per minute as a plot, and the same as a table. */
import { Box, Group, SegmentedControl, Table, Text, useComputedColorScheme } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { api } from '../client.ts';
import { dayAndMinuteTime, number } from '../format.ts';
import { LoadingFace } from './faces.tsx';

export type Part = api.TimelinePart;

// Falls back to the table: after an upgrade its file may be gone, and uPlot fails where the browser names no proper language.
const Canvas = lazy(() =>
  import('./plot-canvas.tsx').then(
    ({ Canvas: loaded }) => ({ default: loaded }),
    () => ({ default: PartsTable }),
  ),
);

export const series = [
  { key: 'accepted', label: 'Sent', light: '#0f766e', dark: '#2dd4bf' },
  { key: 'delivered', label: 'Delivered', light: '#1d4ed8', dark: '#93c5fd' },
  { key: 'read', label: 'Read', light: '#7e22ce', dark: '#d8b4fe' },
  { key: 'failed', label: 'Failed', light: '#b91c1c', dark: '#fca5a5' },
] as const;

export function TimelinePlot({ parts }: { parts: readonly Part[] }) {
  const [view, setView] = useState('plot');
  return (
    <Box>
      <Group justify="space-between" mb="xs">
        <Legend />
        <SegmentedControl
          size="xs"
          aria-label="Shown as"
          value={view}
          onChange={setView}
          data={[
            { value: 'plot', label: 'Plot' },
            { value: 'table', label: 'Table' },
          ]}
        />
      </Group>
      <Suspense fallback={<LoadingFace rows={3} />}>
        {view === 'plot' ? <Canvas parts={parts} /> : <PartsTable parts={parts} />}
      </Suspense>
    </Box>
  );
}

function Legend() {
  const scheme = useComputedColorScheme('light');
  return (
    <Group gap="md">
      {series.map(({ key, label, ...colour }) => (
        <Group key={key} gap={6}>
          <Box w={14} h={3} style={{ background: colour[scheme] }} aria-hidden />
          <Text size="xs">{label}</Text>
        </Group>
      ))}
    </Group>
  );
}

function PartsTable({ parts }: { parts: readonly Part[] }) {
  return (
    <Table.ScrollContainer minWidth={420} mah={260}>
      <Table stickyHeader>
        <Table.Thead bg="var(--mantine-color-default)">
          <Table.Tr>
            <Table.Th>Minute</Table.Th>
            {series.map(({ key, label }) => (
              <Table.Th key={key} ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {parts.toReversed().map((part) => (
            <Table.Tr key={part.at}>
              <Table.Td>{dayAndMinuteTime(new Date(part.at))}</Table.Td>
              {series.map(({ key }) => (
                <Table.Td key={key} ta="right">
                  {number(part[key])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
