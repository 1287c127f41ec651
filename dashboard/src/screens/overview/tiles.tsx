import { Box, Card, Group, SimpleGrid, Text, useComputedColorScheme } from '@mantine/core';
import { IconTrendingDown, IconTrendingUp } from '@tabler/icons-react';
import type { api } from '../../client.ts';
import { useCurrency } from '../../account.ts';
import { counted, money, number, percent } from '../../format.ts';
import { beginOf, grouped } from '../../parts/display/plot/series.ts';

type Point = api.OverviewPoint;

interface Sums {
  readonly accepted: number;
  readonly delivered: number;
  readonly read: number;
  readonly charged: number;
}

const sumOf = (points: readonly Point[]): Sums => ({
  accepted: points.reduce((sum, { accepted }) => sum + accepted, 0),
  delivered: points.reduce((sum, { delivered }) => sum + delivered, 0),
  read: points.reduce((sum, { read }) => sum + read, 0),
  charged: points.reduce((sum, { charged }) => sum + Number(charged), 0),
});

const dayOf = ({ at }: Point): string => beginOf(new Date(at), 'day').toISOString();

const share = (part: number, whole: number): number => (whole === 0 ? 0 : Math.min(1, part / whole));

export function Tiles({ points, begin }: { points: readonly Point[]; begin: Date }) {
  const currency = useCurrency();
  const isNow = ({ at }: Point) => Date.parse(at) >= begin.getTime();
  const recent = points.filter(isNow);
  const now = sumOf(recent);
  const before = sumOf(points.filter((point) => !isNow(point)));
  const byDay = grouped(recent, 'day');
  const change = (one: number, other: number) => (other === 0 ? undefined : (one - other) / other);
  const rate = (key: 'delivered' | 'read') => {
    const difference = share(now[key], now.accepted) - share(before[key], before.accepted);
    return before.accepted === 0 ? undefined : difference;
  };
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      <Tile
        name="Messages sent"
        value={number(now.accepted)}
        change={change(now.accepted, before.accepted)}
        line={byDay.map(({ accepted }) => accepted)}
      />
      <Tile
        name="Delivered"
        value={percent(now.delivered, now.accepted)}
        change={rate('delivered')}
        isPoints
        line={byDay.map(({ delivered, accepted }) => share(delivered, accepted))}
      />
      <Tile
        name="Read"
        value={percent(now.read, now.accepted)}
        change={rate('read')}
        isPoints
        line={byDay.map(({ read, accepted }) => share(read, accepted))}
      />
      <Tile
        name="Cost"
        value={money(now.charged.toFixed(2), currency)}
        change={change(now.charged, before.charged)}
        isNeutral
        line={byDay.map(({ at }) => sumOf(recent.filter((point) => dayOf(point) === at)).charged)}
      />
    </SimpleGrid>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  /** A share: 0.1 is a tenth more than before; undefined where there is nothing to compare with. */
  readonly change: number | undefined;
  /** The change is between two percentages. */
  readonly isPoints?: boolean;
  /** An increase is neither good nor bad. */
  readonly isNeutral?: boolean;
  readonly line: readonly number[];
}

function Tile({ name, value, change, isPoints, isNeutral, line }: TileProps) {
  const isDown = (change ?? 0) < 0;
  const isSame = change === undefined || Math.abs(change) < least;
  const colour = isDown ? 'red' : 'teal';
  const Icon = isDown ? IconTrendingDown : IconTrendingUp;
  return (
    <Card withBorder padding="md">
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text
        fz={26}
        fw={650}
        lh={1.3}
        style={{ fontVariantNumeric: 'tabular-nums', overflowWrap: 'anywhere' }}
      >
        {value}
      </Text>
      <Group justify="space-between" align="flex-end" wrap="nowrap" mt={2} gap="xs">
        <Group
          gap={4}
          wrap="nowrap"
          c={isNeutral || isSame ? 'dimmed' : `var(--mantine-color-${colour}-light-color)`}
        >
          {!isSame && <Icon size={15} aria-hidden style={{ flexShrink: 0 }} />}
          <Text size="xs">{changeText(change, isPoints)}</Text>
        </Group>
        <Box visibleFrom="xs" style={{ flex: 'none' }}>
          <Sparkline values={line} />
        </Box>
      </Group>
    </Card>
  );
}

/** A smaller change is none. */
const least = 0.005;
/** Above it a percentage is hard to read. */
const mostPercent = 2;

function changeText(change: number | undefined, isPoints = false): string {
  if (change === undefined) return 'No earlier data';
  if (Math.abs(change) < least) return 'No change';
  if (!isPoints && change > mostPercent) return `${number(Math.round(change + 1))} × as much`;
  const size = Math.round(Math.abs(change) * 100);
  return `${change < 0 ? 'Down' : 'Up'} ${isPoints ? counted(size, 'point') : `${number(size)} %`}`;
}

const [width, height] = [88, 28];

function Sparkline({ values }: { values: readonly number[] }) {
  const scheme = useComputedColorScheme('light');
  if (values.length < 2) return null;
  const most = Math.max(...values) || 1;
  const points = values.map(
    (value, at) => `${(at / (values.length - 1)) * width},${height - 2 - (value / most) * (height - 4)}`,
  );
  return (
    <svg width={width} height={height} aria-hidden style={{ flexShrink: 0 }}>
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={scheme === 'dark' ? '#2dd4bf' : '#0f766e'}
        strokeWidth={1.6}
      />
    </svg>
  );
}
