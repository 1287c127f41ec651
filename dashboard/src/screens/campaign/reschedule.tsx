/** Moves a campaign that has not begun to another time. */
import { Alert, Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { fieldTime, timeProblem } from '../../parts/forms/moment.ts';
import { TimeField } from '../../parts/forms/time-field.tsx';
import { forgetDraft, useRecordDraft } from '../../parts/forms/use-draft.ts';
import { rescheduleDraft } from './campaign-actions.ts';

interface RescheduleDialogProps {
  readonly campaign: Pick<api.Campaign, 'id' | 'scheduled_at'>;
  readonly onClose: () => void;
}

export function RescheduleDialog({
  campaign: { id, scheduled_at: planned },
  onClose: close,
}: RescheduleDialogProps) {
  const { draft, change: type } = useRecordDraft(rescheduleDraft(id), {
    at: planned === null ? '' : fieldTime(new Date(planned)),
  });
  const { at } = draft;
  const onClose = () => {
    forgetDraft(rescheduleDraft(id));
    close();
  };
  const problem = timeProblem(at);
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: () => api.updateCampaign(client, id, { scheduled_at: new Date(at).toISOString() }),
    onSuccess: async () => {
      forgetDraft(rescheduleDraft(id));
      await queryClient.invalidateQueries({ queryKey: ['campaign', id] });
      await queryClient.invalidateQueries({ queryKey: ['campaigns'] });
    },
  });
  return (
    <Dialog title="Reschedule" opened onClose={onClose}>
      <TimeField label="Send at" value={at} onChange={(text) => type({ at: text })} data-autofocus />
      {change.error && (
        <Alert color="red" role="alert">
          {change.error.message}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
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
