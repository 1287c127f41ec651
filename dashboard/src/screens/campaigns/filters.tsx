/** Filters of the table of campaigns. */
import { Group, Select, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { campaignStatuses } from '../../../../src/domain/campaigns/campaign.ts';
import { useAllTemplates } from '../../all-templates.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { stateWord } from '../../parts/states.ts';
import type { Strings } from '../../search-params.ts';

type Filter = Strings<'status' | 'search' | 'template' | 'from' | 'to'>;

interface FiltersProps {
  readonly value: Filter;
  readonly onChange: (change: Filter) => void;
}

const dayForm = /^\d{4}-\d{2}-\d{2}$/;

/** Converts whole days of the reader's zone to instants; `to` is included, and text that is no day is ignored. */
export function instantsOf({ from, to }: Strings<'from' | 'to'>): { from?: string; to?: string } {
  const startOf = (day: string | undefined, daysLater: number) => {
    const at = dayForm.test(day ?? '') ? new Date(`${day}T00:00`) : undefined;
    if (at === undefined || Number.isNaN(at.getTime())) return undefined;
    at.setDate(at.getDate() + daysLater);
    return at.toISOString();
  };
  const [begin, end] = [startOf(from, 0), startOf(to, 1)];
  return { ...(begin && { from: begin }), ...(end && { to: end }) };
}

export function Filters({ value: { status, search, template, from, to }, onChange }: FiltersProps) {
  const templates = useAllTemplates();
  const day = (label: string, key: 'from' | 'to', value: string | undefined) => (
    <TextInput
      type="date"
      label={label}
      max="9999-12-31"
      value={value ?? ''}
      onChange={(event) => onChange({ [key]: event.currentTarget.value || undefined })}
      w={{ base: '47%', xs: 150 }}
    />
  );
  return (
    <Group gap="sm" align="flex-end">
      <SearchField
        label="Search by name"
        given={search}
        look={(text) => onChange({ search: text })}
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
      {day('From', 'from', from)}
      {day('To', 'to', to)}
    </Group>
  );
}
