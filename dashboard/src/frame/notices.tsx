/** The bell: what happened since one looked last. */
import { ActionIcon } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

export function Notices() {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label="Notices"
      renderRoot={(props) => <Link {...props} to="/activity" />}
    >
      <IconBell size={20} stroke={1.6} aria-hidden />
    </ActionIcon>
  );
}
