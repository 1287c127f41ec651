/** The actions for the chosen rows of a table, and their result. */
import { Alert, CloseButton, Group, Paper, Text } from '@mantine/core';
import { useDidUpdate } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { number } from '../../format.ts';
import { focusMain } from '../controls/focus-main.ts';
import type { Bulk } from './use-bulk.ts';

export function BulkBar({ bulk, children }: { bulk: Bulk; children: ReactNode }) {
  const { chosen, choose, run } = bulk;
  const failed = run.data?.failed ?? [];
  useDidUpdate(() => {
    if (chosen.size === 0 && document.activeElement === document.body) focusMain();
  }, [chosen.size]);
  return (
    <>
      {chosen.size > 0 && (
        <Paper withBorder p="xs" role="region" aria-label="Chosen rows">
          <Group gap="sm">
            <Text size="sm" fw={600}>
              {number(chosen.size)} selected
            </Text>
            {children}
            <CloseButton aria-label="Choose none" size="sm" ml="auto" onClick={() => choose(new Set())} />
          </Group>
        </Paper>
      )}
      {failed.length > 0 && (
        <Alert color="orange" role="alert" title={`Could not change ${number(failed.length)}`}>
          {[...new Set(failed)].slice(0, 3).map((message) => (
            <Text key={message} size="sm">
              {message}
            </Text>
          ))}
        </Alert>
      )}
      {run.error && (
        <Alert color="red" role="alert">
          {run.error.message}
        </Alert>
      )}
    </>
  );
}
