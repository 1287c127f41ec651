/** Recipients → Sent → Delivered → Read, in numbers and as shares of the step before. */
import { Box, SimpleGrid, Text } from '@mantine/core';
import type { api } from '../../client.ts';
import { number, share } from '../../format.ts';
import { ratesOf } from '../campaigns/rates.ts';

export function Funnel({ campaign }: { campaign: api.CampaignDetail }) {
  const { total_contacts: total, counters } = campaign;
  const { sent, delivered, read } = ratesOf(campaign);
  const steps = [
    { name: 'Recipients', count: total, of: undefined },
    { name: 'Sent', count: sent, of: total === 0 ? undefined : sent / total },
    { name: 'Delivered', count: counters.delivered + counters.read, of: delivered },
    { name: 'Read', count: counters.read, of: read },
  ];
  return (
    <SimpleGrid cols={{ base: 2, xs: 4 }} aria-label="Funnel" role="group">
      {steps.map(({ name, count, of }) => (
        <Box key={name}>
          <Text size="xs" c="dimmed">
            {name}
          </Text>
          <Text fz={20} fw={650} style={{ fontVariantNumeric: 'tabular-nums' }}>
            {number(count)}
          </Text>
          <Text size="xs" c="dimmed">
            {of === undefined ? '\u00A0' : share(of)}
          </Text>
        </Box>
      ))}
    </SimpleGrid>
  );
}
