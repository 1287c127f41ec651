/** Failed recipients by reason, with the provider's explanation and what to do. */
import { Card, Table, Text, Title } from '@mantine/core';
import type { api } from '../../client.ts';
import { counted, number } from '../../format.ts';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { explain } from '../../reasons.ts';

export function Failures({ campaign }: { campaign: api.CampaignDetail }) {
  const groups = [
    { title: 'Failed', reasons: campaign.failed_reasons },
    { title: 'Skipped', reasons: campaign.skipped_reasons },
  ].filter(({ reasons }) => Object.keys(reasons).length > 0);
  if (groups.length === 0) return null;
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="sm">
        Who was not reached
      </Title>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Why, and what to do</Table.Th>
            <Table.Th ta="right">People</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.flatMap(({ title, reasons }) =>
            Object.entries(reasons)
              .toSorted(([, one], [, other]) => other - one)
              .map(([reason, count]) => (
                <Reason key={`${title} ${reason}`} {...{ title, reason, count }} campaignId={campaign.id} />
              )),
          )}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

interface ReasonProps {
  readonly title: string;
  readonly reason: string;
  readonly count: number;
  readonly campaignId: string;
}

function Reason({ title, reason, count, campaignId }: ReasonProps) {
  const { title: meaning, advice } = explain(reason);
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={600}>
          {meaning}
        </Text>
        <Text size="sm">{advice}</Text>
        <Text size="xs" c="dimmed">
          {title}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        <TextLink
          size="sm"
          aria-label={`${counted(count, 'person', 'people')}: ${meaning}`}
          to="/campaigns/$id/recipients"
          params={{ id: campaignId }}
          search={{ reason: [reason] }}
        >
          {number(count)}
        </TextLink>
      </Table.Td>
    </Table.Tr>
  );
}
