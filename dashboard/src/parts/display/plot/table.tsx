import { Table } from '@mantine/core';
import { dayAndMinuteTime, number, shortDay, words } from '../../../format.ts';
import { series, type Part, type Step } from './series.ts';

export function PartsTable({ parts, step }: { parts: readonly Part[]; step: Step }) {
  return (
    <Table.ScrollContainer minWidth={420} mah={260}>
      <Table stickyHeader>
        <Table.Thead bg="var(--mantine-color-default)">
          <Table.Tr>
            <Table.Th>{words(step)}</Table.Th>
            {series.map(({ key, label }) => (
              <Table.Th key={key} ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {parts.toReversed().map((part) => (
            <Table.Tr key={part.at}>
              <Table.Td>
                {step === 'day' ? shortDay(new Date(part.at)) : dayAndMinuteTime(new Date(part.at))}
              </Table.Td>
              {series.map(({ key }) => (
                <Table.Td key={key} ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
                  {number(part[key])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
