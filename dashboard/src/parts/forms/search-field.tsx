/** Search field that applies its text 300 ms after the last change, or when it is left. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback, useDidUpdate } from '@mantine/hooks';
import { useRef, useState } from 'react';

interface SearchFieldProps extends TextInputProps {
  /** The text that the screen searches for; the field follows it, such as after a step back. */
  readonly given: string | undefined;
  /** Starts the search; the text is undefined for an empty field. */
  readonly onSearch: (text: string | undefined) => unknown;
}

export function SearchField({ given, onSearch, ...field }: SearchFieldProps) {
  const [typed, setTyped] = useState(given ?? '');
  const applied = useRef(given);
  const apply = useDebouncedCallback((text: string) => {
    applied.current = text.trim() || undefined;
    void onSearch(applied.current);
  }, 300);
  useDidUpdate(() => {
    if (given === applied.current) return;
    applied.current = given;
    setTyped(given ?? '');
  }, [given]);
  return (
    <TextInput
      {...field}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        apply(value);
      }}
      // Applied later, the text would lead back to this screen from the one that a click opens.
      onBlur={() => apply.flush()}
    />
  );
}
