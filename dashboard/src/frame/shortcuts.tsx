/** Keys for those who use the page every day; `?` lists them. */
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { afterG } from './after-g.ts';

// Loaded when it is opened.
const ShortcutList = lazy(() =>
  import('./shortcut-list.tsx').then((file) => ({ default: file.ShortcutList })),
);

const sequenceMs = 1_000;
/** True for a key that the element itself takes, or that would lead away from an open dialog or menu. */
const isTaken = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey ||
  metaKey ||
  altKey ||
  (target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role=menu]') !== null) ||
  // The focus may be outside: what had it in the dialog was removed.
  document.querySelector('[role=dialog]') !== null;

export function Shortcuts() {
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure();
  const pressedG = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTaken(event)) return;
      const isAfterG = performance.now() - pressedG.current <= sequenceMs;
      pressedG.current = event.key === 'g' ? performance.now() : Number.NEGATIVE_INFINITY;
      const place = isAfterG ? afterG[event.key] : undefined;
      if (place !== undefined) void navigate({ to: place.to });
      else if (event.key === 'n') void navigate({ to: '/campaigns/new' });
      else if (event.key === '?') open();
      else if (event.key === '/') {
        event.preventDefault();
        document.querySelector<HTMLElement>('[data-search]')?.focus();
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, open]);
  return (
    opened && (
      <Suspense>
        <ShortcutList onClose={close} />
      </Suspense>
    )
  );
}
