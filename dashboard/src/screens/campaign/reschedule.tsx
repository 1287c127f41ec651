/** Moves a campaign that has not begun to another time. */
import { Alert, Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../../client.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Dialog } from '../../parts/confirm.tsx';
import { fieldTime, TimeField, timeProblem } from '../../parts/time-field.tsx';

interface RescheduleDialogProps {
  readonly campaign: Pick<api.Campaign, 'id' | 'scheduled_at'>;
  readonly onClose: () => void;
}

export function RescheduleDialog({
  campaign: { id, scheduled_at: planned },
  onClose,
}: RescheduleDialogProps) {
  const [typed, setTyped] = useState<string>();
  const at = typed ?? (planned === null ? '' : fieldTime(new Date(planned)));
  const problem = timeProblem(at);
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: () => api.updateCampaign(client, id, { scheduled_at: new Date(at).toISOString() }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['campaign', id] });
      await queryClient.invalidateQueries({ queryKey: ['campaigns'] });
    },
  });
  return (
    <Dialog title="Reschedule" opened onClose={onClose}>
      <TimeField label="Send at" value={at} onChange={setTyped} data-autofocus />
      {change.error && (
        <Alert color="red" role="alert">
          {change.error.message}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Keep as it is
        </Button>
        <ActionButton
          disabled={at === '' || problem !== undefined}
          loading={change.isPending}
          onClick={() => change.mutate(undefined, { onSuccess: onClose })}
        >
          Reschedule
        </ActionButton>
      </Group>
    </Dialog>
  );
}
