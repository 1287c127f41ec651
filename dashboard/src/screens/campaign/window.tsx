/** The hours in which a campaign sends, and the dialog that changes them. */
import { Alert, Button, Checkbox, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { isFinished } from '../../../../src/domain/campaigns/campaign.ts';
import { useSession } from '../../account.ts';
import { api, client } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { SendingWindowFields } from '../../parts/forms/sending-window-fields.tsx';
import { forgetDraft, hasDraft, useRecordDraft } from '../../parts/forms/use-draft.ts';
import {
  usualWindow,
  useWorkspaceWindow,
  windowOf,
  windowProblem,
  windowText,
} from '../../sending-window.ts';

export function CampaignWindow({ campaign }: { campaign: api.CampaignDetail }) {
  const { sending_window: own, ignore_quiet_hours: ignores, template, status } = campaign;
  const [opened, { open, close }] = useDisclosure(hasDraft(windowDraft(campaign.id)));
  const { data: inherited } = useWorkspaceWindow();
  const isHeld = inherited != null && template.category === 'MARKETING' && !ignores;
  return (
    <Stack gap={2}>
      <span>{own === null ? 'Any hour' : windowText(own)}</span>
      {isHeld && (
        <Text size="xs" c="dimmed">
          Marketing of the workspace: {windowText(inherited)}
        </Text>
      )}
      {ignores && (
        <Text size="xs" c="dimmed">
          The workspace’s window for marketing does not apply.
        </Text>
      )}
      {!isFinished(status) && (
        <UnstyledButton fz="sm" td="underline" w="fit-content" onClick={open}>
          Change sending window
        </UnstyledButton>
      )}
      {opened && <WindowDialog campaign={campaign} onClose={close} />}
    </Stack>
  );
}

/** The name of the form's draft. */
const windowDraft = (id: string): string => `window ${id}`;

interface WindowDialogProps {
  readonly campaign: api.CampaignDetail;
  readonly onClose: () => void;
}

function WindowDialog({ campaign, onClose: close }: WindowDialogProps) {
  const { id, template, ignore_quiet_hours: ignored } = campaign;
  const { draft, change } = useRecordDraft(windowDraft(id), {
    window: windowOf(campaign.sending_window),
    ignores: ignored,
  });
  const { window, ignores } = draft;
  const onClose = () => {
    forgetDraft(windowDraft(id));
    close();
  };
  const session = useSession();
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: async () => {
      const exception = ignores === ignored ? {} : { ignore_quiet_hours: ignores };
      return (await api.updateCampaign(client, id, { sending_window: window, ...exception })).data;
    },
    onSuccess: async (changed) => {
      forgetDraft(windowDraft(id));
      queryClient.setQueryData(['campaign', id], changed);
      await queryClient.invalidateQueries({ queryKey: ['campaign', id] });
    },
  });
  return (
    <Dialog title="Sending window" opened onClose={onClose} size="lg">
      <Checkbox
        label="Send only in certain hours"
        description="Sending pauses outside these hours and continues automatically."
        checked={window !== null}
        onChange={(event) => change({ window: event.currentTarget.checked ? usualWindow : null })}
        data-autofocus
      />
      {window !== null && (
        <SendingWindowFields value={window} onChange={(next) => change({ window: next })} />
      )}
      {template.category === 'MARKETING' && (session?.scope === 'operator' || ignored) && (
        <Checkbox
          label="Ignore the workspace’s window for marketing"
          checked={ignores}
          onChange={(event) => change({ ignores: event.currentTarget.checked })}
        />
      )}
      {save.error && (
        <Alert color="red" role="alert">
          {save.error.message}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <ActionButton
          disabled={window !== null && windowProblem(window) !== undefined}
          loading={save.isPending}
          onClick={() => save.mutate(undefined, { onSuccess: onClose })}
        >
          Save sending window
        </ActionButton>
      </Group>
    </Dialog>
  );
}
