/** Form of a segment: its conditions, with the number of contacts that match them now. */
import {
  ActionIcon,
  Alert,
  Button,
  Card,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, client } from '../../client.ts';
import { number } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { changedFields } from '../../parts/forms/changed-fields.ts';
import { FormFoot } from '../../parts/forms/form-foot.tsx';
import { forgetDraft, useRecordDraft } from '../../parts/forms/use-draft.ts';
import { sendOnce } from '../../send-once.ts';
import {
  fieldChoices,
  firstOperator,
  isFilledIn,
  operatorsOf,
  readValue,
  takesValue,
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

function Condition({ at, draft: { field, operator, value }, onChange, onRemove }: ConditionProps) {
  const tags = useTags(field === 'tag');
  const isCustom = field.startsWith('custom.');
  return (
    <Group align="flex-end" gap="xs">
      <Select
        label={`Field ${at}`}
        data={[...fieldChoices]}
        value={isCustom ? 'custom.' : field}
        allowDeselect={false}
        onChange={(next) => next && onChange({ field: next, operator: firstOperator(next), value: '' })}
        w={170}
      />
      {isCustom && (
        <TextInput
          label="Custom field"
          value={field.slice('custom.'.length)}
          onChange={({ currentTarget }) =>
            onChange({ field: `custom.${currentTarget.value}`, operator, value })
          }
          w={140}
        />
      )}
      <Select
        label={`Operator ${at}`}
        data={[...operatorsOf(field)]}
        value={operator}
        allowDeselect={false}
        onChange={(next) => next && onChange({ field, operator: next as Draft['operator'], value })}
        w={180}
      />
      {takesValue(operator) &&
        (field === 'tag' ? (
          <Select
            label={`Value ${at}`}
            data={tags.data?.map(({ tagId, name }) => ({ value: tagId, label: name })) ?? []}
            value={value || null}
            onChange={(next) => onChange({ field, operator, value: next ?? '' })}
            searchable
            limit={100}
            w={220}
          />
        ) : (
          <TextInput
            label={`Value ${at}`}
            value={value}
            onChange={({ currentTarget }) => onChange({ field, operator, value: currentTarget.value })}
            placeholder={field === 'subscribed' ? 'true or false' : undefined}
            w={220}
          />
        ))}
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
    </Group>
  );
}
