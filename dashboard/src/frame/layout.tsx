/** Frame of every screen: navigation, search, notices, account, and a warning about stale data. */
import { AppShell, Badge, Box, Group, Text } from '@mantine/core';
import { useDidUpdate, useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { IconMessageCircle } from '@tabler/icons-react';
import { useEffect, type MouseEvent, type ReactNode } from 'react';
import { readSession, type Session } from '../client.ts';
import { focusMain } from '../parts/controls/focus-main.ts';
import { AccountMenu } from './account-menu.tsx';
import { BottomBar } from './bottom-bar.tsx';
import { useLeave } from './leave.ts';
import { Navigation } from './navigation.tsx';
import { Notices } from './notices.tsx';
import { Search } from './search.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { StaleBanner } from './stale-banner.tsx';
import classes from './frame.module.css';

export function Layout() {
  const { data: session } = useQuery({ queryKey: ['session'], queryFn: readSession, staleTime: 60_000 });
  return (
    <Frame session={session}>
      <StaleBanner />
      <Outlet />
    </Frame>
  );
}

interface FrameProps {
  /** Without one nothing is drawn that asks the service. */
  readonly session: Session | null | undefined;
  readonly children: ReactNode;
}

export function Frame({ session, children }: FrameProps) {
  const [opened, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const leave = useLeave();
  useEffect(close, [path, close]);
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useDidUpdate(() => {
    if (document.activeElement === document.body) focusMain();
  }, [shown]);
  const skip = (event: MouseEvent) => {
    event.preventDefault();
    focusMain();
  };
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      footer={{ height: { base: 56, sm: 0 } }}
      padding={{ base: 'md', sm: 'lg' }}
    >
      <a href="#main" className={classes['skip']} onClick={skip}>
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <IconMessageCircle size={22} aria-hidden style={{ flexShrink: 0 }} />
            <Text fw={650} truncate maw={{ base: 150, sm: 220 }} title={session?.workspaceName}>
              {session?.workspaceName ?? 'Messaging campaigns'}
            </Text>
            {session?.local === true && (
              <Badge variant="light" color="gray" radius="sm" tt="none" visibleFrom="xs">
                Local
              </Badge>
            )}
          </Group>
          <Group gap={4} wrap="nowrap">
            {session != null && (
              <>
                <Search />
                <Notices />
                <AccountMenu session={session} leave={leave} />
              </>
            )}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" className={classes['navbar']} aria-label="Main">
        <Navigation path={path} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <Box className={classes['content']}>{children}</Box>
        <div id="overlays" />
      </AppShell.Main>
      <AppShell.Footer hiddenFrom="sm">
        <BottomBar opened={opened} toggle={toggle} />
      </AppShell.Footer>
      <Shortcuts />
    </AppShell>
  );
}
