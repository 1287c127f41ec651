/** Pause, start, cancel, and writing to those that failed. */
import { Alert, Button, Group, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isFinished } from '../../../src/domain/campaigns/campaign.ts';
import { api, client } from '../client.ts';
import { number } from '../format.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import type { Detail } from './campaign.tsx';

const moves = { pause: api.pauseCampaign, start: api.startCampaign, cancel: api.cancelCampaign };

/** The record that comes back is shown at once. */
export function useMove(id: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (move: keyof typeof moves) => (await moves[move](client, id)).data,
    onSuccess: (campaign) => queryClient.setQueryData(['campaign', id], campaign),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['campaign', id] }),
  });
}

export function Actions({ campaign }: { campaign: Detail }) {
  const { id, status, counters } = campaign;
  const move = useMove(id);
  return (
    <Stack gap="xs" align="flex-end">
      <Group gap="xs">
        {counters.failed > 0 && (
          <Button
            variant="default"
            renderRoot={(props) => <Link {...props} to="/campaigns/new" search={{ failed: id }} />}
          >
            Write to the failed
          </Button>
        )}
        {(status === 'RUNNING' || status === 'SCHEDULED' || status === 'DRAFT') && (
          <Button variant="default" loading={move.isPending} onClick={() => move.mutate('pause')}>
            Pause
          </Button>
        )}
        {status === 'PAUSED' && (
          <Button
            // Money comes first where it is what is missing.
            variant={campaign.pause_reason === 'INSUFFICIENT_BALANCE' ? 'default' : 'filled'}
            loading={move.isPending}
            onClick={() => move.mutate('start')}
          >
            Start
          </Button>
        )}
        {!isFinished(status) && (
          <ConfirmButton
            label="Cancel"
            color="red"
            variant="outline"
            question="Cancel this campaign?"
            consequence={`${number(counters.pending)} people who wait will never be sent to. This cannot be taken back; Pause can.`}
            confirmation="Cancel the campaign"
            onConfirm={() => move.mutate('cancel')}
          />
        )}
      </Group>
      {move.error && (
        <Alert color="red" role="alert" py="xs">
          {move.error.message}
        </Alert>
      )}
    </Stack>
  );
}
