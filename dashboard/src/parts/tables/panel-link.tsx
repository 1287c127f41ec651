/** Opens the side panel of a row. The router's own links would all be evaluated at each navigation, for thousands of rows. */
import { Anchor } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';

interface PanelLinkProps {
  /** Name of the search parameter that opens the panel. */
  readonly name: string;
  readonly id: string;
  readonly children: ReactNode;
}

export function PanelLink({ name, id, children }: PanelLinkProps) {
  const navigate = useNavigate();
  const query = new URLSearchParams(location.search);
  query.set(name, id);
  const open = (event: MouseEvent) => {
    // The browser itself opens a link in a new tab or window.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void navigate({ to: '.', search: ((old: object) => ({ ...old, [name]: id })) as never });
  };
  return (
    <Anchor size="sm" fw={600} href={`?${query}`} onClick={open}>
      {children}
    </Anchor>
  );
}
