/** The navigation of a phone: four places, and all others behind “More”. */
import { Text, UnstyledButton } from '@mantine/core';
import { IconBroadcast, IconChartBar, IconDots, IconMessages, IconPencilPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import classes from './frame.module.css';

const shortcuts = [
  { to: '/', label: 'Overview', icon: IconChartBar },
  { to: '/campaigns', label: 'Campaigns', icon: IconBroadcast },
  { to: '/campaigns/new', label: 'New', icon: IconPencilPlus },
  { to: '/conversations', label: 'Conversations', icon: IconMessages },
] as const;

export function BottomBar({ opened, toggle }: { opened: boolean; toggle: () => void }) {
  return (
    <nav className={classes['bottom']} aria-label="Shortcuts">
      {shortcuts.map(({ to, label, icon: Icon }) => (
        <UnstyledButton
          key={to}
          className={classes['shortcut']}
          renderRoot={(props) => <Link {...props} to={to} activeOptions={{ exact: true }} />}
        >
          <Icon size={20} stroke={1.6} aria-hidden />
          <Text fz={11} truncate maw="100%">
            {label}
          </Text>
        </UnstyledButton>
      ))}
      <UnstyledButton
        className={classes['shortcut']}
        onClick={toggle}
        aria-expanded={opened}
        aria-label={opened ? 'Close navigation' : 'Open navigation'}
      >
        <IconDots size={20} stroke={1.6} aria-hidden />
        <Text size="xs" aria-hidden>
          More
        </Text>
      </UnstyledButton>
    </nav>
  );
}
