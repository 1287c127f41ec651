/** Pause, start, cancel, and writing to those that failed. */
import { Alert, Button, Group, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isFinished } from '../../../../src/domain/campaigns/campaign.ts';
import { api, client } from '../../client.ts';
import { counted } from '../../format.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { focusMain } from '../../parts/focus-main.ts';
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
  const isPaused = status === 'PAUSED';
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
        {!isFinished(status) && (
          <>
            {/* One button, so that the focus stays on it. */}
            <ActionButton
              // Money comes first where it is what is missing.
              variant={isPaused && campaign.pause_reason !== 'INSUFFICIENT_BALANCE' ? 'filled' : 'default'}
              loading={move.isPending}
              onClick={() => move.mutate(isPaused ? 'start' : 'pause')}
            >
              {isPaused ? 'Start' : 'Pause'}
            </ActionButton>
            <ConfirmButton
              label="Cancel"
              color="red"
              variant="outline"
              question="Cancel this campaign?"
              consequence={`${counted(counters.pending, 'person who waits', 'people who wait')} will never be sent to. To go on later, pause it instead.`}
              confirmation="Cancel the campaign"
              // The buttons go with it.
              onConfirm={() => move.mutate('cancel', { onSuccess: focusMain })}
            />
          </>
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
