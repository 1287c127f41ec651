/** Adds an operator key to a session whose own key lacks a right. */
import { Card, Code, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { useSession } from '../../account.ts';
import { addOperatorKey, isSignedOut } from '../../client.ts';
import { ActionButton } from '../controls/action-button.tsx';
import { KeyField } from './key-field.tsx';

interface OperatorKeyProps {
  /** The purpose of the key, as in `To recharge`. */
  readonly purpose: string;
  /** Label of the button. */
  readonly label: string;
}

export function OperatorKey({ purpose, label }: OperatorKeyProps) {
  const [key, setKey] = useState('');
  const session = useSession();
  const queryClient = useQueryClient();
  const add = useMutation({
    mutationFn: () => addOperatorKey(key.trim()),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['session'] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <Card withBorder component="form" onSubmit={submit}>
      <Stack gap="xs">
        <Text size="sm">
          {purpose}, an operator key of this workspace is needed; the present key
          {session && ` (mc_${session.keyId}, a ${session.scope} key)`} does not suffice. The operator of this
          service has such a key, or makes one with <Code>admin create-key --scope operator</Code>. It counts
          for 15 minutes.
        </Text>
        <Group align="flex-end">
          <KeyField
            label="Operator key"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            w={320}
          />
          <ActionButton type="submit" variant="default" loading={add.isPending}>
            {label}
          </ActionButton>
        </Group>
        {add.error && (
          <Text c="red" size="sm" role="alert">
            {isSignedOut(add.error) ? 'This is not an operator’s key of this workspace.' : add.error.message}
          </Text>
        )}
      </Stack>
    </Card>
  );
}
