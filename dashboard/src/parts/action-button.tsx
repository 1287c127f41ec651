/**
 * A button for an action that takes a while: meanwhile it cannot be pressed again, but keeps the focus, which a disabled
 * button loses. It ignores the second click of a double click and the repetition of a held key, which would undo the first
 * where the button's meaning turns, such as from Unsubscribe to Subscribe.
 */
import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentProps, KeyboardEvent, MouseEvent } from 'react';

type ActionButtonProps = ButtonProps & Pick<ComponentProps<'button'>, 'onClick' | 'type'>;

export function ActionButton({ loading = false, disabled, onClick, ...button }: ActionButtonProps) {
  return (
    <Button
      {...button}
      loading={loading}
      disabled={disabled}
      aria-busy={loading}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.repeat && event.key === 'Enter') event.preventDefault();
      }}
      onClick={(event: MouseEvent<HTMLButtonElement>) => {
        if (loading || event.detail > 1) event.preventDefault();
        else onClick?.(event);
      }}
      renderRoot={(props) => <button {...props} disabled={disabled} />}
    />
  );
}
