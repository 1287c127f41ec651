/** To the side panel of a row. Of thousands of rows the router's own links would all be asked again at each move. */
import { Anchor } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';

interface PanelLinkProps {
  /** What of the address opens the panel. */
  readonly name: string;
  readonly id: string;
  readonly children: ReactNode;
}

export function PanelLink({ name, id, children }: PanelLinkProps) {
  const navigate = useNavigate();
  const query = new URLSearchParams(location.search);
  query.set(name, id);
  const open = (event: MouseEvent) => {
    // A new tab is the browser's.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    void navigate({ to: '.', search: ((old: object) => ({ ...old, [name]: id })) as never });
  };
  return (
    <Anchor size="sm" href={`?${query}`} onClick={open}>
      {children}
    </Anchor>
  );
}
