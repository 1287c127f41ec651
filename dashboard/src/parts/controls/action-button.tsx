/**
 * A button for an action that takes a while: meanwhile it cannot be pressed again, but keeps the focus, which a disabled
 * button loses. It ignores the second click of a double click and the repetition of a held key, which would undo the first
 * where the button's meaning turns, such as from Unsubscribe to Subscribe.
 */
import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentProps, KeyboardEvent, MouseEvent } from 'react';

interface ActionButtonProps extends ButtonProps, Pick<ComponentProps<'button'>, 'onClick' | 'type'> {
  /** Not to be pressed at present. It keeps the focus too: its opposite must not get a key press that was meant for it. */
  readonly isOff?: boolean;
}

export function ActionButton({
  loading = false,
  disabled,
  isOff = false,
  onClick,
  ...button
}: ActionButtonProps) {
  return (
    <Button
      {...button}
      loading={loading}
      disabled={disabled}
      aria-busy={loading}
      {...(isOff && { 'aria-disabled': true, 'data-disabled': true })}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.repeat && event.key === 'Enter') event.preventDefault();
      }}
      onClick={(event: MouseEvent<HTMLButtonElement>) => {
        if (loading || isOff || event.detail > 1) event.preventDefault();
        else onClick?.(event);
      }}
      renderRoot={(props) => <button {...props} disabled={disabled} />}
    />
  );
}
