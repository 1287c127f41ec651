import { Button } from '@mantine/core';
import { IconMapSearch } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { EmptyFace } from '../parts/display/load-states.tsx';
import { Screen } from '../parts/display/screen.tsx';

export function NotFound() {
  return (
    <Screen title="Page not found">
      <EmptyFace
        title="There is no page at this address"
        icon={IconMapSearch}
        action={<Button renderRoot={(props) => <Link {...props} to="/" />}>Go to the overview</Button>}
      >
        The link may be old, or a letter may be missing.
      </EmptyFace>
    </Screen>
  );
}
