/** A field for a moment in the reader's zone, with what it means and what is wrong with it. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { ownZone, plannedTime } from '../format.ts';

const two = (value: number): string => String(value).padStart(2, '0');

/** As the field of the browser writes it. */
export const fieldTime = (at: Date): string =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;

const latest = '9999-12-31T23:59';

/** Undefined for an empty field and for a time that can be used. */
export function timeProblem(value: string): string | undefined {
  if (value === '') return undefined;
  const at = new Date(value);
  // A typed year may have six digits.
  if (value.length > latest.length || Number.isNaN(at.getTime()))
    return 'This is not a date with a year of four digits.';
  if (at.getTime() < Date.now() - 60_000) return 'This time has passed.';
  return undefined;
}

/** The moment; undefined where it is empty or cannot be used. */
export const momentOf = (value: string): Date | undefined =>
  value === '' || timeProblem(value) !== undefined ? undefined : new Date(value);

type TimeFieldProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What an empty field means. */
  readonly empty?: string;
};

export function TimeField({ value, onChange, empty, ...field }: TimeFieldProps) {
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
      description={
        at === undefined ? `In your time zone, ${ownZone}${empty ? `; ${empty}` : ''}` : plannedTime(at)
      }
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
