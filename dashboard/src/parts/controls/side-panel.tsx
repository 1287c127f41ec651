/** One record of a list in full, beside it. */
import { Drawer, Group } from '@mantine/core';
import type { ReactNode } from 'react';

interface SidePanelProps {
  readonly label: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function SidePanel({ label, opened, onClose, children }: SidePanelProps) {
  return (
    <Drawer.Root opened={opened} onClose={onClose} position="right">
      <Drawer.Overlay />
      <Drawer.Content aria-label={label}>
        <Drawer.Body>
          <Group justify="flex-end" mb="xs">
            <Drawer.CloseButton aria-label="Close" />
          </Group>
          {children}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
