/** A button that asks once more before it does something that cannot be taken back. */
import { Button, Group, Modal, Stack, Text, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';

interface ConfirmProps extends ButtonProps {
  readonly label: string;
  readonly question: string;
  readonly consequence: string;
  readonly confirmation: string;
  readonly onConfirm: () => void;
}

export function ConfirmButton({
  label,
  question,
  consequence,
  confirmation,
  onConfirm,
  ...button
}: ConfirmProps) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button {...button} onClick={open}>
        {label}
      </Button>
      {/* Mantine's own header would be a second banner of the page. */}
      <Modal.Root opened={opened} onClose={close} centered>
        <Modal.Overlay />
        <Modal.Content>
          <Modal.Body>
            <Stack>
              <Modal.Title fw={600}>{question}</Modal.Title>
              <Text size="sm">{consequence}</Text>
              <Group justify="flex-end">
                <Button variant="default" onClick={close} data-autofocus>
                  Keep as it is
                </Button>
                <Button
                  color={button.color}
                  onClick={() => {
                    close();
                    onConfirm();
                  }}
                >
                  {confirmation}
                </Button>
              </Group>
            </Stack>
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}
