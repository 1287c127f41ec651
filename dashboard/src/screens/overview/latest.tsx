/** Lists the campaigns created last; running ones update while the screen is open. */
import { Stack, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { api } from '../../client.ts';
import { useCurrency } from '../../account.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { ErrorFace } from '../../parts/display/load-states.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { campaignColumns } from '../campaigns/columns.tsx';

export function LatestCampaigns({ list }: { list: UseQueryResult<readonly api.Campaign[]> }) {
  const currency = useCurrency();
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Campaigns
      </Title>
      {list.error && list.data === undefined ? (
        <ErrorFace error={list.error} retry={() => void list.refetch()} />
      ) : (
        <DataTable
          label="Latest campaigns"
          columns={campaignColumns(currency)}
          rows={list.data}
          keyOf={({ id }) => id}
        />
      )}
      <TextLink to="/campaigns" size="sm">
        All campaigns
      </TextLink>
    </Stack>
  );
}
