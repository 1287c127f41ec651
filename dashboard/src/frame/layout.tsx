/** What stands around every screen: where one can go, and the way out. */
import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Button,
  Group,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDidUpdate, useDisclosure, useNetwork } from '@mantine/hooks';
import { useQueryClient, type QueryCache } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { isSignedOut, isUnanswered, signOut } from '../client.ts';
import { focusMain } from '../parts/focus-main.ts';

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
  const isUnheard = useIsUnheard();
  const { online } = useNetwork();
  useEffect(close, [path, close]);
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useDidUpdate(() => {
    if (document.activeElement === document.body) focusMain();
  }, [shown]);
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
            <Text fw={700} lh={1.2}>
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
      <AppShell.Main tabIndex={-1} style={{ outline: 'none' }}>
        {(isUnheard || !online) && (
          <Alert color="orange" variant="light" role="alert" mb="md">
            No connection to the service. What stands here may be old; it goes on by itself.
          </Alert>
        )}
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

const hasUnanswered = (cache: QueryCache): boolean =>
  cache.getAll().some((query) => query.isActive() && isUnanswered(query.state.error));

/** A question of this screen was not answered the last time. */
function useIsUnheard(): boolean {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    useCallback((onChange) => cache.subscribe(onChange), [cache]),
    () => hasUnanswered(cache),
  );
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
