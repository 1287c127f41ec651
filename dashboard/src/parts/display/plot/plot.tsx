/** Messages over time as a plot with dates and values on hover, and the same as a table. */
import { Box, Group, SegmentedControl, Text, useComputedColorScheme } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import { dayAndMinuteTime, number, shortDay } from '../../../format.ts';
import { LoadingFace } from '../load-states.tsx';
import { filled, grouped, series, type Part, type Step } from './series.ts';
import { PartsTable } from './table.tsx';

// The table replaces the plot where its file cannot be loaded: after an upgrade it may be gone.
const Canvas = lazy(() =>
  import('./canvas.tsx').then(
    ({ Canvas: loaded }) => ({ default: loaded }),
    () => ({ default: PartsTable }),
  ),
);

interface PlotProps {
  readonly parts: readonly Part[];
  readonly step: Step;
  /** The first and last moment shown; those of the parts where absent. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
}

export function Plot({ parts, step, from, until }: PlotProps) {
  const [view, setView] = useState('plot');
  const [hovered, setHovered] = useState<Part>();
  const sums = useMemo(() => grouped(parts, step), [parts, step]);
  const [begin, end] = [from?.getTime(), until?.getTime()];
  const all = useMemo(
    () =>
      filled(
        sums,
        step,
        begin === undefined ? undefined : new Date(begin),
        end === undefined ? undefined : new Date(end),
      ),
    [sums, step, begin, end],
  );
  return (
    <Box>
      <Group justify="space-between" mb="xs" wrap="nowrap" align="flex-start">
        <Legend hovered={view === 'plot' ? hovered : undefined} step={step} />
        <SegmentedControl
          size="xs"
          aria-label="Shown as"
          value={view}
          onChange={setView}
          data={[
            { value: 'plot', label: 'Plot' },
            { value: 'table', label: 'Table' },
          ]}
          style={{ flexShrink: 0 }}
        />
      </Group>
      <Suspense fallback={<LoadingFace rows={3} />}>
        {view === 'plot' ? (
          <Canvas
            parts={all}
            step={step}
            label={`Messages per ${step}; the table holds the numbers`}
            onHover={setHovered}
          />
        ) : (
          <PartsTable parts={sums} step={step} />
        )}
      </Suspense>
    </Box>
  );
}

/** Legend of the lines, with the values of the part below the pointer. */
function Legend({ hovered, step }: { hovered: Part | undefined; step: Step }) {
  const scheme = useComputedColorScheme('light');
  return (
    <Group gap="md" mih={22} style={{ rowGap: 2 }}>
      {series.map(({ key, label, ...colour }) => (
        <Group key={key} gap={6} wrap="nowrap">
          <Box w={14} h={3} style={{ background: colour[scheme] }} aria-hidden />
          <Text size="xs" style={{ fontVariantNumeric: 'tabular-nums' }}>
            {label}
            {hovered && <b> {number(hovered[key])}</b>}
          </Text>
        </Group>
      ))}
      {!hovered && (
        <Text size="xs" c="dimmed">
          messages per {step}
        </Text>
      )}
      {hovered && (
        <Text size="xs" c="dimmed">
          {step === 'day' ? shortDay(new Date(hovered.at)) : dayAndMinuteTime(new Date(hovered.at))}
        </Text>
      )}
    </Group>
  );
}
