/** From a template and a list to a campaign in four steps, checked before anything is created. */
import { Alert, Badge, Button, Card, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { allOf, api, client } from '../../client.ts';
import { dayOf, minuteTime } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { momentOf, timeProblem } from '../../parts/forms/moment.ts';
import { forgetDraft, useDraft } from '../../parts/forms/use-draft.ts';
import { windowProblem } from '../../sending-window.ts';
import { Filter, kinds, linesOf, Numbers, Segments, type Kind } from './audience.tsx';
import { columnsOfCsv, contactValue } from './contact-columns.ts';
import { useContactColumns } from './use-contact-columns.ts';
import { Create } from './create.tsx';
import { CsvAudience, type CsvFile } from './csv.tsx';
import type { Draft } from './draft.ts';
import { Estimate } from './estimate.tsx';
import { constantsOf, fieldsOf, mappingOf } from './fields.ts';
import { useFirstContact } from './first-contact.ts';
import { Preview } from './preview.tsx';
import { costProblem, Schedule } from './schedule.tsx';
import { TestMessage } from './test.tsx';
import { Unsendable, useTemplate, VariableFields } from './variables.tsx';

const settledMs = 300;
/** How long a large audience is counted, in seconds, after the first answer has named only a part of it. */
const wholeSeconds = 30;

export interface FormProps {
  readonly initial: Draft;
  /** Identifies what the form began with, such as `copy <campaign id>`; empty where it began empty. */
  readonly source: string;
  /** The campaign whose failed recipients are sent to: those with one of `reasons`, or all where it is empty. */
  readonly failed?:
    | { readonly campaign: api.CampaignDetail; readonly reasons: readonly string[] }
    | undefined;
  /** Shows the form anew, after its draft was forgotten. */
  readonly onStartOver: () => void;
}

export function Form({ initial, source, failed, onStartOver }: FormProps) {
  const draftName = `new-campaign ${source}`;
  const { draft, change, restoredAt } = useDraft(draftName, initial);
  const { kind, numbers, country, segments, filter, variables, at, uploaded, window, maxCost = '' } = draft;
  const [file, setFile] = useState<CsvFile>();
  const [today] = useState(() => dayOf(new Date()));
  const templates = useQuery({
    queryKey: ['templates', { status: 'APPROVED' }],
    queryFn: () =>
      allOf((place) => api.listTemplates(client, { limit: 100, status: ['APPROVED'], ...place })),
  });
  const chosen = draft.templateId ?? (kind === 'failed_contacts' ? failed?.campaign.template_id : undefined);
  const template = templates.data?.find(({ id }) => id === chosen);
  const templateName = template?.name;
  const name = draft.name ?? (templateName === undefined ? '' : `${templateName}, ${today}`);
  const mapping = mappingOf(variables);
  const settledMapping = mappingOf(useDebouncedValue(variables, settledMs)[0]);
  const moment = momentOf(at);
  const body: api.CreateCampaign = {
    name: name.trim(),
    template_id: chosen ?? '',
    contact_selection_type: kind,
    send_type: moment === undefined ? 'IMMEDIATE' : 'SCHEDULED',
    ...(moment !== undefined && { scheduled_at: moment.toISOString() }),
    ...(window !== undefined && { sending_window: window }),
    ...(maxCost.trim() !== '' && { max_cost: maxCost.trim() }),
    ...(mapping !== undefined && { variable_mapping: mapping }),
    ...(kind === 'csv_contacts' && { csv_file_key: file?.key, csv_mapping: file?.mapping }),
    ...(kind === 'quick_contacts' && {
      quick_contacts: linesOf(numbers),
      ...(country !== undefined && { default_country: country }),
    }),
    ...(kind === 'segmented' && { segments, ...(filter !== undefined && { contact_filters: filter }) }),
    ...(kind === 'failed_contacts' && {
      failed_campaign_id: failed?.campaign.id,
      ...((failed?.reasons.length ?? 0) > 0 && { failed_reasons: failed?.reasons }),
    }),
  };
  const isWithout: Readonly<Record<Kind, boolean>> = {
    csv_contacts: file === undefined,
    quick_contacts: linesOf(numbers).length === 0,
    all_contacts: false,
    segmented: segments.length === 0 && (filter === undefined || filter.conditions.length === 0),
    failed_contacts: false,
  };
  const isTimed =
    timeProblem(at) === undefined && (window === undefined || windowProblem(window) === undefined);
  const isReady = chosen !== undefined && !isWithout[kind] && isTimed && costProblem(maxCost) === undefined;
  // The check leaves out the name, which does not change the recipients. It waits until the form is filled in and typing pauses.
  const question = isReady ? JSON.stringify({ ...body, name: 'Unnamed' }) : undefined;
  const [asked] = useDebouncedValue(question, settledMs);
  const check = useQuery({
    queryKey: ['check', asked],
    queryFn: async () => (await api.checkCampaign(client, JSON.parse(asked ?? '') as api.CheckCampaign)).data,
    enabled: isReady && asked !== undefined,
    staleTime: 30_000,
  });
  // A large audience is counted only in part at first; the whole of it takes longer than people want to wait for an answer.
  const whole = useQuery({
    queryKey: ['check', asked, 'whole'],
    queryFn: async () => {
      const given = JSON.parse(asked ?? '') as api.CheckCampaign;
      return (await api.checkCampaign(client, given, { max_seconds: wholeSeconds })).data;
    },
    enabled: isReady && check.data?.is_estimate === true,
    staleTime: 30_000,
  });
  const found = (check.data?.is_estimate === true ? whole.data : undefined) ?? check.data;
  const contact = useFirstContact(kind, segments);
  const ofContacts = useContactColumns();
  const columns = kind === 'csv_contacts' && file !== undefined ? columnsOfCsv(file.columns) : ofContacts;
  const definition = useTemplate(chosen).data;
  const fields = definition === undefined ? [] : fieldsOf(definition, variables);
  // The values of the earlier campaign are used again while its template is chosen and they are valid.
  const areValuesKnown =
    kind === 'failed_contacts' &&
    chosen === failed?.campaign.template_id &&
    mapping === undefined &&
    found?.problems.some(({ field }) => field.startsWith('variable_mapping')) !== true;
  const values = chosen !== undefined && (
    <VariableFields
      templateId={chosen}
      columns={columns}
      value={variables}
      onChange={(next) => change({ variables: next })}
    />
  );
  const usesContact = Object.values(variables).some(({ value }) => Object.hasOwn(columns.labels, value));
  const sample = Object.fromEntries(
    Object.entries(columns.labels).map(([key, label]) => [
      key,
      contactValue(contact, key) || columns.examples[label] || label,
    ]),
  );
  return (
    <Group align="flex-start" gap="xl">
      <Stack maw={820} miw={0} flex="1 1 320px">
        {restoredAt !== undefined && (
          <Alert color="blue" variant="light" py="xs">
            <Group justify="space-between">
              <Text size="sm">Draft of {minuteTime(restoredAt)} restored.</Text>
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => {
                  forgetDraft(draftName);
                  onStartOver();
                }}
              >
                Start over
              </Button>
            </Group>
          </Alert>
        )}
        <Step number={1} title="Message">
          <TextInput
            label="Campaign name"
            description="Only you see it."
            maxLength={255}
            value={name}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <Loaded query={templates}>
            {(list) => (
              <Select
                label="Template"
                placeholder="Choose an approved template"
                searchable
                nothingFoundMessage={
                  list.length === 0 ? 'No template is approved yet' : 'No approved template has this name'
                }
                data={list.map(({ id, name: title, language }) => ({
                  value: id,
                  label: `${title} (${language})`,
                }))}
                value={chosen ?? null}
                onChange={(id) => change({ templateId: id ?? undefined, variables: {} })}
              />
            )}
          </Loaded>
          <Unsendable template={definition} />
        </Step>
        <Step number={2} title="Audience">
          <Select
            label="Audience"
            allowDeselect={false}
            data={kinds.filter(({ value }) => value !== 'failed_contacts' || failed !== undefined)}
            value={kind}
            onChange={(value) => {
              // The recipients of a file that is no longer shown must not be sent to.
              setFile(undefined);
              change({ kind: (value ?? 'csv_contacts') as Kind, uploaded: undefined, variables: {} });
            }}
          />
          {kind === 'quick_contacts' && (
            <Numbers
              value={numbers}
              onChange={(text) => change({ numbers: text })}
              country={country}
              onCountry={(next) => change({ country: next })}
            />
          )}
          {kind === 'segmented' && (
            <Segments
              value={[...segments]}
              isOptional={filter !== undefined}
              onChange={(ids) => change({ segments: ids })}
            />
          )}
          {kind === 'segmented' && filter !== undefined && (
            <Filter filter={filter} onRemove={() => change({ filter: undefined })} />
          )}
          {kind === 'csv_contacts' ? (
            <CsvAudience
              templateId={chosen}
              variableMapping={settledMapping}
              uploaded={uploaded}
              onUpload={(next) => {
                setFile(undefined);
                change({ uploaded: next, variables: {} });
              }}
              onMapping={(next) => uploaded && change({ uploaded: { ...uploaded, mapping: next } })}
              onChange={setFile}
            >
              {file !== undefined && values}
            </CsvAudience>
          ) : (
            !areValuesKnown && values
          )}
        </Step>
        <Step number={3} title="Schedule">
          <Schedule draft={draft} isMarketing={template?.category === 'MARKETING'} onChange={change} />
        </Step>
        <Step number={4} title="Review">
          <Estimate
            check={found}
            error={check.error}
            busy={check.isFetching}
            isCounting={whole.isFetching}
            isReady={isReady}
            fields={fields}
            constants={areValuesKnown ? [] : constantsOf(fields, variables, columns.labels)}
          />
          {chosen !== undefined && (
            <TestMessage
              templateId={chosen}
              variables={variables}
              fields={fields}
              row={(kind === 'csv_contacts' ? file?.firstRow : undefined) ?? sample}
            />
          )}
          <Create
            body={body}
            // The answer for an audience that was changed since must not confirm the new one.
            check={isReady && asked === question ? found : undefined}
            isReady={isReady}
            templateName={templateName}
            onCreated={() => forgetDraft(draftName)}
          />
        </Step>
      </Stack>
      {chosen !== undefined && (
        <Preview
          templateId={chosen}
          mapping={kind === 'csv_contacts' ? undefined : settledMapping}
          first={kind === 'csv_contacts' ? file?.message : undefined}
          contact={usesContact ? contact : undefined}
          offerEnds={variables['limited_time_offer.expiration_time_ms']?.value ?? ''}
        />
      )}
    </Group>
  );
}

function Step({ number, title, children }: { number: number; title: string; children: ReactNode }) {
  return (
    <Card withBorder>
      <Stack>
        <Group gap="xs">
          <Badge circle variant="light" size="lg" aria-hidden>
            {number}
          </Badge>
          <Title order={2} size="h4">
            {title}
          </Title>
        </Group>
        {children}
      </Stack>
    </Card>
  );
}
