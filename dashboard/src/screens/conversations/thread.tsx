/** One conversation: its messages, who answers it, and whether it is done. */
import { Alert, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconSend } from '@tabler/icons-react';
import type { FormEvent } from 'react';
import { api, client } from '../../client.ts';
import { dayAndMinuteTime } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { Loaded } from '../../parts/display/load-states.tsx';
import { Status } from '../../parts/display/status.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { forgetDraft, hasDraft, useDraft } from '../../parts/forms/use-draft.ts';
import { answerDraft, AnswerDialog } from './answer.tsx';
import { personOf } from './person.ts';
import { Messages } from './messages.tsx';

/** After a person's message, a business may answer freely for 24 hours; later only with a template. */
const windowMs = 86_400_000;

/** When free text ends; undefined if it has ended. */
function freeUntil(lastInboundAt: string | null): Date | undefined {
  const end = lastInboundAt === null ? 0 : Date.parse(lastInboundAt) + windowMs;
  return end > Date.now() ? new Date(end) : undefined;
}

export function Thread({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ['conversation', id],
    queryFn: async () => (await api.getConversation(client, id)).data,
    // With the list and the messages this stays below 20 requests a minute.
    refetchInterval: 15_000,
  });
  return (
    <Loaded query={query}>
      {(conversation) => (
        <Stack>
          <Head conversation={conversation} />
          <Wish conversation={conversation} />
          <Messages id={id} />
          <Answer conversation={conversation} />
        </Stack>
      )}
    </Loaded>
  );
}

/** Fetches the conversation again, and the lists that contain it. */
function useRefresh(id: string) {
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: ['conversations'] }),
      queryClient.invalidateQueries({ queryKey: ['conversation', id] }),
    ]);
}

/** A sentence that may be an opt-out is decided by a person. */
function Wish({ conversation: { contactId, labels } }: { conversation: api.Conversation }) {
  const queryClient = useQueryClient();
  const contact = useQuery({
    queryKey: ['contact', contactId],
    queryFn: async () => (await api.getContact(client, contactId)).data,
    enabled: labels.includes('asks_to_stop'),
  });
  const unsubscribe = useMutation({
    mutationFn: () => api.updateContact(client, contactId, { consent: 'none' }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['contact', contactId] }),
  });
  if (contact.data === undefined || contact.data.consent === 'none') return null;
  return (
    <Alert color="orange" variant="light" title="This person may want no more messages">
      <Group justify="space-between">
        <Text size="sm">Read what they wrote, and unsubscribe them if they ask for it.</Text>
        <ActionButton size="xs" loading={unsubscribe.isPending} onClick={() => unsubscribe.mutate()}>
          Unsubscribe
        </ActionButton>
      </Group>
      {unsubscribe.error && <Text size="sm">{unsubscribe.error.message}</Text>}
    </Alert>
  );
}

function Head({ conversation }: { conversation: api.Conversation }) {
  const { id, contactId, status, assignedTo } = conversation;
  const { name, number } = personOf(conversation);
  const refresh = useRefresh(id);
  const [assigning, assign] = useDisclosure(hasDraft(assignDraft(id)));
  const changeStatus = useMutation({
    mutationFn: (next: 'open' | 'resolved') => api.changeConversationStatus(client, id, { status: next }),
    onSuccess: refresh,
  });
  return (
    <>
      <Group justify="space-between">
        <Stack gap={0} miw={0} flex="1 1 220px" style={{ overflowWrap: 'anywhere' }}>
          <Title order={2} size="h4">
            <TextLink to="/contacts/$id" params={{ id: contactId }} dir="auto">
              {name}
            </TextLink>
          </Title>
          <Text size="sm" c="dimmed">
            {number && `${number} · `}
            {assignedTo ? `Assigned to ${assignedTo.name ?? assignedTo.id}` : 'Not assigned'}
          </Text>
        </Stack>
        <Group gap="xs">
          <Status state={status} />
          <Button size="xs" variant="default" onClick={assign.open}>
            Assign
          </Button>
          {status === 'open' ? (
            <ActionButton
              size="xs"
              variant="outline"
              loading={changeStatus.isPending}
              onClick={() => changeStatus.mutate('resolved')}
            >
              Resolve
            </ActionButton>
          ) : (
            <ActionButton
              size="xs"
              variant="default"
              loading={changeStatus.isPending}
              onClick={() => changeStatus.mutate('open')}
            >
              Open again
            </ActionButton>
          )}
        </Group>
      </Group>
      {changeStatus.error && (
        <Alert color="red" role="alert">
          {changeStatus.error.message}
        </Alert>
      )}
      {assigning && <AssignDialog id={id} onClose={assign.close} />}
    </>
  );
}

/** The name of the form's draft. */
const assignDraft = (id: string): string => `assign ${id}`;

function AssignDialog({ id, onClose: close }: { id: string; onClose: () => void }) {
  const refresh = useRefresh(id);
  const { draft, change } = useDraft(assignDraft(id), { name: '' });
  const { name } = draft;
  const onClose = () => {
    forgetDraft(assignDraft(id));
    close();
  };
  const assign = useMutation({
    mutationFn: (to: string | undefined) =>
      api.assignConversation(
        client,
        id,
        to === undefined
          ? { assignmentType: 'none', source: 'manual' }
          : { assignmentType: 'user', assignedTo: { id: to, name: to }, source: 'manual' },
      ),
    onSuccess: () => {
      forgetDraft(assignDraft(id));
      return refresh();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    assign.mutate(name.trim(), { onSuccess: onClose });
  };
  return (
    <Dialog title="Assign the conversation" opened onClose={onClose}>
      <form onSubmit={submit}>
        <TextInput
          label="Who answers"
          description="Name or team"
          value={name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          required
          withAsterisk={false}
        />
        {assign.error && (
          <Alert color="red" role="alert" mt="sm">
            {assign.error.message}
          </Alert>
        )}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={() => assign.mutate(undefined, { onSuccess: onClose })}>
            Unassign
          </Button>
          <ActionButton type="submit" loading={assign.isPending}>
            Save assignment
          </ActionButton>
        </Group>
      </form>
    </Dialog>
  );
}

/** How the person can be answered: the service itself sends templates only. */
function Answer({ conversation }: { conversation: api.Conversation }) {
  const { id, lastInboundAt, contactPhoneNumber } = conversation;
  const [answering, { open, close }] = useDisclosure(hasDraft(answerDraft(id)));
  const until = freeUntil(lastInboundAt);
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" c="dimmed" style={{ flex: '1 1 260px' }}>
        You can reply here with templates.{' '}
        {until === undefined
          ? 'WhatsApp allows free text for 24 hours after a person’s message.'
          : `For free text (until ${dayAndMinuteTime(until)}) use your inbox app.`}
      </Text>
      <Button
        size="xs"
        leftSection={<IconSend size={14} aria-hidden />}
        disabled={contactPhoneNumber === null}
        onClick={open}
      >
        Answer with a template
      </Button>
      {answering && <AnswerDialog conversation={conversation} onClose={close} />}
    </Group>
  );
}
