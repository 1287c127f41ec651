/** From a template and a list to a campaign, looked at before anything is created. */
import { Alert, Card, Group, SimpleGrid, Select, Stack, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { allOf, api, client } from '../../client.ts';
import { dayOf } from '../../format.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Loaded } from '../../parts/faces.tsx';
import { kinds, linesOf, Numbers, Segments, type Kind } from './audience.tsx';
import { CsvAudience, type CsvFile } from './csv.tsx';
import { fieldsOf, mappingOf, type Variables } from './fields.ts';
import { Estimate } from './estimate.tsx';
import { Preview } from './preview.tsx';
import { TestMessage } from './test.tsx';
import { contactFields, Unsendable, useTemplate, VariableFields } from './variables.tsx';
import { Screen } from '../../parts/screen.tsx';

const route = getRouteApi('/inside/campaigns/new');

const settledMs = 300;

export function NewCampaign() {
  const { failed } = route.useSearch();
  const navigate = useNavigate();
  const [typedName, setName] = useState<string>();
  const [templateId, setTemplateId] = useState<string | null>(null);
  const [kind, setKind] = useState<Kind>(failed === undefined ? 'csv_contacts' : 'failed_contacts');
  const [file, setFile] = useState<CsvFile>();
  const [numbers, setNumbers] = useState('');
  const [segments, setSegments] = useState<string[]>([]);
  const [variables, setVariables] = useState<Variables>({});
  const [at, setAt] = useState('');
  const [today] = useState(() => dayOf(new Date()));

  const templates = useQuery({
    queryKey: ['templates', { status: 'APPROVED' }],
    queryFn: () =>
      allOf((place) => api.listTemplates(client, { limit: 100, status: ['APPROVED'], ...place })),
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
    ...(kind === 'segmented' && { segments }),
    ...(kind === 'failed_contacts' && { failed_campaign_id: failed }),
  };
  const isWithout = {
    csv_contacts: file === undefined,
    quick_contacts: linesOf(numbers).length === 0,
    all_contacts: false,
    segmented: segments.length === 0,
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

  const definition = useTemplate(chosen).data;
  const fields = definition === undefined ? [] : fieldsOf(definition, variables);
  // The values of the earlier campaign are sent again, where they still can be.
  const areValuesKnown =
    kind === 'failed_contacts' &&
    chosen === source.data?.template_id &&
    mapping === undefined &&
    !check.data?.problems.some(({ field }) => field.startsWith('variable_mapping'));
  const read = (next: CsvFile | undefined) => {
    setFile(next);
    if (next === undefined) setVariables({});
  };

  const values = chosen !== undefined && (
    <VariableFields
      templateId={chosen}
      columns={kind === 'csv_contacts' ? file?.columns : undefined}
      value={variables}
      onChange={setVariables}
    />
  );
  return (
    <Screen title="New campaign">
      <Group align="flex-start" gap="xl">
        <Stack maw={720} miw={0} flex="1 1 320px">
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
              <Unsendable template={definition} />
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
                onChange={(value) => {
                  setKind((value ?? 'csv_contacts') as Kind);
                  setVariables({});
                }}
              />
              {kind === 'quick_contacts' && <Numbers value={numbers} onChange={setNumbers} />}
              {kind === 'segmented' && <Segments value={segments} onChange={setSegments} />}
              {kind === 'csv_contacts' ? (
                <CsvAudience templateId={chosen} variableMapping={settledMapping} onChange={read}>
                  {file !== undefined && values}
                </CsvAudience>
              ) : (
                !areValuesKnown && values
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
              <Estimate
                check={check.data}
                error={check.error}
                busy={check.isFetching}
                isReady={isReady}
                fields={fields}
              />
              {chosen !== undefined && (
                <TestMessage
                  templateId={chosen}
                  variables={variables}
                  fields={fields}
                  row={(kind === 'csv_contacts' ? file?.firstRow : undefined) ?? contactFields}
                />
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
          <Preview
            templateId={chosen}
            mapping={kind === 'csv_contacts' ? undefined : settledMapping}
            first={kind === 'csv_contacts' ? file?.message : undefined}
            offerEnds={variables['limited_time_offer.expiration_time_ms']?.value ?? ''}
          />
        )}
      </Group>
    </Screen>
  );
}
