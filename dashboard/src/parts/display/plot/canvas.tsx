import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { minuteTime, number, shortDay } from '../../../format.ts';
import { series, type Part, type Step } from './series.ts';

const wholeSteps = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((ten) => [1, 2, 5].map((one) => one * ten));
const minutes = (counts: readonly number[]) => counts.map((count) => count * 60);
/** Distances between labels: at least the length of one part. */
const distances: Readonly<Record<Step, number[]>> = {
  minute: minutes([1, 2, 5, 15, 30, 60, 180, 720, 1440]),
  hour: minutes([60, 180, 360, 720, 1440, 2880, 10_080]),
  day: minutes([1440, 2880, 10_080, 20_160]),
};
const height = 240;

/** The time, and the day below it where a new day begins. */
function labels(seconds: readonly number[], step: Step): string[] {
  let shown = '';
  return seconds.map((second) => {
    const at = new Date(second * 1000);
    const day = shortDay(at);
    if (step === 'day') return day;
    const label = day === shown ? minuteTime(at) : `${minuteTime(at)}\n${day}`;
    shown = day;
    return label;
  });
}

export interface CanvasProps {
  readonly parts: readonly Part[];
  readonly step: Step;
  readonly label: string;
  /** The part below the pointer. */
  readonly onHover: (part: Part | undefined) => void;
}

export function Canvas({ parts, step, label, onHover }: CanvasProps) {
  const holder = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const ink = scheme === 'dark' ? '#c1c7cd' : '#495057';
    const grid = scheme === 'dark' ? '#343a40' : '#e9ecef';
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const stepped = step === 'day' ? undefined : uPlot.paths.stepped?.({ align: 1 });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        // Margin for the last label, which is centred on its line.
        padding: [8, 40, null, null],
        legend: { show: false },
        cursor: { y: false },
        hooks: {
          setCursor: [({ cursor: { idx } }) => onHover(idx == null ? undefined : parts[idx])],
        },
        axes: [
          {
            ...axis,
            incrs: distances[step],
            values: (_, values) => labels(values, step),
            space: 70,
            size: step === 'day' ? 32 : 46,
          },
          {
            ...axis,
            // Room for the longest label: 8 px a character, and the tick.
            size: (_, values) =>
              Math.max(56, 16 + 8 * Math.max(0, ...(values ?? []).map(({ length }) => length))),
            incrs: wholeSteps,
            values: (_, values) => values.map((value) => number(value)),
          },
        ],
        scales: { y: { range: (_, _min, max) => [0, Math.max(4, max * 1.1)] } },
        series: [
          {},
          ...series.map(({ label: name, ...colour }) => ({
            label: name,
            stroke: colour[scheme],
            width: 2,
            ...(stepped && { paths: stepped }),
            points: { show: step === 'day', size: 6 },
          })),
        ],
      },
      [
        parts.map(({ at }) => Date.parse(at) / 1000),
        ...series.map(({ key }) => parts.map((part) => part[key])),
      ] as uPlot.AlignedData,
      element,
    );
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [parts, scheme, step, onHover]);
  return <div ref={holder} role="img" aria-label={label} />;
}
