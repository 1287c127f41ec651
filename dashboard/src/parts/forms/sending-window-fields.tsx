/** The fields of a sending window: hours, days and time zone. */
import { Chip, Group, Input, Select, Stack, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { dayName, weekDays, windowProblem, type SendingWindow, type WeekDay } from '../../sending-window.ts';

interface SendingWindowFieldsProps {
  readonly value: SendingWindow;
  readonly onChange: (value: SendingWindow) => void;
}

export function SendingWindowFields({ value, onChange }: SendingWindowFieldsProps) {
  // The list of the runtime lacks names such as UTC, which the service accepts.
  const zones = useMemo(
    () => [...new Set([value.timezone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].toSorted(),
    [value.timezone],
  );
  const time = (label: string, key: 'from' | 'to') => (
    <TextInput
      type="time"
      label={label}
      value={value[key]}
      onChange={(event) => onChange({ ...value, [key]: event.currentTarget.value })}
      w={130}
    />
  );
  const problem = windowProblem(value);
  const isOvernight = problem === undefined && value.to < value.from;
  return (
    <Stack gap="sm" role="group" aria-label="Sending window">
      <Group align="flex-end" gap="sm">
        {time('Send from', 'from')}
        {time('Send until', 'to')}
        <Select
          label="Time zone"
          searchable
          allowDeselect={false}
          data={zones}
          value={value.timezone}
          onChange={(timezone) => timezone !== null && onChange({ ...value, timezone })}
          style={{ flex: '1 1 200px' }}
        />
      </Group>
      <Group gap={6} role="group" aria-label="Days">
        <Chip.Group
          multiple
          value={[...value.days]}
          onChange={(days: WeekDay[]) =>
            onChange({ ...value, days: weekDays.filter((day) => days.includes(day)) })
          }
        >
          {weekDays.map((day) => (
            <Chip key={day} value={day} size="xs">
              {dayName(day)}
            </Chip>
          ))}
        </Chip.Group>
      </Group>
      {problem !== undefined && <Input.Error role="alert">{problem}</Input.Error>}
      {isOvernight && <Input.Description>It closes on the next day.</Input.Description>}
    </Stack>
  );
}
