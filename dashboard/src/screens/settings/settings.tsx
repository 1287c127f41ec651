/** Settings of the workspace: the hours in which it sends marketing, and how many messages a contact gets at most. */
import { Alert, Card, Checkbox, Group, MultiSelect, NumberInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
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
            Marketing campaigns send only in these hours and continue automatically. A campaign can set
            stricter hours.
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
      <FrequencyCapCard />
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

const capQuery = ['frequency-cap'];
const capDraft = 'frequency cap of the workspace';
const usualCap: api.FrequencyCap = { messages: 2, days: 7, categories: ['MARKETING'] };
const categories = [
  { value: 'MARKETING', label: 'Marketing' },
  { value: 'UTILITY', label: 'Utility' },
  { value: 'AUTHENTICATION', label: 'Authentication' },
];

const capText = ({ messages, days, categories: counted }: api.FrequencyCap): string =>
  `At most ${messages} ${messages === 1 ? 'message' : 'messages'} in ${days} ${days === 1 ? 'day' : 'days'} (${counted
    .map((one) => categories.find(({ value }) => value === one)?.label ?? one)
    .join(', ')})`;

function FrequencyCapCard() {
  const session = useSession();
  const query = useQuery({
    queryKey: capQuery,
    queryFn: async () => (await api.getFrequencyCap(client)).data,
    staleTime: 60_000,
  });
  return (
    <Card withBorder maw={820} mt="lg">
      <Stack>
        <Title order={2} size="h4">
          Messages per person
        </Title>
        <Text size="sm">
          Campaigns skip people who have got this many messages lately, at no cost. An operator key, as above,
          allows changes. The review of a new campaign says how many.
        </Text>
        {/* No limit is null, which is data. */}
        <Loaded query={{ ...query, data: query.data === undefined ? undefined : { recorded: query.data } }}>
          {({ recorded }) =>
            session?.operator === true ? (
              <CapForm recorded={recorded} />
            ) : (
              <Text fw={600}>{recorded === null ? 'No limit' : capText(recorded)}</Text>
            )
          }
        </Loaded>
      </Stack>
    </Card>
  );
}

function CapForm({ recorded }: { recorded: api.FrequencyCap | null }) {
  const { draft, change } = useRecordDraft(capDraft, { cap: recorded });
  const { cap } = draft;
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: async () => (await api.putFrequencyCap(client, cap)).data,
    onSuccess: (saved) => {
      forgetDraft(capDraft);
      queryClient.setQueryData(capQuery, saved);
    },
  });
  const set = (next: Partial<api.FrequencyCap>) => cap !== null && change({ cap: { ...cap, ...next } });
  const isSaved = JSON.stringify(cap) === JSON.stringify(recorded);
  return (
    <>
      <Checkbox
        label="Limit the messages that a person gets"
        checked={cap !== null}
        onChange={(event) => change({ cap: event.currentTarget.checked ? usualCap : null })}
      />
      {cap !== null && (
        <Group align="flex-end">
          <NumberInput
            label="Messages"
            min={1}
            max={1_000}
            allowDecimal={false}
            value={cap.messages}
            onChange={(next) => set({ messages: Number(next) })}
            w={110}
          />
          <NumberInput
            label="In days"
            min={1}
            max={365}
            allowDecimal={false}
            value={cap.days}
            onChange={(next) => set({ days: Number(next) })}
            w={110}
          />
          <MultiSelect
            label="Of categories"
            data={categories}
            value={[...cap.categories]}
            onChange={(next) => set({ categories: next as api.FrequencyCap['categories'] })}
            w={300}
          />
        </Group>
      )}
      {save.error && (
        <Alert color="red" role="alert">
          {save.error.message}
        </Alert>
      )}
      <Group>
        <ActionButton loading={save.isPending} disabled={isSaved} onClick={() => save.mutate()}>
          Save limit
        </ActionButton>
        {isSaved && save.data !== undefined && (
          <Text size="sm" role="status">
            {save.data === null ? 'Saved: no limit.' : `Saved: ${capText(save.data)}.`}
          </Text>
        )}
      </Group>
    </>
  );
}
