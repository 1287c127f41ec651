/** The columns of a table of campaigns. */
import { Box, Text, Tooltip } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { type api } from '../../client.ts';
import { number, share } from '../../format.ts';
import { Money } from '../../parts/display/money.tsx';
import type { Column } from '../../parts/tables/data-table.tsx';
import { doneOf, StateBar } from '../../parts/display/state-bar.tsx';
import { Status } from '../../parts/display/status.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';
import { waits } from '../../reasons.ts';
import { colourOf, ratesOf } from './rates.ts';

// The rows of the first screen are shown without waiting for it.
const RowMenu = lazy(() => import('./row-menu.tsx').then((file) => ({ default: file.RowMenu })));

type Campaign = api.Campaign;

const none = -1;

export const campaignColumns = (currency: string): readonly Column<Campaign>[] => [
  { key: 'name', title: 'Name', cell: (row) => <Name campaign={row} />, sortBy: ({ name }) => name },
  {
    key: 'status',
    title: 'Status',
    cell: (row) => <State campaign={row} />,
    sortBy: ({ status }) => status,
    width: 112,
  },
  {
    key: 'audience',
    title: 'Audience',
    cell: ({ total_contacts: total }) => number(total),
    sortBy: ({ total_contacts: total }) => total,
    isNumber: true,
    width: 92,
  },
  { key: 'progress', title: 'Progress', cell: (row) => <Progress campaign={row} />, width: 120 },
  {
    key: 'delivered',
    title: 'Delivered',
    cell: (row) => share(ratesOf(row).delivered),
    sortBy: (row) => ratesOf(row).delivered ?? none,
    isNumber: true,
    width: 94,
  },
  {
    key: 'read',
    title: 'Read',
    cell: (row) => share(ratesOf(row).read),
    sortBy: (row) => ratesOf(row).read ?? none,
    isNumber: true,
    width: 64,
  },
  {
    key: 'failed',
    title: 'Failed',
    cell: (row) => share(ratesOf(row).failed),
    sortBy: (row) => ratesOf(row).failed ?? none,
    isNumber: true,
    width: 70,
  },
  {
    key: 'cost',
    title: 'Cost',
    cell: ({ charged }) => <Money amount={charged} currency={currency} />,
    sortBy: ({ charged }) => Number(charged),
    isNumber: true,
    width: 116,
  },
  {
    key: 'created',
    title: 'Created',
    cell: ({ created_at: at }) => <Time at={at} />,
    sortBy: ({ created_at: at }) => at,
    width: 108,
  },
  {
    key: 'menu',
    title: '',
    cell: (row) => (
      <Suspense fallback={<Box h={28} />}>
        <RowMenu campaign={row} />
      </Suspense>
    ),
    width: 44,
  },
];

function Name({ campaign: { id, name, template } }: { campaign: Campaign }) {
  return (
    <Box>
      <TextLink
        to="/campaigns/$id"
        params={{ id }}
        size="sm"
        fw={600}
        dir="auto"
        lineClamp={3}
        title={name}
        style={{ overflowWrap: 'anywhere' }}
      >
        {name}
      </TextLink>
      <Text size="xs" c="dimmed" truncate title={template.name}>
        {template.name}
      </Text>
    </Box>
  );
}

function State({ campaign }: { campaign: Campaign }) {
  const { status, scheduled_at: planned, waiting_for: waiting } = campaign;
  return (
    <Box>
      <Status state={status} {...(colourOf(campaign) && { colour: colourOf(campaign) })} />
      {status === 'SCHEDULED' && planned && (
        <Text size="xs" c="dimmed" mt={2}>
          <Time at={planned} />
        </Text>
      )}
      {waiting && (
        <Tooltip label={`Waits: ${waits[waiting]}`} events={{ hover: true, focus: true, touch: true }}>
          <Text size="xs" c="dimmed" mt={2} lineClamp={2}>
            Waits: {waits[waiting]}
          </Text>
        </Tooltip>
      )}
    </Box>
  );
}

function Progress({ campaign }: { campaign: Campaign }) {
  const { total_contacts: total, counters, preparation_status: preparation, status } = campaign;
  if (total === 0)
    return (
      <Text size="xs" c="dimmed">
        {preparation === 'PREPARING' && status !== 'CANCELLED' ? 'Preparing the audience …' : '—'}
      </Text>
    );
  return (
    <Box style={{ display: 'flex', alignItems: 'center', justifyContent: 'flex-end', gap: 8 }}>
      <Box w={52}>
        <StateBar counters={counters} slim />
      </Box>
      <Text
        size="xs"
        c="dimmed"
        miw={44}
        ta="right"
        style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}
      >
        {share(doneOf(campaign) / total)}
      </Text>
    </Box>
  );
}
