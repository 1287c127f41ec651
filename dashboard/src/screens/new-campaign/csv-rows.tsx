/** The first rows of a CSV as they would be sent, and the skipped ones as a file. */
import { Stack, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { IconDownload } from '@tabler/icons-react';
import { api, client } from '../../client.ts';
import { counted, number, phone } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { ErrorFace } from '../../parts/display/load-states.tsx';
import { explain } from '../../reasons.ts';
import { saveSkippedRows } from './skipped-rows.ts';

interface CsvRowsProps {
  readonly preview: api.CsvPreview;
  readonly fileKey: string;
  readonly templateId: string | undefined;
  readonly variableMapping: api.VariableMapping | undefined;
}

export function CsvRows({ preview, fileKey, templateId, variableMapping }: CsvRowsProps) {
  const { mapping, rows, reasons, rows_read: read, is_whole: isWhole } = preview;
  const save = useMutation({
    mutationFn: async () => {
      const body = {
        csv_mapping: mapping,
        with_skipped_rows: true,
        ...(templateId !== undefined && { template_id: templateId }),
        ...(variableMapping !== undefined && { variable_mapping: variableMapping }),
      };
      const { data } = await api.previewCampaignCsv(client, fileKey, body);
      saveSkippedRows(data.skipped_rows);
    },
  });
  const skipped = Object.entries(reasons);
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        {isWhole ? `${counted(read, 'row')}: ` : `Of the first ${number(read)} rows: `}
        {skipped
          .map(([reason, count]) => `${number(count)} skipped (${explain(reason).title.toLowerCase()})`)
          .join(', ') || 'none is skipped'}
        .
      </Text>
      {skipped.length > 0 && (
        <ActionButton
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<IconDownload size={14} aria-hidden />}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Download skipped rows
        </ActionButton>
      )}
      {save.error && <ErrorFace error={save.error} />}
      <Table.ScrollContainer minWidth={560}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Line</Table.Th>
              <Table.Th>Number</Table.Th>
              <Table.Th>Message</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.line}>
                <Table.Td>{row.line}</Table.Td>
                <Table.Td>
                  {row.phone_number ? phone(row.phone_number) : (row.cells[mapping.phone_column] ?? '')}
                </Table.Td>
                <Table.Td dir="auto">
                  {row.reason ? (
                    <Text size="sm" c="dimmed">
                      Skipped: {explain(row.reason).title}
                    </Text>
                  ) : (
                    <Text size="sm" lineClamp={2}>
                      {row.message?.body ?? ''}
                    </Text>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}
