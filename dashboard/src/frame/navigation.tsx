import { NavLink, ScrollArea, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { groups, placeAt } from './places.ts';
import classes from './frame.module.css';

export function Navigation({ path }: { path: string }) {
  const current = placeAt(path);
  return (
    <ScrollArea type="auto" h="100%" scrollbarSize={6}>
      {groups.map(({ name, places }) => (
        <Fragment key={name ?? 'first'}>
          {name !== undefined && (
            <Text size="xs" fw={600} c="dimmed" px="sm" pt="md" pb={4}>
              {name}
            </Text>
          )}
          {places.map((place) => (
            <NavLink
              key={place.to}
              label={place.label}
              className={classes['place']}
              active={place === current}
              leftSection={<place.icon size={18} stroke={1.6} aria-hidden />}
              renderRoot={(props) => (
                <Link
                  {...props}
                  to={place.to}
                  activeOptions={{ exact: true }}
                  aria-current={place === current ? 'page' : undefined}
                />
              )}
            />
          ))}
        </Fragment>
      ))}
    </ScrollArea>
  );
}
