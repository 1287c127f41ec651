/** What stands around every screen: where one can go, and the way out. */
import {
  ActionIcon,
  AppShell,
  Burger,
  Button,
  Group,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import { isSignedOut, signOut } from './client.ts';

const places = [
  { to: '/', label: 'Campaigns' },
  { to: '/campaigns/new', label: 'New campaign' },
  { to: '/wallet', label: 'Wallet' },
  { to: '/webhooks', label: 'Webhooks' },
  { to: '/templates', label: 'Templates' },
  { to: '/channels', label: 'Channels' },
] as const;

export function Layout() {
  const [opened, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const leave = useLeave();
  useEffect(close, [path, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="lg"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? 'Close navigation' : 'Open navigation'}
            />
            <Text fw={700} truncate>
              Messaging campaigns
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SchemeSwitch />
            <Button size="xs" variant="default" onClick={() => void leave()}>
              Sign out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        {places.map(({ to, label }) => (
          <NavLink
            key={to}
            label={label}
            active={to === '/' ? path === '/' || isOfCampaign(path) : path === to}
            renderRoot={(props) => <Link {...props} to={to} />}
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

const isOfCampaign = (path: string): boolean => /^\/campaigns\/(?!new)/.test(path);

/** Signs out; also when any question is answered that nobody is signed in. */
function useLeave() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const go = useCallback(async () => {
    queryClient.clear();
    await navigate({ to: '/sign-in' });
  }, [queryClient, navigate]);
  useEffect(
    () =>
      queryClient.getQueryCache().subscribe(({ query }) => {
        if (isSignedOut(query.state.error)) void go();
      }),
    [queryClient, go],
  );
  return async () => {
    await signOut();
    await go();
  };
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      onClick={() => setColorScheme(other)}
      aria-label={`Use the ${other} theme`}
    >
      <span aria-hidden>{scheme === 'dark' ? '☀' : '☾'}</span>
    </ActionIcon>
  );
}
