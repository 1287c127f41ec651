/** The first and the last day of a filter. */
import { TextInput } from '@mantine/core';
import type { Strings } from '../../search-params.ts';

type Days = Strings<'from' | 'to'>;

export function DayFields({ from, to, onChange }: Days & { onChange: (change: Days) => void }) {
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
    <>
      {day('From', 'from', from)}
      {day('To', 'to', to)}
    </>
  );
}
