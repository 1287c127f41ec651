/** Loading, error and empty states of a screen. */
import { Alert, Box, Button, Group, Skeleton, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconAlertCircle, IconListDetails, type TablerIcon } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isGone } from '../../client.ts';

export function ErrorFace({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <Alert color="red" title="This could not be loaded" role="alert" icon={<IconAlertCircle aria-hidden />}>
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

interface EmptyFaceProps {
  readonly title: string;
  readonly icon?: TablerIcon;
  /** One sentence: why there is nothing here, or how to change that. */
  readonly children?: ReactNode;
  /** The button that does what the sentence advises. */
  readonly action?: ReactNode;
}

export function EmptyFace({ title, icon: Icon, children, action }: EmptyFaceProps) {
  return (
    <Stack align="center" gap="xs" py={56}>
      {Icon && (
        <ThemeIcon variant="light" size={64} radius={32} aria-hidden>
          <Icon size={32} stroke={1.4} />
        </ThemeIcon>
      )}
      <Text fw={600} mt={Icon ? 'xs' : 0}>
        {title}
      </Text>
      <Text c="dimmed" size="sm" ta="center" maw={420} component="div">
        {children}
      </Text>
      {action}
    </Stack>
  );
}

/** For a page whose number is in the address, or whose last rows were deleted meanwhile. */
export function BeyondEnd({ toFirst }: { toFirst: () => void }) {
  return (
    <EmptyFace
      title="The list ends before this page"
      icon={IconListDetails}
      action={<Button onClick={toFirst}>Show the first page</Button>}
    >
      There are fewer pages by now.
    </EmptyFace>
  );
}

/** Rows that stay while those of another filter load: pale until then. */
export function KeptRows({
  query,
  children,
}: {
  query: { readonly isPlaceholderData: boolean };
  children: ReactNode;
}) {
  return (
    <Box aria-busy={query.isPlaceholderData} opacity={query.isPlaceholderData ? 0.5 : 1}>
      {children}
    </Box>
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

/** Shows a query's data, also during a refetch; without data its error, or else a skeleton. A record that is gone is an error. */
export function Loaded<A>({
  query,
  children,
}: {
  query: Pick<UseQueryResult<A>, 'data' | 'error'> & { readonly refetch: () => unknown };
  children: (data: A) => ReactNode;
}) {
  if (query.data !== undefined && !isGone(query.error)) return children(query.data);
  if (query.error !== null) return <ErrorFace error={query.error} retry={() => void query.refetch()} />;
  return <LoadingFace />;
}
