/** Filters of notices and of the audit log; their state is in the address. */
import { Group, Select } from '@mantine/core';
import { words } from '../../format.ts';
import { DayFields } from '../../parts/forms/day-fields.tsx';
import type { Strings } from '../../search-params.ts';

export type ActivityFilter = Strings<'kind' | 'actor' | 'from' | 'to'>;

export interface FilterProps {
  readonly filter: ActivityFilter;
  readonly onFilter: (change: ActivityFilter) => void;
}

interface ActivityFiltersProps extends FilterProps {
  readonly kinds: readonly string[];
  /** Keys to choose from; absent for a list without keys. */
  readonly actors?: readonly string[];
}

export const isFiltered = (filter: ActivityFilter): boolean =>
  [filter.kind, filter.actor, filter.from, filter.to].some((one) => one !== undefined);

export function ActivityFilters({ filter, onFilter, kinds, actors }: ActivityFiltersProps) {
  const choice = (label: string, key: 'kind' | 'actor', data: { value: string; label: string }[]) => (
    <Select
      label={label}
      placeholder="Any"
      clearable
      searchable
      data={data}
      value={filter[key] ?? null}
      onChange={(next) => onFilter({ [key]: next ?? undefined })}
      w={{ base: '47%', xs: 200 }}
    />
  );
  return (
    <Group gap="sm" align="flex-end" mb="md">
      {choice(
        'Kind',
        'kind',
        kinds.map((kind) => ({ value: kind, label: words(kind) })),
      )}
      {actors &&
        choice(
          'Key',
          'actor',
          actors.map((key) => ({ value: key, label: `key ${key}` })),
        )}
      <DayFields from={filter.from} to={filter.to} onChange={onFilter} />
    </Group>
  );
}
