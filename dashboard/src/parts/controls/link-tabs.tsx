/** The parts of one record as links that look like tabs: each has an address of its own. */
import { Box } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import classes from './link-tabs.module.css';

export interface LinkTab {
  readonly label: string;
  readonly to: string;
}

export function LinkTabs({ label, tabs }: { label: string; tabs: readonly LinkTab[] }) {
  return (
    <Box component="nav" aria-label={label} className={classes['tabs']}>
      {tabs.map(({ label: name, to }) => (
        <Link
          key={to}
          to={to}
          className={classes['tab']}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {name}
        </Link>
      ))}
    </Box>
  );
}
