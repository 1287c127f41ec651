/** The end of a form: why saving failed, the way out, and the button that saves. */
import { Alert, Button, Group, Stack } from '@mantine/core';
import { ActionButton } from '../controls/action-button.tsx';

interface FormFootProps {
  /** Label of the button that saves. */
  readonly label: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly disabled?: boolean;
  /** Absent while the form cannot be left. */
  readonly onCancel: (() => void) | undefined;
}

export function FormFoot({ label, error, isPending, disabled, onCancel }: FormFootProps) {
  return (
    <Stack gap="sm">
      {error && (
        <Alert color="red" role="alert">
          {error.message}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" disabled={onCancel === undefined} onClick={onCancel}>
          Cancel
        </Button>
        <ActionButton type="submit" loading={isPending} disabled={disabled}>
          {label}
        </ActionButton>
      </Group>
    </Stack>
  );
}
