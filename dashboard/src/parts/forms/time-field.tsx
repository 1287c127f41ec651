/** Field for a moment in the reader's zone; it explains the moment, or what is wrong with it. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { ownZone, plannedTime } from '../../format.ts';
import { useClock } from '../display/time.tsx';
import { fieldTime, latest, momentOf, timeProblem } from './moment.ts';

/** `Berlin` of `Europe/Berlin` */
const cityOf = (zone: string): string => zone.split('/').at(-1)?.replaceAll('_', ' ') ?? zone;

type TimeFieldProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** A sentence that explains what an empty field means. */
  readonly empty?: string;
};

export function TimeField({ value, onChange, empty, ...field }: TimeFieldProps) {
  useClock();
  const at = momentOf(value);
  const [now] = useState(() => fieldTime(new Date()));
  return (
    <TextInput
      {...field}
      type="datetime-local"
      max={latest}
      min={now}
      value={value}
      error={timeProblem(value)}
      description={at === undefined ? `${cityOf(ownZone)} time.${empty ? ` ${empty}` : ''}` : plannedTime(at)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
