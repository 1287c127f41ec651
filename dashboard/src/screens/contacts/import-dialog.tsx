/** Imports a CSV of contacts: the service reads it, first as a dry run that shows what would become of its rows. */
import {
  Alert,
  Anchor,
  Autocomplete,
  Button,
  Checkbox,
  FileInput,
  Group,
  List,
  Progress,
  Select,
  SimpleGrid,
  Text,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, client } from '../../client.ts';
import { counted, number, percent } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { countryChoices } from '../../countries.ts';
import { importReasons } from '../../reasons.ts';
import { useTags } from '../../tags.ts';
import { consentOf, withColumn, withConsent } from './import-mapping.ts';

export function ImportDialog({
  opened,
  onClose,
}: {
  readonly opened: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="Import contacts" opened={opened} onClose={onClose} size="lg">
      {opened && <Steps onClose={onClose} />}
    </Dialog>
  );
}

interface Choices {
  /** Guessed by the service until the user changes it. */
  readonly mapping?: api.ContactImportMapping;
  readonly mode: api.ContactImportMode;
  readonly country: string;
  readonly tag: string;
}

const first: Choices = { mode: 'both', country: '', tag: '' };

const isOpen = (state: api.ContactImportState | undefined) => state === 'PENDING' || state === 'RUNNING';

/** Follows an import until it has ended. */
const useImport = (id: string | undefined) =>
  useQuery({
    queryKey: ['contact-import', id],
    queryFn: async () => (await api.getContactImport(client, id ?? '')).data,
    enabled: id !== undefined,
    // Small files are done within a second, and large ones need no more than 20 requests a minute.
    refetchInterval: ({ state: { data, dataUpdateCount } }) => {
      if (data !== undefined && !isOpen(data.state)) return false;
      return dataUpdateCount < 5 ? 700 : 3_500;
    },
  });

const bodyOf = (file: Uploaded, { mapping, mode, country }: Choices, dryRun: boolean) => ({
  csv_file_key: file.key,
  ...(mapping !== undefined && { mapping }),
  mode,
  ...(country !== '' && { default_country: country }),
  dry_run: dryRun,
});

interface Uploaded {
  readonly key: string;
  readonly headers: readonly string[];
}

function Steps({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient();
  const [choices, setChoices] = useState(first);
  const upload = useMutation({
    mutationFn: async (file: File): Promise<Uploaded> => {
      const { data } = await api.uploadCampaignCsv(client, file);
      return { key: data.csv_file_key, headers: data.headers };
    },
  });
  const file = upload.data;
  const trial = useMutation({
    mutationFn: async ({ of, by }: { readonly of: Uploaded; readonly by: Choices }) =>
      (await api.createContactImport(client, bodyOf(of, by, true))).data,
  });
  const real = useMutation({
    mutationFn: async ({
      of,
      mapping,
    }: {
      readonly of: Uploaded;
      readonly mapping: api.ContactImportMapping;
    }) => {
      const tag = choices.tag.trim();
      const given = { ...choices, mapping: tag === '' ? mapping : { ...mapping, tags: [tag] } };
      return (await api.createContactImport(client, bodyOf(of, given, false))).data;
    },
  });
  const tried = useImport(trial.data?.id).data ?? trial.data;
  const running = useImport(real.data?.id).data ?? real.data;
  const isDone = running !== undefined && !isOpen(running.state);
  useEffect(() => {
    if (isDone)
      void Promise.all(['contacts', 'tags'].map((key) => queryClient.invalidateQueries({ queryKey: [key] })));
  }, [isDone, queryClient]);
  const tags = useTags().data ?? [];
  const mapping = choices.mapping ?? tried?.mapping;
  const change = (next: Partial<Choices>) => {
    const changed = { ...choices, ...(mapping !== undefined && { mapping }), ...next };
    setChoices(changed);
    if (file !== undefined && next.tag === undefined) trial.mutate({ of: file, by: changed });
  };
  const choose = (chosen: File | null) => {
    setChoices(first);
    trial.reset();
    if (chosen !== null) upload.mutate(chosen, { onSuccess: (of) => trial.mutate({ of, by: first }) });
  };
  const error = upload.error ?? trial.error ?? real.error;
  if (running !== undefined)
    return (
      <>
        <Outcome found={running} />
        {isOpen(running.state) && (
          <Text size="sm">You can close this window: the import goes on, and is listed here again.</Text>
        )}
        <Group justify="flex-end">
          {isOpen(running.state) && <CancelButton id={running.id} />}
          <Button onClick={onClose}>{isOpen(running.state) ? 'Close' : 'Done'}</Button>
        </Group>
      </>
    );
  return (
    <>
      <Text size="sm">
        Columns: phone number (required), first name, last name, email. Others are saved as custom fields.
      </Text>
      <FileInput
        label="CSV file"
        accept=".csv,.txt,.tsv,text/csv"
        onChange={choose}
        placeholder={upload.isPending ? 'Uploading …' : 'Choose a file'}
      />
      {file === undefined && !upload.isPending && <EarlierImports />}
      {file !== undefined && mapping !== undefined && (
        <>
          <Columns headers={file.headers} mapping={mapping} onChange={(next) => change({ mapping: next })} />
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <Select
              label="Known contacts"
              allowDeselect={false}
              data={[
                { value: 'both', label: 'Update them' },
                { value: 'create', label: 'Skip them' },
                { value: 'update', label: 'Update only, add nobody' },
              ]}
              value={choices.mode}
              onChange={(mode) => mode !== null && change({ mode: mode as api.ContactImportMode })}
            />
            <Select
              label="Numbers without country code"
              placeholder="Are international"
              clearable
              searchable
              data={countryChoices()}
              value={choices.country === '' ? null : choices.country}
              onChange={(country) => change({ country: country ?? '' })}
            />
            <Autocomplete
              label="Add a tag"
              description="Optional. Type a new name to create it."
              limit={100}
              data={[...new Set(tags.map(({ name }) => name))]}
              value={choices.tag}
              onChange={(tag) => setChoices((old) => ({ ...old, tag }))}
            />
          </SimpleGrid>
        </>
      )}
      {tried !== undefined && <Outcome found={tried} />}
      {error && (
        <Alert color="red" role="alert">
          {error.message}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <ActionButton
          loading={real.isPending || upload.isPending}
          disabled={file === undefined || mapping === undefined}
          onClick={() => file !== undefined && mapping !== undefined && real.mutate({ of: file, mapping })}
        >
          Import
        </ActionButton>
      </Group>
    </>
  );
}

interface ColumnsProps {
  readonly headers: readonly string[];
  readonly mapping: api.ContactImportMapping;
  readonly onChange: (mapping: api.ContactImportMapping) => void;
}

const columns = [
  { key: 'phone_column', label: 'Phone number' },
  { key: 'country_code_column', label: 'Country' },
  { key: 'name_column', label: 'Name or first name' },
  { key: 'last_name_column', label: 'Last name' },
  { key: 'email_column', label: 'Email' },
] as const;

function Columns({ headers, mapping, onChange }: ColumnsProps) {
  const data = headers.map((header, at) => ({ value: String(at), label: header || `Column ${at + 1}` }));
  const consent = consentOf(mapping);
  const isOut = consent?.meaning !== 'opt_in';
  const fields = Object.entries(mapping.custom_field_mapping ?? {});
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 3 }} style={{ alignItems: 'end' }}>
        {columns.map(({ key, label }) => (
          <Select
            key={key}
            label={label}
            placeholder="none"
            clearable={key !== 'phone_column'}
            allowDeselect={false}
            data={data}
            value={columnOf(mapping, key)}
            onChange={(value) => onChange(withColumn(mapping, key, value, headers))}
          />
        ))}
        <Select
          label="Opt-outs or opt-ins"
          placeholder="none"
          clearable
          data={data}
          value={consent?.column == null ? null : String(consent.column)}
          onChange={(value) => onChange(withConsent(mapping, value, headers))}
        />
      </SimpleGrid>
      {consent?.column != null && (
        <Checkbox
          label={`“Yes” in “${headers[consent.column] || `Column ${consent.column + 1}`}” means that the person opted out`}
          description="An opt-out always counts. An opt-in never overrides an opt-out."
          checked={isOut}
          onChange={({ currentTarget: { checked } }) =>
            onChange({ ...mapping, consent: { ...consent, meaning: checked ? 'opt_out' : 'opt_in' } })
          }
        />
      )}
      {fields.length > 0 && (
        <Text size="sm" c="dimmed">
          Custom fields: {fields.map(([name]) => name).join(', ')}
        </Text>
      )}
    </>
  );
}

/** International numbers name the phone column as that of the country too. */
function columnOf(mapping: api.ContactImportMapping, key: (typeof columns)[number]['key']): string | null {
  const column = mapping[key];
  const isNone = column == null || (key === 'country_code_column' && column === mapping.phone_column);
  return isNone ? null : String(column);
}

/** What became of the rows, or what would become of them. */
function Outcome({ found }: { readonly found: api.ContactImport }) {
  const { state, dry_run: isTrial, counts, reasons, progress, error, id } = found;
  const { created, updated, unchanged, skipped, opted_out: optedOut } = counts;
  const goodColor = skipped > 0 ? 'orange' : 'teal';
  const will = isTrial ? 'would be ' : '';
  return (
    <>
      {isOpen(state) && (
        <>
          <Text size="sm" role="status">
            {isTrial ? 'Checking the rows' : 'Importing'}: {percent(progress, 1)},{' '}
            {counted(counts.rows, 'row')}
          </Text>
          <Progress.Root size="lg">
            <Progress.Section value={progress * 100} aria-label={`${percent(progress, 1)} of the file`} />
          </Progress.Root>
        </>
      )}
      {!isOpen(state) && (
        <Alert color={state === 'COMPLETED' ? goodColor : 'red'} role="status">
          {error && <Text size="sm">{error.message}</Text>}
          {state === 'CANCELLED' && <Text size="sm">Cancelled. What was imported stays.</Text>}
          <Text size="sm">
            {counted(created, 'contact')} {will}created, {number(updated)} {will}updated, {number(unchanged)}{' '}
            unchanged.
          </Text>
          {optedOut > 0 && (
            <Text size="sm">
              {counted(optedOut, 'row')} {optedOut === 1 ? 'says' : 'say'} that the person opted out
              {isTrial ? '.' : ': applied.'}
            </Text>
          )}
          {skipped > 0 && (
            <>
              <Text size="sm">{counted(skipped, 'row')} skipped:</Text>
              <List size="sm">
                {Object.entries(reasons).map(([reason, count]) => (
                  <List.Item key={reason}>
                    {number(count)}: {importReasons[reason]?.title ?? reason}. {importReasons[reason]?.advice}
                  </List.Item>
                ))}
              </List>
              <Anchor size="sm" href={`/dashboard/api/contacts/imports/${id}/rows?result=skipped&format=csv`}>
                Download skipped rows
              </Anchor>
            </>
          )}
        </Alert>
      )}
    </>
  );
}

function CancelButton({ id }: { readonly id: string }) {
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.cancelContactImport(client, id),
    onSuccess: ({ data }) => queryClient.setQueryData(['contact-import', id], data),
  });
  return (
    <ActionButton variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
      Stop the import
    </ActionButton>
  );
}

const stateWords: Readonly<Record<api.ContactImportState, string>> = {
  PENDING: 'waiting',
  RUNNING: 'importing',
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

const mostShown = 3;

/** The latest imports, of other users too. */
function EarlierImports() {
  const { data } = useQuery({
    queryKey: ['contact-imports'],
    queryFn: async () => (await api.listContactImports(client, { limit: 20 })).data,
  });
  const real = data?.filter(({ dry_run: isTrial }) => !isTrial).slice(0, mostShown) ?? [];
  if (real.length === 0) return null;
  return (
    <List size="sm" aria-label="Earlier imports">
      {real.map(({ id, created_at: at, state, counts, progress }) => (
        <List.Item key={id}>
          {new Date(at).toLocaleString()}: {stateWords[state]}
          {isOpen(state) ? ` (${percent(progress, 1)})` : ''}, {counted(counts.rows, 'row')},{' '}
          {number(counts.skipped)} skipped
        </List.Item>
      ))}
    </List>
  );
}
