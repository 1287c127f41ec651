/** Uploads a CSV, and shows its guessed columns and its first rows as they would be sent. Creates no contacts. */
import { Box, Checkbox, FileButton, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, type DragEvent, type MouseEvent, type ReactNode } from 'react';
import { api, client } from '../../client.ts';
import { counted } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { ErrorFace, LoadingFace } from '../../parts/display/load-states.tsx';
import { consentOf, withConsent } from '../contacts/import-mapping.ts';
import { CountryField } from './country-field.tsx';
import { CsvRows } from './csv-rows.tsx';
import type { Uploaded } from './draft.ts';
import { FirstLine } from './first-line.tsx';

export interface CsvFile {
  readonly key: string;
  readonly mapping: api.CsvMapping;
  /** Columns that variables may take values from: the name in the mapping → the heading in the file. */
  readonly columns: Readonly<Record<string, string>>;
  /** The message to the first recipient of the file that would be sent to. */
  readonly message: api.MessagePreview | undefined;
  /** The cells of the first row that would be sent to, by the names that variables may use. */
  readonly firstRow: Readonly<Record<string, string>>;
}

/** Lets the same file be chosen again, after it was corrected: without it, the browser reports no change. */
const forgetFile = ({ currentTarget }: MouseEvent<HTMLInputElement>) => {
  currentTarget.value = '';
};

const fields = [
  { key: 'phone_column', label: 'Phone number' },
  { key: 'country_code_column', label: 'Country' },
  { key: 'name_column', label: 'Name' },
  { key: 'email_column', label: 'Email' },
] as const;

interface CsvAudienceProps {
  readonly templateId: string | undefined;
  readonly variableMapping: api.VariableMapping | undefined;
  readonly uploaded: Uploaded | undefined;
  readonly onUpload: (uploaded: Uploaded | undefined) => void;
  readonly onMapping: (mapping: api.CsvMapping) => void;
  readonly onChange: (file: CsvFile | undefined) => void;
  /** Shown between the columns and the rows. */
  readonly children: ReactNode;
}

export function CsvAudience(props: CsvAudienceProps) {
  const { templateId, variableMapping, uploaded, onUpload, onMapping, onChange, children } = props;
  const upload = useMutation({
    mutationFn: async (file: File) => ({
      name: file.name,
      key: (await api.uploadCampaignCsv(client, file)).data.csv_file_key,
    }),
    onMutate: () => onUpload(undefined),
  });
  // The file chosen last is taken, however long the former one takes; none once another audience is chosen.
  const take = (file: File) => upload.mutate(file, { onSuccess: onUpload });
  const { key, mapping: chosen } = uploaded ?? {};
  const preview = useQuery({
    queryKey: ['csv', key, chosen, templateId, variableMapping],
    queryFn: async () =>
      (
        await api.previewCampaignCsv(client, key ?? '', {
          ...(chosen !== undefined && { csv_mapping: chosen }),
          ...(templateId !== undefined && { template_id: templateId }),
          ...(variableMapping !== undefined && { variable_mapping: variableMapping }),
        })
      ).data,
    enabled: key !== undefined,
    placeholderData: keepPreviousData,
  });
  const { data } = preview;
  useEffect(() => {
    if (key !== undefined && data !== undefined && !preview.isPlaceholderData) onChange(fileOf(key, data));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- called once for each answer
  }, [key, data, preview.isPlaceholderData]);
  const choose = (mapping: api.CsvMapping) => {
    // Until the new columns are answered, nothing can be sent by the former ones.
    onChange(undefined);
    onMapping(mapping);
  };

  const drop = (event: DragEvent) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file !== undefined) take(file);
  };
  return (
    <Stack>
      <Box
        onDragOver={(event) => event.preventDefault()}
        onDrop={drop}
        p="lg"
        style={{
          border: '2px dashed var(--mantine-color-default-border)',
          borderRadius: 12,
          textAlign: 'center',
        }}
      >
        <Group justify="center">
          <Text size="sm">{uploaded ? uploaded.name : 'Drop a CSV here, or'}</Text>
          <FileButton
            onChange={(file) => file && take(file)}
            accept=".csv,.txt,.tsv,text/csv"
            inputProps={{ 'aria-label': 'CSV file', onClick: forgetFile }}
          >
            {(chooser) => (
              <ActionButton {...chooser} variant="default" size="xs" loading={upload.isPending}>
                {uploaded ? 'Choose another' : 'Choose a file'}
              </ActionButton>
            )}
          </FileButton>
        </Group>
      </Box>
      {upload.error && <ErrorFace error={upload.error} />}
      {key !== undefined && preview.error && (
        <ErrorFace error={preview.error} retry={() => void preview.refetch()} />
      )}
      {preview.isLoading && <LoadingFace />}
      {data !== undefined && key !== undefined && (
        <>
          <FirstLine key={key} preview={data} file={upload.variables} onFile={take} />
          <Columns preview={data} onChange={choose} />
          {children}
          <CsvRows preview={data} fileKey={key} templateId={templateId} variableMapping={variableMapping} />
        </>
      )}
    </Stack>
  );
}

function fileOf(key: string, { headers, mapping, rows }: api.CsvPreview): CsvFile {
  const places: Record<string, number> = {
    ...(mapping.name_column != null && { name_column: mapping.name_column }),
    ...(mapping.email_column != null && { email_column: mapping.email_column }),
    ...mapping.custom_field_mapping,
  };
  const byName = (of: (column: number) => string) =>
    Object.fromEntries(Object.entries(places).map(([name, column]) => [name, of(column)]));
  const first = rows.find(({ reason }) => reason === null);
  return {
    key,
    mapping,
    columns: byName((column) => headers[column] || `Column ${column + 1}`),
    message: first?.message ?? undefined,
    firstRow: byName((column) => first?.cells[column] ?? ''),
  };
}

interface ColumnsProps {
  readonly preview: api.CsvPreview;
  readonly onChange: (mapping: api.CsvMapping) => void;
}

const nameOf = (headers: readonly string[], column: number): string =>
  headers[column] || `Column ${column + 1}`;

function Columns({ preview, onChange }: ColumnsProps) {
  const { headers, mapping, confidence } = preview;
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 4 }} style={{ alignItems: 'end' }}>
        {fields.map(({ key, label }) => {
          const column = mapping[key];
          const shown = column == null ? null : String(column);
          const isUnsure = (confidence[key] ?? 1) < 0.7 && column != null;
          return (
            <Select
              key={key}
              label={label}
              placeholder="none"
              description={isUnsure ? 'Please check' : undefined}
              clearable={key === 'name_column' || key === 'email_column'}
              allowDeselect={false}
              data={headers.map((_, at) => ({ value: String(at), label: nameOf(headers, at) }))}
              value={shown}
              onChange={(value) => {
                if (value === shown) return;
                const { [key]: _, ...others } = mapping;
                // International numbers name the phone column as that of the country too.
                const isBoth = key === 'phone_column' && mapping.country_code_column === mapping.phone_column;
                onChange({
                  ...others,
                  ...(value !== null && { [key]: Number(value) }),
                  ...(isBoth && { country_code_column: Number(value) }),
                } as api.CsvMapping);
              }}
            />
          );
        })}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <CountryField
          value={mapping.default_country ?? undefined}
          onChange={(country) => onChange({ ...mapping, default_country: country ?? null })}
        />
        <ConsentColumn preview={preview} onChange={onChange} />
      </SimpleGrid>
    </>
  );
}

const mostCells = 4;

/** The column that says who opted out or in; it is found by its heading. */
function ConsentColumn({ preview: { headers, mapping, rows, reasons }, onChange }: ColumnsProps) {
  const consent = consentOf(mapping);
  const column = consent?.column;
  const isOut = consent?.meaning !== 'opt_in';
  const skipped = rows.filter(({ reason }) => reason === 'UNSUBSCRIBED');
  const cells =
    column === undefined
      ? []
      : [...new Set(skipped.map((row) => row.cells[column]?.trim() ?? ''))].filter(Boolean);
  const people = reasons['UNSUBSCRIBED'] ?? 0;
  return (
    <Stack gap="xs">
      <Select
        label={isOut ? 'Opt-out column' : 'Opt-in column'}
        placeholder="none"
        clearable
        data={headers.map((_, at) => ({ value: String(at), label: nameOf(headers, at) }))}
        value={column === undefined ? null : String(column)}
        onChange={(value) => onChange(withConsent(mapping, value, headers))}
        description={
          column !== undefined &&
          (people === 0
            ? 'No row says that somebody opted out.'
            : `Skip ${cells.slice(0, mostCells).join(', ') || 'who opted out'} (${counted(people, 'person', 'people')})`)
        }
      />
      {column !== undefined && (
        <Checkbox
          size="xs"
          label={`“Yes” in “${nameOf(headers, column)}” means that the person opted out`}
          checked={isOut}
          onChange={({ currentTarget: { checked } }) =>
            onChange({ ...mapping, consent: { ...consent, meaning: checked ? 'opt_out' : 'opt_in' } })
          }
        />
      )}
    </Stack>
  );
}
