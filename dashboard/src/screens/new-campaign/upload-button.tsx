/** Uploads a picture, video or document to the provider for the header of a message. */
import { FileButton, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { IconUpload } from '@tabler/icons-react';
import { client, type api } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { uploadValue } from './fields.ts';

export function UploadButton({ onUpload }: { onUpload: (value: string) => void }) {
  const upload = useMutation({
    mutationFn: async (file: File) => {
      const form = new FormData();
      form.set('file', file);
      const request = { method: 'POST', path: '/api/media', raw: { body: form } };
      return uploadValue((await client.send<api.MediaResponse>(request)).data.id, file.name);
    },
    onSuccess: onUpload,
  });
  return (
    <div>
      <FileButton
        onChange={(file) => file && upload.mutate(file)}
        inputProps={{ 'aria-label': 'File of the header' }}
      >
        {(props) => (
          <ActionButton
            {...props}
            variant="default"
            leftSection={<IconUpload size={16} aria-hidden />}
            loading={upload.isPending}
          >
            Upload file
          </ActionButton>
        )}
      </FileButton>
      {upload.error && (
        <Text c="red" size="xs" role="alert">
          {upload.error.message}
        </Text>
      )}
    </div>
  );
}
