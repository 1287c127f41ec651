/** A campaign that waits for money: what is missing, and its start. */
import { Alert, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, client } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { ButtonLink } from '../../parts/controls/button-link.tsx';
import { Loaded } from '../../parts/display/load-states.tsx';
import { useCampaignAction } from '../campaign/campaign-actions.ts';

export function useDiagnosis(campaignId: string | undefined) {
  return useQuery({
    queryKey: ['campaign', campaignId, 'diagnosis'],
    queryFn: async () => (await api.getCampaignDiagnosis(client, campaignId ?? '')).data,
    enabled: campaignId !== undefined,
    refetchInterval: 15_000,
  });
}

export function Waiting({ campaign: { id, name, status: state } }: { campaign: api.CampaignDetail }) {
  const diagnosis = useDiagnosis(id);
  const navigate = useNavigate();
  const action = useCampaignAction(id);
  const [status] = diagnosis.data ?? [];
  const wallet = diagnosis.data?.find(({ check }) => check === 'WALLET');
  if (status === undefined) return <Loaded query={diagnosis}>{() => null}</Loaded>;
  return (
    <Alert color={status.ok ? 'teal' : 'orange'} variant="light" role="status">
      <Stack gap={6}>
        <Text fw={600} dir="auto">
          {name}
        </Text>
        <Text>{status.detail}</Text>
        {status.action && <Text size="sm">{status.action}</Text>}
        {status.ok && wallet?.action && (
          <Text size="sm">
            {wallet.detail} {wallet.action}
          </Text>
        )}
        <Group>
          {state === 'PAUSED' && (
            <ActionButton
              size="xs"
              variant={wallet?.ok === false ? 'default' : 'filled'}
              loading={action.isPending}
              onClick={() =>
                action.mutate('start', {
                  onSuccess: () => void navigate({ to: '/campaigns/$id', params: { id } }),
                })
              }
            >
              Start
            </ActionButton>
          )}
          <ButtonLink to="/campaigns/$id" params={{ id }} size="xs" variant="default">
            Back to the campaign
          </ButtonLink>
        </Group>
        {action.error && (
          <Text c="red" role="alert">
            {action.error.message}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}
