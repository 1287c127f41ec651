/** One person: facts, tags, consent with its history, and everything sent to and received from them. */
import { Alert, Badge, Button, Card, Grid, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { IconUserX } from '@tabler/icons-react';
import { api, client, isGone } from '../../client.ts';
import { words } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { ConfirmButton } from '../../parts/controls/confirm.tsx';
import { ButtonLink } from '../../parts/controls/button-link.tsx';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';
import { hasDraft } from '../../parts/forms/use-draft.ts';
import { ConsentBadge } from './consent-badge.tsx';
import { contactDraft, ContactForm } from './contact-form.tsx';
import { History } from './history.tsx';
import { nameOf, numberOf } from './name.ts';
import { useTags } from '../../tags.ts';

const route = getRouteApi('/inside/contacts/$id');

export function Contact() {
  const { id } = route.useParams();
  const query = useQuery({
    queryKey: ['contact', id],
    queryFn: async () => (await api.getContact(client, id)).data,
  });
  return (
    <Screen
      title={query.data === undefined ? 'Contact' : nameOf(query.data)}
      path={[
        <TextLink key="contacts" to="/contacts" size="sm">
          Contacts
        </TextLink>,
      ]}
      actions={query.data && <Actions contact={query.data} />}
    >
      {isGone(query.error) && (
        <EmptyFace
          title="This contact was erased."
          icon={IconUserX}
          action={<ButtonLink to="/contacts">All contacts</ButtonLink>}
        >
          The number, names and messages are deleted. Totals of campaigns stay.
        </EmptyFace>
      )}
      {!isGone(query.error) && (
        <Loaded query={query}>
          {(contact) => (
            <Grid gap="lg">
              <Grid.Col span={{ base: 12, md: 8 }}>
                <Title order={2} size="h4" mb="sm">
                  History
                </Title>
                <History contactId={id} />
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 4 }}>
                <Stack>
                  <Facts contact={contact} />
                  <Consents contactId={id} consent={contact.consent} />
                  <Conversations contactId={id} />
                </Stack>
              </Grid.Col>
            </Grid>
          )}
        </Loaded>
      )}
    </Screen>
  );
}

function Actions({ contact }: { contact: api.Contact }) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [editing, edit] = useDisclosure(hasDraft(contactDraft(contact.id)));
  const act = useMutation({
    mutationFn: async (action: 'consent' | 'erase') => {
      if (action === 'erase') return api.deleteContact(client, contact.id, { erase: 'true' });
      return api.updateContact(client, contact.id, { subscribed: !contact.subscribed });
    },
    onSuccess: async (_, action) => {
      await queryClient.invalidateQueries({ queryKey: ['contacts'] });
      if (action !== 'erase') await queryClient.invalidateQueries({ queryKey: ['contact'] });
    },
  });
  const download = useMutation({
    mutationFn: async () => {
      const { data } = await api.exportContact(client, contact.id);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(
        new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }),
      );
      link.download = `contact-${contact.id}.json`;
      link.click();
      URL.revokeObjectURL(link.href);
    },
  });
  const error = act.error ?? download.error;
  return (
    <>
      <Button variant="default" onClick={edit.open}>
        Edit
      </Button>
      <ActionButton variant="default" loading={act.isPending} onClick={() => act.mutate('consent')}>
        {contact.subscribed ? 'Unsubscribe' : 'Subscribe'}
      </ActionButton>
      <Button variant="default" onClick={() => download.mutate()}>
        Export
      </Button>
      <ConfirmButton
        variant="light"
        color="red"
        label="Erase"
        question="Erase this person?"
        consequence="Deletes this person’s number, name and messages everywhere. Campaign totals and billing stay. They stay opted out. This cannot be undone."
        confirmation="Erase for good"
        onConfirm={() =>
          act.mutate('erase', {
            onSuccess: () => {
              const forget = () => queryClient.removeQueries({ queryKey: ['contact', contact.id] });
              void navigate({ to: '/contacts', state: { erased: true } }).then(forget);
            },
          })
        }
      />
      {error && (
        <Alert color="red" role="alert">
          {error.message}
        </Alert>
      )}
      <ContactForm contact={contact} opened={editing} onClose={edit.close} />
    </>
  );
}

function Facts({ contact }: { contact: api.Contact }) {
  const tags = useTags();
  const nameOfTag = new Map(tags.data?.map(({ tagId, name }) => [tagId, name]));
  const rows: readonly (readonly [string, string])[] = [
    ['Number', numberOf(contact)],
    ['Email', contact.email || '—'],
    ['Chat name', contact.chatName || '—'],
    ['Username', contact.username || '—'],
    ['Source', sources[contact.source] ?? words(contact.source)],
    ...contact.customFields.map(({ fieldId, value }) => [fieldId, value] as const),
  ];
  return (
    <Card withBorder>
      <Table layout="fixed">
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={110}>{name}</Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Th>Created</Table.Th>
            <Table.Td>
              <Time at={contact.createdAt} />
            </Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Th>Tags</Table.Th>
            <Table.Td>
              {contact.tagsId.length === 0
                ? '—'
                : contact.tagsId.map((id) => (
                    <Badge key={id} variant="light" tt="none" mr={4}>
                      {nameOfTag.get(id) ?? 'tag'}
                    </Badge>
                  ))}
            </Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </Card>
  );
}

const sources: Readonly<Record<string, string>> = {
  api: 'Added by the API',
  csv_import: 'Imported',
  quick_contacts: 'Typed into a campaign',
  incoming: 'Wrote to you',
};

const origins: Readonly<Record<api.ConsentSource, string>> = {
  person: 'by the person',
  api: 'by an operator or the API',
  import: 'by an import',
};

function Consents({ contactId, consent }: { contactId: string; consent: api.ContactConsent }) {
  const query = useQuery({
    queryKey: ['contact', contactId, 'consents', consent],
    queryFn: async () => (await api.listContactConsents(client, contactId, { limit: 20 })).data,
  });
  return (
    <Card withBorder>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Consent
        </Title>
        <ConsentBadge consent={consent} />
      </Group>
      <Loaded query={query}>
        {(consents) =>
          consents.length === 0 ? (
            <Text size="sm" c="dimmed">
              No change since the contact was created.
            </Text>
          ) : (
            consents.map(({ id, subscribed, category, source, text, at }) => (
              <Text key={id} size="sm" style={{ overflowWrap: 'anywhere' }}>
                {subscribed ? 'Opted in' : 'Opted out'}
                {category === 'MARKETING' ? ' of marketing' : ''}{' '}
                {source === 'person' && text ? `by replying “${text}”` : origins[source]}, <Time at={at} />
                {source !== 'person' && text && <>: “{text}”</>}
              </Text>
            ))
          )
        }
      </Loaded>
    </Card>
  );
}

function Conversations({ contactId }: { contactId: string }) {
  const { data } = useQuery({
    queryKey: ['conversations', { contactId }],
    queryFn: async () => (await api.listConversations(client, { contactId, limit: 5 })).data,
  });
  if (data === undefined || data.length === 0) return null;
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="xs">
        Conversations
      </Title>
      {data.map(({ id, status, createdAt }) => (
        <Text key={id} size="sm">
          <TextLink to="/conversations" search={{ conversation: id }} fz="inherit">
            {stateWord(status)} conversation
          </TextLink>
          , started <Time at={createdAt} />
        </Text>
      ))}
    </Card>
  );
}
