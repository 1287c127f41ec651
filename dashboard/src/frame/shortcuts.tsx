/** Keys for those who use the page every day; `?` lists them. */
import { Kbd, Modal, Table, Title } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

const afterG: Readonly<Record<string, { readonly to: string; readonly label: string }>> = {
  o: { to: '/', label: 'Overview' },
  c: { to: '/campaigns', label: 'Campaigns' },
  p: { to: '/contacts', label: 'Contacts' },
  r: { to: '/conversations', label: 'Conversations' },
  t: { to: '/templates', label: 'Templates' },
  w: { to: '/wallet', label: 'Wallet' },
};

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
  const rows = [
    ['/', 'Search'],
    ['n', 'New campaign'],
    ...Object.entries(afterG).map(([key, { label }]) => [`g ${key}`, label] as const),
    ['?', 'This list'],
  ] as const;
  return (
    <Modal.Root opened={opened} onClose={close} centered>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title>
            <Title order={2} mb="sm">
              Keyboard shortcuts
            </Title>
          </Modal.Title>
          <Table>
            <Table.Tbody>
              {rows.map(([keys, label]) => (
                <Table.Tr key={keys}>
                  <Table.Td>
                    {keys.split(' ').map((key) => (
                      <Kbd key={key} mr={4}>
                        {key}
                      </Kbd>
                    ))}
                  </Table.Td>
                  <Table.Td>{label}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
