/** The audience of a campaign that is not a file. */
import { MultiSelect, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { allOf, api, client } from '../../client.ts';
import { Loaded } from '../../parts/display/load-states.tsx';

export type Kind = 'csv_contacts' | 'quick_contacts' | 'all_contacts' | 'segmented' | 'failed_contacts';
export const kinds: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'csv_contacts', label: 'A CSV file' },
  { value: 'quick_contacts', label: 'Type numbers' },
  { value: 'all_contacts', label: 'All contacts' },
  { value: 'segmented', label: 'Contacts of segments' },
  { value: 'failed_contacts', label: 'People a campaign did not reach' },
];

export function Numbers({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  return (
    <Textarea
      label="One number per line"
      description="With country code. Add variables after a comma."
      placeholder={'+49 151 12345678, Ada\n+91 98765 43210, Grace'}
      autosize
      minRows={3}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export function Segments({ value, onChange }: { value: string[]; onChange: (ids: string[]) => void }) {
  const list = useQuery({
    queryKey: ['segments'],
    queryFn: () => allOf((place) => api.listSegments(client, { limit: 100, ...place })),
  });
  return (
    <Loaded query={list}>
      {(segments) => (
        <MultiSelect
          label="Segments"
          description={segments.length === 0 ? 'There is none yet: make one under Segments' : undefined}
          placeholder={value.length === 0 ? 'Choose at least one' : ''}
          data={segments.map(({ id, name }) => ({ value: id, label: name }))}
          value={value}
          onChange={onChange}
        />
      )}
    </Loaded>
  );
}

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
