/** Asks for confirmation of an action that cannot be undone, or that costs money. */
import { Button, Group, Modal, Stack, Text, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, type ReactNode } from 'react';
import { focusMain } from './focus-main.ts';

export interface Question {
  readonly question: string;
  readonly consequence: ReactNode;
  readonly confirmation: string;
  /** Label of the button that does nothing. */
  readonly refusal?: string | undefined;
  readonly color?: string | undefined;
}

interface ConfirmProps extends Question {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

export function Confirm({
  question,
  consequence,
  confirmation,
  refusal = 'Cancel',
  color,
  opened,
  onClose,
  onConfirm,
}: ConfirmProps) {
  return (
    <Dialog title={question} opened={opened} onClose={onClose}>
      <Text size="sm" component="div">
        {consequence}
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          {refusal}
        </Button>
        <Button
          {...(color !== undefined && { color })}
          onClick={() => {
            // While the dialog fades out, the second click of a double click still hits this button.
            if (!opened) return;
            onClose();
            onConfirm();
          }}
        >
          {confirmation}
        </Button>
      </Group>
    </Dialog>
  );
}

interface DialogProps {
  readonly title: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly size?: string;
  readonly children: ReactNode;
}

/**
 * A dialog with a title. Mantine's own header would be a second banner of the page. A click beside it does not close it: that
 * would lose typed text, or a secret that is shown once.
 */
export function Dialog({ title, opened, onClose, size = 'md', children }: DialogProps) {
  // Mantine returns the focus only where a dialog is mounted before it opens.
  useEffect(() => {
    if (!opened) return undefined;
    const before = document.activeElement;
    return () => (before instanceof HTMLElement && before.isConnected ? before.focus() : focusMain());
  }, [opened]);
  return (
    <Modal.Root
      opened={opened}
      onClose={onClose}
      closeOnClickOutside={false}
      returnFocus={false}
      centered
      size={size}
    >
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Stack>
            <Modal.Title fw={600} fz={16} style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Modal.Title>
            {children}
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

interface ConfirmButtonProps extends ButtonProps, Question {
  readonly label: string;
  readonly onConfirm: () => void;
  readonly color?: string | undefined;
}

/** A button whose action is confirmed first. */
export function ConfirmButton({
  label,
  question,
  consequence,
  confirmation,
  refusal,
  onConfirm,
  color,
  ...button
}: ConfirmButtonProps) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button {...button} {...(color !== undefined && { color })} onClick={open}>
        {label}
      </Button>
      <Confirm
        {...{ question, consequence, confirmation, refusal, color, opened, onConfirm }}
        onClose={close}
      />
    </>
  );
}
