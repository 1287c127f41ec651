/** From a template and a list to a campaign in four steps, checked before anything is created. */
import { Badge, Card, Group, Select, Stack, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { allOf, api, client } from '../../client.ts';
import { dayOf } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { momentOf, timeProblem } from '../../parts/forms/time-field.tsx';
import { forgetDraft, useDraft } from '../../parts/forms/use-draft.ts';
import { windowProblem } from '../../sending-window.ts';
import { Filter, kinds, linesOf, Numbers, Segments, type Kind } from './audience.tsx';
import { Create } from './create.tsx';
import { CsvAudience, type CsvFile } from './csv.tsx';
import type { Draft } from './draft.ts';
import { Estimate } from './estimate.tsx';
import { fieldsOf, mappingOf } from './fields.ts';
import { useFirstContact } from './first-contact.ts';
import { Preview } from './preview.tsx';
import { costProblem, Schedule } from './schedule.tsx';
import { TestMessage } from './test.tsx';
import { contactFields, Unsendable, useTemplate, VariableFields } from './variables.tsx';

const settledMs = 300;

export interface FormProps {
  readonly initial: Draft;
  /** Identifies what the form began with, such as `copy <campaign id>`; empty where it began empty. */
  readonly source: string;
  /** The campaign whose failed recipients are sent to: those with one of `reasons`, or all where it is empty. */
  readonly failed?:
    | { readonly campaign: api.CampaignDetail; readonly reasons: readonly string[] }
    | undefined;
}

export function Form({ initial, source, failed }: FormProps) {
  const draftName = `new-campaign ${source}`;
  const { draft, change } = useDraft(draftName, initial);
  const { kind, numbers, segments, filter, variables, at, uploaded, window, maxCost = '' } = draft;
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
    ...(kind === 'quick_contacts' && { quick_contacts: linesOf(numbers) }),
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
  const contact = useFirstContact(kind, segments);
  const definition = useTemplate(chosen).data;
  const fields = definition === undefined ? [] : fieldsOf(definition, variables);
  // The values of the earlier campaign are used again while its template is chosen and they are valid.
  const areValuesKnown =
    kind === 'failed_contacts' &&
    chosen === failed?.campaign.template_id &&
    mapping === undefined &&
    check.data?.problems.some(({ field }) => field.startsWith('variable_mapping')) !== true;
  const values = chosen !== undefined && (
    <VariableFields
      templateId={chosen}
      columns={kind === 'csv_contacts' ? file?.columns : undefined}
      value={variables}
      onChange={(next) => change({ variables: next })}
    />
  );
  return (
    <Group align="flex-start" gap="xl">
      <Stack maw={820} miw={0} flex="1 1 320px">
        <Step number={1} title="Message">
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
            <Numbers value={numbers} onChange={(text) => change({ numbers: text })} />
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
              onMapping={(columns) => uploaded && change({ uploaded: { ...uploaded, mapping: columns } })}
              onChange={setFile}
            >
              {file !== undefined && values}
            </CsvAudience>
          ) : (
            !areValuesKnown && values
          )}
        </Step>
        <Step number={3} title="Schedule">
          <Schedule
            name={name}
            draft={draft}
            isMarketing={template?.category === 'MARKETING'}
            onChange={change}
          />
        </Step>
        <Step number={4} title="Review">
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
          <Create
            body={body}
            // The answer for an audience that was changed since must not confirm the new one.
            check={isReady && asked === question ? check.data : undefined}
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
          contact={contact}
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
