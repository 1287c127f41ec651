/** A text that is shown once, with a button that copies it. */
import { Button, Code, CopyButton, Group } from '@mantine/core';

export function CopyText({ text }: { readonly text: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Code block style={{ flex: 1, overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
