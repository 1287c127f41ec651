/** The plot of a timeline. */
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { minuteTime, number } from '../format.ts';
import { series, type Part } from './plot.tsx';

// Nobody sends half a message.
const wholeSteps = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((ten) => [1, 2, 5].map((one) => one * ten));

const stepped = uPlot.paths.stepped?.({ align: 1 });

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

export function Canvas({ parts }: { parts: readonly Part[] }) {
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
        // The last hour's name is wider than what follows it.
        padding: [null, 32, null, null],
        legend: { show: false },
        cursor: { y: false },
        axes: [
          {
            ...axis,
            // Nothing finer than a minute is known.
            incrs: [1, 2, 5, 15, 30, 60, 180, 720, 1440].map((minutes) => minutes * 60),
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
