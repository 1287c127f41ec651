/** Messages per minute as a plot, and the same as a table. */
import { Box, Group, SegmentedControl, Table, Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { api } from '../client.ts';
import { exactTime, minuteTime, number } from '../format.ts';

type Part = api.TimelinePart;

// Nobody sends half a message.
const wholeSteps = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((ten) => [1, 2, 5].map((one) => one * ten));

const stepped = uPlot.paths.stepped?.({ align: 1 });

const series = [
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
      {view === 'plot' ? <Canvas parts={parts} /> : <PartsTable parts={parts} />}
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

/** Minutes in which nothing happened are zeros, not gaps that a line would bridge. */
function filled(parts: readonly Part[]): readonly Part[] {
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return [];
  const known = new Map(parts.map((part) => [Date.parse(part.at), part]));
  const begin = Date.parse(first.at) - 60_000;
  const count = Math.min(2_000, (Date.parse(last.at) - begin) / 60_000 + 2);
  return Array.from({ length: count }, (_, minute) => {
    const at = begin + minute * 60_000;
    return known.get(at) ?? { at: new Date(at).toISOString(), accepted: 0, delivered: 0, read: 0, failed: 0 };
  });
}

function Canvas({ parts }: { parts: readonly Part[] }) {
  const holder = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const all = filled(parts);
    const ink = scheme === 'dark' ? '#c1c7cd' : '#495057';
    const grid = scheme === 'dark' ? '#343a40' : '#e9ecef';
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: 220,
        legend: { show: false },
        cursor: { y: false },
        axes: [
          {
            ...axis,
            // Nothing finer than a minute is known.
            incrs: [1, 5, 15, 30, 60, 180, 720, 1440].map((minutes) => minutes * 60),
            values: (_, values) => values.map((value) => minuteTime(new Date(value * 1000))),
            space: 70,
          },
          {
            ...axis,
            size: 56,
            incrs: wholeSteps,
            values: (_, values) => values.map((value) => number(value)),
          },
        ],
        scales: { y: { range: (_, _min, max) => [0, Math.max(4, max * 1.1)] } },
        series: [
          {},
          ...series.map(({ label, ...colour }) => ({
            label,
            stroke: colour[scheme],
            width: 2,
            // A minute's messages belong to all of it.
            paths: stepped,
            points: { show: false },
          })),
        ],
      },
      [
        all.map(({ at }) => Date.parse(at) / 1000),
        ...series.map(({ key }) => all.map((part) => part[key])),
      ] as uPlot.AlignedData,
      element,
    );
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 220 }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [parts, scheme]);
  return <div ref={holder} role="img" aria-label="Messages per minute; the table holds the numbers" />;
}

function PartsTable({ parts }: { parts: readonly Part[] }) {
  return (
    <Table.ScrollContainer minWidth={420} mah={260}>
      <Table stickyHeader>
        <Table.Thead>
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
              <Table.Td>{exactTime(new Date(part.at))}</Table.Td>
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
