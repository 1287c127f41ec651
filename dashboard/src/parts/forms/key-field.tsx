/** A field for an API key; the browser does not store what is typed. */
import { PasswordInput, type PasswordInputProps } from '@mantine/core';

export function KeyField(props: PasswordInputProps) {
  return (
    <PasswordInput
      {...props}
      placeholder="mc_…"
      autoComplete="off"
      required
      withAsterisk={false}
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide what was typed' }}
    />
  );
}
