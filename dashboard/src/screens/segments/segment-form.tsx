/** Form of a segment: its conditions, with the number of contacts that match them now. */
import {
  ActionIcon,
  Alert,
  Autocomplete,
  Button,
  Card,
  Group,
  MultiSelect,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { allOf, api, client } from '../../client.ts';
import { number } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { changedFields } from '../../parts/forms/changed-fields.ts';
import { FormFoot } from '../../parts/forms/form-foot.tsx';
import { forgetDraft, useRecordDraft } from '../../parts/forms/use-draft.ts';
import { sendOnce } from '../../send-once.ts';
import {
  campaignPrefix,
  campaignStates,
  choiceOf,
  customPrefix,
  fieldChoices,
  firstOperator,
  isDate,
  isFilledIn,
  operatorsOf,
  readValue,
  takesDays,
  takesValue,
  valuesOf,
  writeValue,
  type Draft,
} from './conditions.ts';
import { useTags } from '../../tags.ts';

interface SegmentFormProps {
  /** Undefined for a new segment. */
  readonly id: string | undefined;
  readonly onClose: () => void;
}

const blank: Draft = { field: 'countryCode', operator: 'eq', value: '' };

export function SegmentForm({ id, onClose: close }: SegmentFormProps) {
  const onClose = () => {
    forgetDraft(draftOf(id));
    close();
  };
  const query = useQuery({
    queryKey: ['segment', id],
    queryFn: async () => (await api.getSegment(client, id ?? '')).data,
    enabled: id !== undefined,
    staleTime: Infinity,
    // Another user may have changed it since the form was last open.
    gcTime: 0,
  });
  if (id === undefined) return <Form segment={undefined} onClose={onClose} />;
  return <Loaded query={query}>{(segment) => <Form segment={segment} onClose={onClose} />}</Loaded>;
}

/** The name of the form's draft. */
const draftOf = (id = 'new'): string => `segment ${id}`;

const initial = (segment: api.Segment | undefined) => ({
  name: segment?.name ?? '',
  match: segment?.match ?? 'all',
  drafts: segment?.conditions.map(({ field, operator, value }): Draft => ({
    field,
    operator,
    value: writeValue(value),
  })) ?? [blank],
});

const bodyOf = ({ name, match, drafts }: ReturnType<typeof initial>) =>
  ({
    name,
    match,
    conditions: drafts.map(({ field, operator, value }) => ({
      field,
      operator,
      ...(takesValue(operator) && { value: readValue(field, operator, value) }),
    })),
  }) as api.CreateSegment;

function Form({ segment, onClose }: { segment: api.Segment | undefined; onClose: () => void }) {
  const queryClient = useQueryClient();
  const { before, draft: fields, change } = useRecordDraft(draftOf(segment?.id), initial(segment));
  const { match, drafts } = fields;
  const setDrafts = (next: readonly Draft[]) => change({ drafts: [...next] });
  const body = bodyOf(fields);
  const { name, conditions } = body;
  const isComplete = drafts.every(isFilledIn);
  const [asked] = useDebouncedValue(isComplete ? JSON.stringify({ match, conditions }) : undefined, 400);
  const count = useQuery({
    queryKey: ['segment-count', asked],
    queryFn: async () => (await api.countSegment(client, JSON.parse(asked ?? '') as api.CountSegment)).data,
    enabled: isComplete && asked !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const save = useMutation({
    mutationFn: async () => {
      if (segment === undefined) await sendOnce('segment', api.createSegment, body);
      else await api.updateSegment(client, segment.id, changedFields(bodyOf(before), body));
    },
    onSuccess: async () => {
      forgetDraft(draftOf(segment?.id));
      await queryClient.invalidateQueries({ queryKey: ['segments'] });
      await queryClient.invalidateQueries({ queryKey: ['segment'] });
    },
  });
  const changeOne = (at: number, draft: Draft) =>
    setDrafts(drafts.map((one, index) => (index === at ? draft : one)));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <Card withBorder component="form" onSubmit={submit} aria-label={segment?.name ?? 'New segment'}>
      <Stack>
        <TextInput
          label="Segment’s name"
          value={name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          required
          maxLength={255}
          withAsterisk={false}
        />
        <SegmentedControl
          aria-label="Match"
          value={match}
          onChange={(chosen) => change({ match: chosen === 'any' ? 'any' : 'all' })}
          data={[
            { value: 'all', label: 'All conditions' },
            { value: 'any', label: 'Any condition' },
          ]}
          w="max-content"
        />
        {drafts.map((draft, at) => (
          <Condition
            key={at}
            at={at + 1}
            draft={draft}
            onChange={(next) => changeOne(at, next)}
            onRemove={
              drafts.length === 1 ? undefined : () => setDrafts(drafts.filter((_, index) => index !== at))
            }
          />
        ))}
        <Button
          variant="subtle"
          size="compact-sm"
          w="max-content"
          onClick={() => setDrafts([...drafts, blank])}
        >
          Add condition
        </Button>
        <Text role="status" aria-live="polite">
          {!isComplete && 'Fill in the condition to see the count.'}
          {isComplete && count.data && (
            <>
              <b>{number(count.data.count)}</b>{' '}
              {count.data.count === 1 ? 'contact matches' : 'contacts match'}, of whom{' '}
              {number(count.data.subscribed)} can receive campaigns.
            </>
          )}
        </Text>
        {isComplete && count.error && !save.error && (
          <Alert color="orange" role="alert">
            {count.error.message}
          </Alert>
        )}
        <FormFoot label="Save segment" error={save.error} isPending={save.isPending} onCancel={onClose} />
      </Stack>
    </Card>
  );
}

interface ConditionProps {
  /** Number of the condition, from 1. */
  readonly at: number;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly onRemove: (() => void) | undefined;
}

function Condition({ at, draft, onChange, onRemove }: ConditionProps) {
  const { field, operator, value } = draft;
  const choice = choiceOf(field);
  const fields = useContactFields(choice === customPrefix);
  const type = fields.data?.find(({ id }) => `${customPrefix}${id}` === field)?.type;
  const setField = (next: string, nextType?: api.ContactFieldType) =>
    onChange({ field: next, operator: firstOperator(next, nextType), value: '' });
  return (
    <Group align="flex-end" gap="xs">
      <Select
        label={`Field ${at}`}
        data={[...fieldChoices]}
        value={choice}
        allowDeselect={false}
        onChange={(next) => next && setField(next)}
        w={190}
      />
      {choice === customPrefix && (
        <Autocomplete
          label="Custom field"
          data={fields.data?.map(({ id }) => id) ?? []}
          renderOption={({ option }) => (
            <FieldOption field={fields.data?.find(({ id }) => id === option.value)} id={option.value} />
          )}
          value={field.slice(customPrefix.length)}
          onChange={(id) => {
            const known = fields.data?.find((one) => one.id === id);
            if (known === undefined) onChange({ ...draft, field: `${customPrefix}${id}` });
            else setField(`${customPrefix}${id}`, known.type);
          }}
          w={180}
        />
      )}
      {choice === campaignPrefix && (
        <CampaignSelect
          value={field.slice(campaignPrefix.length)}
          onChange={(id) => onChange({ ...draft, field: `${campaignPrefix}${id}` })}
        />
      )}
      <Select
        label={`Operator ${at}`}
        data={[...operatorsOf(field, type)]}
        value={operator}
        allowDeselect={false}
        onChange={(next) => next && onChange({ field, operator: next as Draft['operator'], value })}
        w={180}
      />
      {takesValue(operator) && (
        <Value
          label={`Value ${at}`}
          draft={draft}
          type={type}
          onChange={(next) => onChange({ field, operator, value: next })}
        />
      )}
      {onRemove && (
        <ActionIcon
          variant="subtle"
          color="red"
          aria-label={`Remove condition ${at}`}
          onClick={onRemove}
          mb={4}
        >
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      )}
      {value === '' && type !== undefined && takesValue(operator) && (
        <FieldHint field={fields.data?.find(({ id }) => `${customPrefix}${id}` === field)} />
      )}
    </Group>
  );
}

const useContactFields = (enabled: boolean) =>
  useQuery({
    queryKey: ['contact-fields'],
    queryFn: async () => (await api.listContactFields(client)).data,
    staleTime: 60_000,
    enabled,
  });

const exampleOf = ({ type, examples }: api.ContactField): string =>
  [type, ...(examples.length > 0 ? [`such as ${examples.join(', ')}`] : [])].join(', ');

function FieldOption({ field, id }: { field: api.ContactField | undefined; id: string }) {
  return (
    <div>
      <Text size="sm">{id}</Text>
      {field && (
        <Text size="xs" c="dimmed" truncate maw={220}>
          {exampleOf(field)}
        </Text>
      )}
    </div>
  );
}

function FieldHint({ field }: { field: api.ContactField | undefined }) {
  if (field === undefined) return null;
  return (
    <Text size="xs" c="dimmed" w="100%">
      {exampleOf(field)}
    </Text>
  );
}

function CampaignSelect({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const [search, setSearch] = useState('');
  const [asked] = useDebouncedValue(search, 300);
  const found = useQuery({
    queryKey: ['campaigns', { search: asked, limit: 20 }],
    queryFn: async () =>
      (await api.listCampaigns(client, { limit: 20, ...(asked !== '' && { search: asked }) })).data,
    placeholderData: keepPreviousData,
  });
  const chosen = useQuery({
    queryKey: ['campaign', value],
    queryFn: async () => (await api.getCampaign(client, value)).data,
    enabled: value !== '',
  });
  const known = [...(chosen.data === undefined ? [] : [chosen.data]), ...(found.data ?? [])];
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return (
    <Select
      label="Campaign"
      data={[...names].map(([id, name]) => ({ value: id, label: name }))}
      value={value || null}
      onChange={(id) => id !== null && onChange(id)}
      searchable
      onSearchChange={setSearch}
      filter={({ options }) => options}
      w={220}
    />
  );
}

interface ValueProps {
  readonly label: string;
  readonly draft: Draft;
  readonly type: api.ContactFieldType | undefined;
  readonly onChange: (value: string) => void;
}

const consentChoices = [
  { value: 'all', label: 'All messages' },
  { value: 'no_marketing', label: 'No marketing' },
  { value: 'none', label: 'Nothing' },
];
const booleanChoices = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];
const stateChoices = campaignStates.map((state) => ({
  value: state,
  label: state === 'REPLIED' ? 'Replied' : stateWord(state),
}));

function Value({ label, draft: { field, operator, value }, type, onChange }: ValueProps) {
  const tags = useTags(field === 'tag');
  const segments = useQuery({
    queryKey: ['segments'],
    queryFn: () => allOf((place) => api.listSegments(client, { limit: 100, ...place })),
    enabled: field === 'segment',
  });
  const one = (data: { value: string; label: string }[]) => (
    <Select
      label={label}
      data={data}
      value={value || null}
      onChange={(next) => onChange(next ?? '')}
      searchable
      limit={100}
      w={220}
    />
  );
  const several = (data: { value: string; label: string }[]) => (
    <MultiSelect
      label={label}
      data={data}
      value={valuesOf(value)}
      onChange={(next) => onChange(next.join(', '))}
      searchable
      limit={300}
      w={260}
    />
  );
  const isList = operator === 'in' || operator === 'not_in';
  if (field === 'tag') return one(tags.data?.map(({ tagId, name }) => ({ value: tagId, label: name })) ?? []);
  if (field === 'segment')
    return several(segments.data?.map(({ id, name }) => ({ value: id, label: name })) ?? []);
  if (choiceOf(field) === campaignPrefix) return several(stateChoices);
  if (field === 'country' && isList) return several(countries);
  if (field === 'country') return one(countries);
  if (field === 'consent') return isList ? several(consentChoices) : one(consentChoices);
  if (field === 'subscribed' || type === 'boolean') return one(booleanChoices);
  const isDay =
    isDate(field, type) && !takesDays(operator) && (value === '' || /^\d{4}-\d\d-\d\d$/.test(value));
  return (
    <TextInput
      label={label}
      type={isDay ? 'date' : 'text'}
      inputMode={takesDays(operator) ? 'numeric' : undefined}
      placeholder={takesDays(operator) ? 'Number of days' : undefined}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      w={220}
    />
  );
}

const regionNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
/** Codes that name no country of phone numbers. */
const noCountries = [
  'AQ',
  'BV',
  'CP',
  'CQ',
  'DG',
  'EA',
  'EU',
  'EZ',
  'GS',
  'HM',
  'IC',
  'PN',
  'QO',
  'TF',
  'UM',
  'UN',
  'XA',
  'XB',
  'ZZ',
];
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

const countries = letters
  .flatMap((first) => letters.map((second) => `${first}${second}`))
  .flatMap((code) => {
    const name = noCountries.includes(code) ? undefined : regionNames.of(code);
    return name === undefined ? [] : [{ value: code, label: name }];
  })
  .toSorted((a, b) => a.label.localeCompare(b.label));
