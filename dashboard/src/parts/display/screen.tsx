/** The frame of one screen: its title in the browser and on the page, the way back, and its actions. */
import { Box, Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';

interface ScreenProps {
  readonly title: string;
  /** The title in the browser where it says more than the heading. */
  readonly documentTitle?: string;
  /** Shown beside the title, such as a state. */
  readonly badge?: ReactNode;
  /** One sentence below the title. */
  readonly lead?: ReactNode;
  /** Links to the screens above this one. */
  readonly path?: readonly ReactNode[];
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Screen({ title, documentTitle = title, badge, lead, path, actions, children }: ScreenProps) {
  useDocumentTitle(`${documentTitle} · Messaging campaigns`);
  return (
    <Stack gap="lg">
      <Box>
        {path && <Breadcrumbs mb={4}>{path}</Breadcrumbs>}
        <Group justify="space-between" align="flex-start">
          <Box miw={0} style={{ flex: '1 1 260px' }}>
            <Group gap="sm">
              <Title order={1} dir="auto" style={{ overflowWrap: 'anywhere' }} maw="100%">
                {title}
              </Title>
              {badge}
            </Group>
            {lead && (
              <Text c="dimmed" size="sm" mt={4} maw={720} component="div">
                {lead}
              </Text>
            )}
          </Box>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      </Box>
      {children}
    </Stack>
  );
}
