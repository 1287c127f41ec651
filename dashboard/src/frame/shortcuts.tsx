/** Keys for those who use the page every day; `?` lists them. */
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { afterG } from './after-g.ts';

// Loaded when it is opened.
const ShortcutList = lazy(() =>
  import('./shortcut-list.tsx').then((file) => ({ default: file.ShortcutList })),
);

const sequenceMs = 1_000;
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest('input, textarea, select, [contenteditable], [role=dialog]') !== null;

export function Shortcuts() {
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure();
  const pressedG = useRef(Number.NEGATIVE_INFINITY);
  useHotkeys([
    ['n', () => void navigate({ to: '/campaigns/new' })],
    ['/', () => document.querySelector<HTMLElement>('[data-search]')?.focus()],
    ['shift+?', open],
    ['g', () => (pressedG.current = performance.now())],
  ]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const place = afterG[event.key];
      if (place === undefined || isTyping(event.target)) return;
      if (performance.now() - pressedG.current > sequenceMs) return;
      pressedG.current = Number.NEGATIVE_INFINITY;
      void navigate({ to: place.to });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate]);
  return (
    opened && (
      <Suspense>
        <ShortcutList onClose={close} />
      </Suspense>
    )
  );
}
