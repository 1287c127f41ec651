/** Settings of the workspace: the hours in which it sends marketing. */
import { Alert, Card, Checkbox, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSession } from '../../account.ts';
import { api, client } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { Loaded } from '../../parts/display/load-states.tsx';
import { OperatorKey } from '../../parts/forms/operator-key.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { SendingWindowFields } from '../../parts/forms/sending-window-fields.tsx';
import { forgetDraft, useRecordDraft } from '../../parts/forms/use-draft.ts';
import {
  usualWindow,
  useWorkspaceWindow,
  windowOf,
  windowProblem,
  windowText,
} from '../../sending-window.ts';

export function Settings() {
  const session = useSession();
  const query = useWorkspaceWindow();
  return (
    <Screen title="Settings" lead={session?.workspaceName}>
      <Card withBorder maw={820}>
        <Stack>
          <Title order={2} size="h4">
            Sending window for marketing
          </Title>
          <Text size="sm">
            Campaigns with a marketing template send only in these hours; outside them they wait, and go on by
            themselves. A campaign’s own sending window narrows them.
          </Text>
          {/* A missing window is null, which is data. */}
          <Loaded query={{ ...query, data: query.data === undefined ? undefined : { recorded: query.data } }}>
            {({ recorded }) =>
              session?.operator === true ? (
                <WindowForm recorded={recorded} />
              ) : (
                <>
                  <Text fw={600}>{recorded === null ? 'At any hour' : windowText(recorded)}</Text>
                  <OperatorKey purpose="To change it" label="Allow changes" />
                </>
              )
            }
          </Loaded>
        </Stack>
      </Card>
    </Screen>
  );
}

const draftName = 'window of the workspace';

function WindowForm({ recorded }: { recorded: api.SendingWindow | null }) {
  const { draft, change } = useRecordDraft(draftName, { window: windowOf(recorded) });
  const { window } = draft;
  const isSaved = JSON.stringify(window) === JSON.stringify(windowOf(recorded));
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: async () => {
      if (window === null) await api.deleteSendingWindow(client);
      else await api.putSendingWindow(client, window);
      return window;
    },
    onSuccess: (saved) => {
      forgetDraft(draftName);
      queryClient.setQueryData(['sending-window'], saved);
    },
  });
  return (
    <>
      <Checkbox
        label="Send marketing only in certain hours"
        checked={window !== null}
        onChange={(event) => change({ window: event.currentTarget.checked ? usualWindow : null })}
      />
      {window !== null && (
        <SendingWindowFields value={window} onChange={(next) => change({ window: next })} />
      )}
      {save.error && (
        <Alert color="red" role="alert">
          {save.error.message}
        </Alert>
      )}
      <Group>
        <ActionButton
          loading={save.isPending}
          disabled={window !== null && windowProblem(window) !== undefined}
          onClick={() => save.mutate()}
        >
          Save sending window
        </ActionButton>
        {!isSaved && <Text size="sm">Not saved yet.</Text>}
        {isSaved && save.data !== undefined && (
          <Text size="sm" role="status">
            {save.data === null
              ? 'Saved: marketing is sent at any hour.'
              : `Saved: marketing is sent ${windowText(save.data)}.`}
          </Text>
        )}
      </Group>
    </>
  );
}
