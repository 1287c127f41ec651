/** Imports a CSV of contacts: its headings name the fields, its rows become contacts one by one. */
import { Alert, Autocomplete, Button, Code, FileInput, Group, List, Progress, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, client } from '../../client.ts';
import { counted, number } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { useTags } from '../../tags.ts';
import { importContacts, readContactsFile, type Imported } from './import-contacts.ts';

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

function Steps({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [tag, setTag] = useState('');
  const tags = useTags().data ?? [];
  /** Creates the tag where it is not there yet. */
  const tagIdsOf = async (name: string): Promise<readonly string[]> => {
    if (name === '') return [];
    const known = tags.find((one) => one.name.toLowerCase() === name.toLowerCase());
    return [known?.tagId ?? (await api.createTag(client, { name })).data.tagId];
  };
  const [done, setDone] = useState(0);
  const [total, setTotal] = useState(0);
  const stop = useRef(new AbortController());
  useEffect(() => {
    // Closing the dialog, or leaving the screen, stops the import.
    const controller = new AbortController();
    stop.current = controller;
    return () => controller.abort();
  }, []);
  const run = useMutation({
    mutationFn: async (): Promise<Imported> => {
      if (file === null) throw new Error('Choose a file first.');
      const rows = await readContactsFile(file);
      setTotal(rows.length);
      return importContacts(rows, await tagIdsOf(tag.trim()), setDone, stop.current.signal);
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['contacts'] }),
        queryClient.invalidateQueries({ queryKey: ['tags'] }),
      ]),
  });
  return (
    <>
      <Text size="sm">
        The first line holds the headings: <Code>phone</Code> (in international form), and if you like{' '}
        <Code>first name</Code>, <Code>last name</Code>, <Code>email</Code>. Any other heading becomes a
        custom field. Up to 10,000 rows; a campaign takes larger files.
      </Text>
      <FileInput
        label="CSV file"
        accept=".csv,text/csv"
        value={file}
        onChange={setFile}
        placeholder="Choose a file"
      />
      <Autocomplete
        label="Add a tag"
        description="Optional. Type a new name to create it."
        limit={100}
        data={[...new Set(tags.map(({ name }) => name))]}
        value={tag}
        onChange={setTag}
      />
      {run.isPending && total > 0 && (
        <Progress.Root size="lg">
          <Progress.Section
            value={(done / total) * 100}
            aria-label={`${number(done)} of ${number(total)} rows`}
          />
        </Progress.Root>
      )}
      {run.data && <Summary imported={run.data} />}
      {run.error && (
        <Alert color="red" role="alert">
          {run.error.message}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {run.data ? 'Done' : 'Cancel'}
        </Button>
        {!run.data && (
          <ActionButton loading={run.isPending} disabled={file === null} onClick={() => run.mutate()}>
            Import
          </ActionButton>
        )}
      </Group>
    </>
  );
}

function Summary({ imported: { created, known, refused, left } }: { imported: Imported }) {
  return (
    <Alert color={refused.length > 0 ? 'orange' : 'teal'} role="status">
      <Text size="sm">
        {counted(created, 'contact')} created, {number(known)} already there and not changed.
      </Text>
      {refused.length > 0 && (
        <>
          <Text size="sm">{counted(refused.length, 'row')} refused:</Text>
          <List size="sm">
            {refused.slice(0, 10).map(({ line, message }) => (
              <List.Item key={line}>
                Line {line}: {message}
              </List.Item>
            ))}
          </List>
          {refused.length > 10 && <Text size="sm">and {number(refused.length - 10)} more</Text>}
          {left > 0 && (
            <Text size="sm">
              Stopped here, as no row was good: {counted(left, 'row')} not tried. Look at the file’s columns.
            </Text>
          )}
        </>
      )}
    </Alert>
  );
}
