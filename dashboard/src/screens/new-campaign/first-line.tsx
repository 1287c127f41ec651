/** Asks whether a first line with a phone number is a heading: a file without headings would lose its first recipient. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { api } from '../../client.ts';

const looksLikeNumber = (cell: string): boolean =>
  /^\+?[\d\s()./-]+$/.test(cell) && cell.replaceAll(/\D/g, '').length >= 7;

interface FirstLineProps {
  readonly preview: api.CsvPreview;
  /** The file that the user chose; undefined after a reload of the page. */
  readonly file: File | undefined;
  readonly onFile: (file: File) => void;
}

export function FirstLine({ preview: { headers, delimiter }, file, onFile }: FirstLineProps) {
  const [isHeading, setHeading] = useState(false);
  if (isHeading || !headers.some(looksLikeNumber)) return null;
  const withHeadings = () => {
    if (file === undefined) return;
    const line = headers.map((_, at) => `Column ${at + 1}`).join(delimiter);
    onFile(new File([`${line}\n`, file], file.name, { type: file.type }));
  };
  return (
    <Alert color="orange" variant="light" role="alert" title="Is the first line a person?">
      <Text size="sm">
        It holds a phone number, and is taken for the headings of the columns: nothing would be sent to it.
      </Text>
      <Group mt="xs">
        {file !== undefined && (
          <Button size="xs" onClick={withHeadings}>
            It is a person
          </Button>
        )}
        <Button size="xs" variant="default" onClick={() => setHeading(true)}>
          It is a heading
        </Button>
      </Group>
    </Alert>
  );
}
