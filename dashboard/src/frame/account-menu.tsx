/** Account menu: the workspace and key of the session, its expiry, and signing out. */
import {
  ActionIcon,
  Alert,
  Button,
  Divider,
  Popover,
  Stack,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { IconLogout, IconMoon, IconSettings, IconSun, IconUserCircle } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { removeOperatorKey, type Session } from '../client.ts';
import { dayAndMinuteTime } from '../format.ts';

const scopes: Readonly<Record<Session['scope'], string>> = {
  channel: 'Channel key: can send',
  workspace: 'Workspace key: can view, cannot send',
  operator: 'Operator key: can recharge, cannot send',
};

export function AccountMenu({ session, leave }: { session: Session; leave: () => Promise<void> }) {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  const queryClient = useQueryClient();
  const [problem, setProblem] = useState(false);
  const [opened, setOpened] = useState(false);
  const signOut = () => {
    setProblem(false);
    leave().catch(() => setProblem(true));
  };
  const endRecharging = async () => {
    // Whatever the answer, the session says what is still allowed.
    await removeOperatorKey().catch(() => undefined);
    await queryClient.invalidateQueries({ queryKey: ['session'] });
  };
  const item = { variant: 'subtle', color: 'gray', justify: 'flex-start', fullWidth: true } as const;
  return (
    <Popover
      position="bottom-end"
      width={290}
      shadow="md"
      trapFocus
      returnFocus
      {...{ opened }}
      onChange={setOpened}
    >
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label="Account"
          onClick={() => setOpened(!opened)}
        >
          <IconUserCircle size={22} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Account">
        <Stack gap={2} p="xs">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {session.workspaceName}
          </Text>
          <Text size="xs" c="dimmed">
            Workspace {session.workspaceId}
          </Text>
          <Text size="sm" mt="xs" style={{ overflowWrap: 'anywhere' }}>
            Key mc_{session.keyId}
          </Text>
          <Text size="sm">{scopes[session.scope]}</Text>
          {session.operator && session.scope !== 'operator' && (
            <>
              <Text size="sm">Recharging is allowed for 15 minutes</Text>
              <Button size="compact-xs" variant="default" onClick={() => void endRecharging()}>
                End recharging
              </Button>
            </>
          )}
          <Text size="sm" c="dimmed">
            Expires {dayAndMinuteTime(new Date(session.expiresAt))}
          </Text>
        </Stack>
        <Divider my={4} />
        <Button
          {...item}
          leftSection={<IconSettings size={16} aria-hidden />}
          onClick={() => setOpened(false)}
          renderRoot={(props) => <Link {...props} to="/settings" />}
        >
          Workspace settings
        </Button>
        <Button
          {...item}
          leftSection={
            scheme === 'dark' ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />
          }
          onClick={() => setColorScheme(other)}
        >
          Use the {other} theme
        </Button>
        <Button {...item} leftSection={<IconLogout size={16} aria-hidden />} onClick={signOut}>
          Sign out
        </Button>
        {problem && (
          <Alert color="red" role="alert" title="You are still signed in" mt="xs">
            The service did not answer. Sign out again once there is a network, or close the browser.
          </Alert>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
