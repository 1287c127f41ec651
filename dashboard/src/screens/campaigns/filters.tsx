/** Filters of the table of campaigns. */
import { Group, Select } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { campaignStatuses } from '../../../../src/domain/campaigns/campaign.ts';
import { useAllTemplates } from '../../all-templates.ts';
import { DayFields } from '../../parts/forms/day-fields.tsx';
import { SearchField } from '../../parts/forms/search-field.tsx';
import { stateWord } from '../../parts/display/states.ts';
import type { Strings } from '../../search-params.ts';

type Filter = Strings<'status' | 'search' | 'template' | 'from' | 'to'>;

interface FiltersProps {
  readonly value: Filter;
  readonly onChange: (change: Filter) => void;
}

export function Filters({ value: { status, search, template, from, to }, onChange }: FiltersProps) {
  const templates = useAllTemplates();
  return (
    <Group gap="sm" align="flex-end">
      <SearchField
        label="Search by name"
        given={search}
        onSearch={(text) => onChange({ search: text })}
        leftSection={<IconSearch size={16} aria-hidden />}
        style={{ flex: '1 1 220px' }}
      />
      <Select
        label="Status"
        placeholder="Any"
        clearable
        data={campaignStatuses.map((known) => ({ value: known, label: stateWord(known) }))}
        value={status ?? null}
        onChange={(next) => onChange({ status: next ?? undefined })}
        w={{ base: '47%', xs: 150 }}
      />
      <Select
        label="Template"
        placeholder="Any"
        clearable
        searchable
        data={(templates.data ?? []).map(({ id, name, language }) => ({
          value: id,
          label: `${name} (${language})`,
        }))}
        value={template ?? null}
        onChange={(next) => onChange({ template: next ?? undefined })}
        w={{ base: '47%', xs: 220 }}
      />
      <DayFields from={from} to={to} onChange={onChange} />
    </Group>
  );
}
