import { Kbd, Modal, Table, Title } from '@mantine/core';
import { afterG } from './after-g.ts';

export function ShortcutList({ onClose }: { onClose: () => void }) {
  const rows = [
    ['/', 'Search'],
    ['n', 'New campaign'],
    ...Object.entries(afterG).map(([key, { label }]) => [`g ${key}`, label] as const),
    ['?', 'This list'],
  ] as const;
  return (
    <Modal.Root opened onClose={onClose} centered>
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
