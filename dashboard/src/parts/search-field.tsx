/** Search field that applies its text 300 ms after the last change. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

interface SearchFieldProps extends TextInputProps {
  /** Text that the screen searches for when it opens. */
  readonly given: string | undefined;
  /** Starts the search; the text is undefined for an empty field. */
  readonly onSearch: (text: string | undefined) => unknown;
}

export function SearchField({ given, onSearch, ...field }: SearchFieldProps) {
  const [typed, setTyped] = useState(given ?? '');
  const apply = useDebouncedCallback((text: string) => void onSearch(text.trim() || undefined), 300);
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
