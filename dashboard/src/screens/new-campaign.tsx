/** From a template and a list to a campaign, looked at before anything is created. */
import {
  Alert,
  Box,
  Card,
  Group,
  SimpleGrid,
  Select,
  Stack,
  Text,
  TextInput,
  Textarea,
  Title,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { api, client } from '../client.ts';
import { dayOf } from '../format.ts';
import { ActionButton } from '../parts/action-button.tsx';
import { Loaded } from '../parts/faces.tsx';
import { Phone } from '../parts/phone.tsx';
import { CsvAudience, type CsvFile } from './new-csv.tsx';
import { Outlook } from './new-outlook.tsx';
import { TestMessage } from './new-test.tsx';
import { contactFields, mappingOf, VariableFields, type Variables } from './new-variables.tsx';

const route = getRouteApi('/inside/campaigns/new');

type Kind = 'csv_contacts' | 'quick_contacts' | 'all_contacts' | 'failed_contacts';
const kinds: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'csv_contacts', label: 'A CSV file' },
  { value: 'quick_contacts', label: 'Numbers typed here' },
  { value: 'all_contacts', label: 'All contacts' },
  { value: 'failed_contacts', label: 'Those that failed in a campaign' },
];

const settledMs = 300;

export function NewCampaign() {
  const { failed } = route.useSearch();
  const navigate = useNavigate();
  const [typedName, setName] = useState<string>();
  const [templateId, setTemplateId] = useState<string | null>(null);
  const [kind, setKind] = useState<Kind>(failed === undefined ? 'csv_contacts' : 'failed_contacts');
  const [file, setFile] = useState<CsvFile>();
  const [numbers, setNumbers] = useState('');
  const [variables, setVariables] = useState<Variables>({});
  const [at, setAt] = useState('');
  const [today] = useState(() => dayOf(new Date()));

  const templates = useQuery({
    queryKey: ['templates', 'approved'],
    queryFn: async () => (await api.listTemplates(client, { limit: 100, status: ['APPROVED'] })).data,
  });
  const source = useQuery({
    queryKey: ['campaign', failed],
    queryFn: async () => (await api.getCampaign(client, failed ?? '')).data,
    enabled: failed !== undefined,
  });
  const chosen = templateId ?? (kind === 'failed_contacts' ? source.data?.template_id : undefined);
  const templateName = templates.data?.find(({ id }) => id === chosen)?.name;
  const name = typedName ?? (templateName === undefined ? '' : `${templateName}, ${today}`);
  const mapping = mappingOf(variables);
  const settledMapping = mappingOf(useDebouncedValue(variables, settledMs)[0]);
  const body: api.CreateCampaign = {
    name: name.trim(),
    template_id: chosen ?? '',
    contact_selection_type: kind,
    send_type: at === '' ? 'IMMEDIATE' : 'SCHEDULED',
    ...(at !== '' && { scheduled_at: new Date(at).toISOString() }),
    ...(mapping !== undefined && { variable_mapping: mapping }),
    ...(kind === 'csv_contacts' && { csv_file_key: file?.key, csv_mapping: file?.mapping }),
    ...(kind === 'quick_contacts' && { quick_contacts: linesOf(numbers) }),
    ...(kind === 'failed_contacts' && { failed_campaign_id: failed }),
  };
  const isWithout = {
    csv_contacts: file === undefined,
    quick_contacts: linesOf(numbers).length === 0,
    all_contacts: false,
    failed_contacts: false,
  };
  const isReady = chosen !== undefined && !isWithout[kind];
  // Not at every key; and the name does not change who is reached.
  const [asked] = useDebouncedValue(JSON.stringify({ ...body, name: 'Unnamed' }), settledMs);
  const check = useQuery({
    queryKey: ['check', asked],
    queryFn: async () => (await api.checkCampaign(client, JSON.parse(asked) as api.CheckCampaign)).data,
    enabled: isReady,
    staleTime: 30_000,
  });
  // What is asked twice, by two clicks or after an answer that was lost, is created once.
  const wanted = JSON.stringify(body);
  const idempotencyKey = useMemo(() => (wanted === '' ? '' : crypto.randomUUID()), [wanted]);
  const create = useMutation({
    mutationFn: async () => (await api.createCampaign(client, body, { idempotencyKey })).data.campaign.id,
    onSuccess: (id) => navigate({ to: '/campaigns/$id', params: { id } }),
  });

  const preview = useQuery({
    queryKey: ['template-preview', chosen],
    queryFn: async () => (await api.previewTemplate(client, chosen ?? '', {})).data.message,
    enabled: chosen !== undefined,
    staleTime: 60_000,
  });
  const message = (kind === 'csv_contacts' ? file?.message : undefined) ?? preview.data;
  const read = (next: CsvFile | undefined) => {
    setFile(next);
    if (next === undefined) setVariables({});
  };

  return (
    <Group align="flex-start" gap="xl">
      <Stack maw={720} miw={0} flex="1 1 320px">
        <Title order={1} size="h2">
          New campaign
        </Title>
        <Card withBorder>
          <Stack>
            <Title order={2} size="h4">
              What to send
            </Title>
            <Loaded query={templates}>
              {(list) => (
                <Select
                  label="Template"
                  placeholder="Choose an approved template"
                  searchable
                  nothingFoundMessage={
                    list.length === 0 ? 'No template is approved yet' : 'No approved template is called so'
                  }
                  data={list.map(({ id, name: title, language }) => ({
                    value: id,
                    label: `${title} (${language})`,
                  }))}
                  value={chosen ?? null}
                  onChange={(id) => {
                    setTemplateId(id);
                    setVariables({});
                  }}
                />
              )}
            </Loaded>
          </Stack>
        </Card>
        <Card withBorder>
          <Stack>
            <Title order={2} size="h4">
              To whom
            </Title>
            <Select
              label="Audience"
              allowDeselect={false}
              data={kinds.filter(({ value }) => value !== 'failed_contacts' || failed !== undefined)}
              value={kind}
              onChange={(value) => setKind((value ?? 'csv_contacts') as Kind)}
            />
            {kind === 'quick_contacts' && (
              <Textarea
                label="Numbers, one a line"
                description="With country code. Values of the variables may follow, after a comma."
                placeholder={'+49 151 12345678, Ada\n+91 98765 43210, Grace'}
                autosize
                minRows={3}
                value={numbers}
                onChange={(event) => setNumbers(event.currentTarget.value)}
              />
            )}
            {kind === 'all_contacts' && chosen !== undefined && (
              <VariableFields templateId={chosen} value={variables} onChange={setVariables} />
            )}
            {kind === 'csv_contacts' && (
              <CsvAudience templateId={chosen} variableMapping={settledMapping} onChange={read}>
                {chosen !== undefined && file !== undefined && (
                  <VariableFields
                    templateId={chosen}
                    columns={file.columns}
                    value={variables}
                    onChange={setVariables}
                  />
                )}
              </CsvAudience>
            )}
          </Stack>
        </Card>
        <Card withBorder>
          <Stack>
            <Title order={2} size="h4">
              Send
            </Title>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <TextInput
                label="Campaign name"
                description="For you; nobody else sees it"
                maxLength={255}
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <TextInput
                type="datetime-local"
                label="Send at"
                description="In your time zone; empty sends at once"
                value={at}
                onChange={(event) => setAt(event.currentTarget.value)}
              />
            </SimpleGrid>
            <Outlook check={check.data} error={check.error} busy={check.isFetching} isReady={isReady} />
            {chosen !== undefined && (
              <TestMessage templateId={chosen} variables={variables} row={file?.firstRow ?? contactFields} />
            )}
            <Group justify="flex-end">
              <ActionButton
                loading={create.isPending}
                disabled={!isReady || name.trim() === '' || (check.data?.problems.length ?? 1) > 0}
                onClick={() => create.mutate()}
              >
                Create campaign
              </ActionButton>
            </Group>
            {create.error && (
              <Alert color="red" role="alert">
                {create.error.message}
              </Alert>
            )}
          </Stack>
        </Card>
      </Stack>
      {chosen !== undefined && (
        <Box w={320} pos="sticky" top={80}>
          <Text size="sm" c="dimmed" mb={6}>
            {message === preview.data ? 'As the phone shows it' : 'As the phone of the first one shows it'}
          </Text>
          {message === undefined ? (
            <Loaded query={preview}>{() => null}</Loaded>
          ) : (
            <Phone message={message} />
          )}
        </Box>
      )}
    </Group>
  );
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
