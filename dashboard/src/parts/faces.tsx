/** What a screen shows while it waits, when it failed, and when there is nothing. */
import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

export function ErrorFace({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <Alert color="red" title="This could not be loaded" role="alert">
      <Group justify="space-between">
        <Text size="sm">{error.message}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}

export function EmptyFace({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py={48}>
      <Text fw={600}>{title}</Text>
      <Text c="dimmed" size="sm" ta="center" maw={420} component="div">
        {children}
      </Text>
    </Stack>
  );
}

export function LoadingFace({ rows = 4 }: { rows?: number }) {
  return (
    <Stack aria-busy="true" aria-label="Loading" role="status">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={44} radius="md" />
      ))}
    </Stack>
  );
}

/** The loading, error and full face of a query, in this order; what is old is shown while it is fetched anew. */
export function Loaded<A>({
  query,
  children,
}: {
  query: Pick<UseQueryResult<A>, 'data' | 'error'> & { readonly refetch: () => unknown };
  children: (data: A) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <ErrorFace error={query.error} retry={() => void query.refetch()} />;
  return <LoadingFace />;
}
