/** The audience of a campaign that is not a file. */
import { Button, Group, MultiSelect, Stack, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { allOf, api, client } from '../../client.ts';
import type { RecipientState } from '../../../../src/domain/campaigns/recipient.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { CountryField } from './country-field.tsx';

export type Kind = 'csv_contacts' | 'quick_contacts' | 'all_contacts' | 'segmented' | 'failed_contacts';
export const kinds: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'csv_contacts', label: 'A CSV file' },
  { value: 'quick_contacts', label: 'Type numbers' },
  { value: 'all_contacts', label: 'All contacts' },
  { value: 'segmented', label: 'Segments' },
  { value: 'failed_contacts', label: 'People a campaign did not reach' },
];

interface NumbersProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly country: string | undefined;
  readonly onCountry: (country: string | undefined) => void;
}

export function Numbers({ value, onChange, country, onCountry }: NumbersProps) {
  return (
    <Stack gap="sm">
      <Textarea
        label="One number per line"
        description="Add variables after a comma."
        placeholder={'+49 151 12345678, Ada\n+91 98765 43210, Grace'}
        autosize
        minRows={3}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <CountryField value={country} onChange={onCountry} />
    </Stack>
  );
}

interface SegmentsProps {
  readonly value: string[];
  /** Other conditions choose the contacts already. */
  readonly isOptional: boolean;
  readonly onChange: (ids: string[]) => void;
}

export function Segments({ value, isOptional, onChange }: SegmentsProps) {
  const missing = isOptional ? 'Any' : 'Choose at least one';
  const list = useQuery({
    queryKey: ['segments'],
    queryFn: () => allOf((place) => api.listSegments(client, { limit: 100, ...place })),
  });
  return (
    <Loaded query={list}>
      {(segments) => (
        <MultiSelect
          label="Segments"
          description={segments.length === 0 ? 'No segment yet. Create one under Segments.' : undefined}
          placeholder={value.length === 0 ? missing : ''}
          data={segments.map(({ id, name }) => ({ value: id, label: name }))}
          value={value}
          onChange={onChange}
        />
      )}
    </Loaded>
  );
}

/** Names the states of an earlier campaign by which the audience is chosen. */
export function Filter({ filter, onRemove }: { filter: api.ContactFilters; onRemove: () => void }) {
  const [condition] = filter.conditions;
  const id = /^campaign\.(.+)$/.exec(condition?.field ?? '')?.[1];
  const campaign = useQuery({
    queryKey: ['campaign', id],
    queryFn: async () => (await api.getCampaign(client, id ?? '')).data,
    enabled: id !== undefined,
  });
  const states = Array.isArray(condition?.value) ? condition.value.map(String) : [];
  const of = campaign.data === undefined ? 'another campaign' : `“${campaign.data.name}”`;
  const words = states.map((state) => stateWord(state as RecipientState).toLowerCase()).join(' or ');
  return (
    <Group gap="xs">
      <Text size="sm">
        {id === undefined || filter.conditions.length > 1
          ? 'Only contacts that meet the conditions of the copied campaign.'
          : `People of ${of} whose message is ${words}.`}
      </Text>
      <Button variant="subtle" size="compact-sm" onClick={onRemove}>
        Remove
      </Button>
    </Group>
  );
}

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
