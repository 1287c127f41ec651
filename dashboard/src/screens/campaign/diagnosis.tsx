/** Why the campaign sends, or does not, in a sentence; the checks behind it on request. */
import { Alert, Button, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { goesOnByItself } from '../../../../src/domain/campaigns/diagnosis-facts.ts';
import { diagnoseStatus } from '../../../../src/domain/campaigns/diagnosis.ts';
import { api, client } from '../../client.ts';
import { counted, words } from '../../format.ts';
import { ErrorFace, LoadingFace } from '../../parts/display/load-states.tsx';
import { PlannedTime } from '../../parts/display/time.tsx';

const checkNames: Readonly<Record<string, string>> = { PREPARATION: 'Audience', PACE: 'Speed' };

export function Diagnosis({ campaign, isSending }: { campaign: api.CampaignDetail; isSending: boolean }) {
  const [opened, { toggle }] = useDisclosure();
  const { data, error, refetch } = useQuery({
    // The key includes the status, so that a change of status fetches at once.
    queryKey: ['campaign', campaign.id, 'diagnosis', campaign.status],
    queryFn: async () => (await api.getCampaignDiagnosis(client, campaign.id)).data,
    refetchInterval: isSending ? 60_000 : 30_000,
  });
  if (data === undefined) {
    return error === null ? (
      <LoadingFace rows={1} />
    ) : (
      <ErrorFace error={error} retry={() => void refetch()} />
    );
  }
  const checks = data.slice(1);
  const { pending, claimed, unknown, failed } = campaign.counters;
  // The sentence is made from the counters shown below it, so that both describe the same moment.
  const status = diagnoseStatus(
    {
      status: campaign.status,
      pauseReason: campaign.pause_reason,
      preparationError: campaign.preparation_error?.message ?? null,
      total: campaign.total_contacts,
      pending,
      underWay: claimed + unknown,
      failed,
    },
    checks,
  );
  const warning = checks.find(({ ok, action }) => ok && action !== null);
  const wantsMoney = checks.some(({ check, action }) => check === 'WALLET' && action !== null);
  // In the reader's zone, which the service does not know.
  const planned =
    status.ok && campaign.status === 'SCHEDULED' ? (campaign.begins_at ?? campaign.scheduled_at) : null;
  const { cancelled: left } = campaign.counters;
  const sentence =
    campaign.status === 'CANCELLED' && left > 0
      ? `Cancelled: ${counted(left, 'person', 'people')} did not get a message.`
      : status.detail;
  const cost = checks.find(({ check }) => check === 'WALLET')?.detail;
  const calm = warning ? 'yellow' : 'teal';
  const urgent = status.action === goesOnByItself ? 'blue' : 'orange';
  return (
    <Alert color={status.ok ? calm : urgent} variant="light" role="region" aria-label="Diagnosis">
      <Stack gap={6}>
        <Text fw={600}>
          {planned === null ? (
            sentence
          ) : (
            <>
              Scheduled for <PlannedTime at={planned} />
              {campaign.total_contacts > 0 && `: ${counted(campaign.total_contacts, 'person', 'people')}`}.
            </>
          )}
        </Text>
        {planned !== null && cost !== undefined && <Text size="sm">{cost}</Text>}
        {status.action && <Text size="sm">{status.action}</Text>}
        {status.ok && warning && (
          <Text size="sm">
            {warning.detail} {warning.action}
          </Text>
        )}
        <Group gap="sm">
          {wantsMoney && (
            <Button
              size="xs"
              renderRoot={(props) => <Link {...props} to="/wallet" search={{ campaign: campaign.id }} />}
            >
              Recharge
            </Button>
          )}
          <UnstyledButton onClick={toggle} aria-expanded={opened} fz="sm" td="underline">
            {opened ? 'Hide checks' : 'Show checks'}
          </UnstyledButton>
        </Group>
        {opened && (
          <Stack component="ul" gap={4} m={0} pl="md">
            {checks.map(({ check, ok, detail }) => (
              <Text key={check} component="li" size="sm">
                <b>{checkNames[check] ?? words(check)}</b>
                {ok ? ': ' : ' (blocking): '}
                {detail}
              </Text>
            ))}
          </Stack>
        )}
      </Stack>
    </Alert>
  );
}
