/** A field whose text is looked for a moment after it was typed. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

interface SearchFieldProps extends TextInputProps {
  /** What is looked for when the screen opens. */
  readonly given: string | undefined;
  /** Undefined for an empty field. */
  readonly look: (text: string | undefined) => unknown;
}

export function SearchField({ given, look, ...field }: SearchFieldProps) {
  const [typed, setTyped] = useState(given ?? '');
  const apply = useDebouncedCallback((text: string) => void look(text.trim() || undefined), 300);
  return (
    <TextInput
      {...field}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        apply(value);
      }}
    />
  );
}
