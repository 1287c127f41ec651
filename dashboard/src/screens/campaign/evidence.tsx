/** The failures that paused a campaign: what failed, how often and since when, with the provider's words. */
import { Card, Stack, Text } from '@mantine/core';
import { describeEvidence } from '../../../../src/domain/campaigns/reasons.ts';
import type { api } from '../../client.ts';
import { minuteTime } from '../../format.ts';

export function Evidence({ campaign }: { campaign: api.CampaignDetail }) {
  const { pause_evidence: evidence, pause_reason: reason } = campaign;
  if (evidence === null || reason !== 'FAILURES') return null;
  return (
    <Card withBorder component="section" aria-label="Why it was paused">
      <Stack gap={6}>
        <Text fw={600}>Why it was paused</Text>
        <Text size="sm">{describeEvidence(evidence)}</Text>
        <Text size="sm" c="dimmed">
          {`First at ${minuteTime(new Date(evidence.first_at))}, last at ${minuteTime(new Date(evidence.last_at))}`}
        </Text>
        {evidence.details.length > 0 && (
          <Stack component="ul" gap={4} m={0} pl="md">
            {evidence.details.map((detail) => (
              <Text key={detail} component="li" size="sm" dir="auto">
                {detail}
              </Text>
            ))}
          </Stack>
        )}
      </Stack>
    </Card>
  );
}
