/**
 * A button for an action that takes a while: meanwhile it cannot be pressed again, but keeps the focus, which a disabled
 * button loses.
 */
import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentProps, MouseEvent } from 'react';

type ActionButtonProps = ButtonProps & Pick<ComponentProps<'button'>, 'onClick' | 'type'>;

export function ActionButton({ loading = false, disabled, onClick, ...button }: ActionButtonProps) {
  return (
    <Button
      {...button}
      loading={loading}
      disabled={disabled}
      aria-busy={loading}
      onClick={loading ? (event: MouseEvent) => event.preventDefault() : onClick}
      renderRoot={(props) => <button {...props} disabled={disabled} />}
    />
  );
}
