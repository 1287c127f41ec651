/** The message as the phone shows it, with the values that are known. */
import { Box, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { keepDataOf } from '../../parts/tables/keep-data.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { Phone, type Message } from '../../parts/display/phone.tsx';
import { nameOf } from '../contacts/name.ts';

interface PreviewProps {
  readonly templateId: string;
  readonly mapping: api.VariableMapping | undefined;
  /** The message to the first recipient of a list; shown in place of the template's preview. */
  readonly first: Message | undefined;
  /** The contact whose values fill the template. */
  readonly contact: api.Contact | undefined;
  /** When the offer ends, in the form of a `datetime-local` field; empty where it is unknown. */
  readonly offerEnds: string;
}

export function Preview({ templateId, mapping, first, contact, offerEnds }: PreviewProps) {
  const preview = useQuery({
    queryKey: ['template-preview', templateId, mapping, contact?.id],
    queryFn: async () => {
      const body = { variable_mapping: mapping, contact_id: contact?.id };
      return (await api.previewTemplate(client, templateId, body)).data.message;
    },
    placeholderData: keepDataOf(templateId),
    staleTime: 60_000,
  });
  const message = first ?? preview.data;
  return (
    <Box w={320} pos="sticky" top={80}>
      <Text size="sm" c="dimmed" mb={6}>
        {first === undefined ? 'Preview' : 'Preview for the first recipient'}
      </Text>
      {message === undefined ? (
        <Loaded query={preview}>{() => null}</Loaded>
      ) : (
        <Phone message={message} offerEnds={offerEnds === '' ? undefined : new Date(offerEnds)} />
      )}
      {first === undefined && contact !== undefined && (
        <Text size="sm" c="dimmed" mt={6} dir="auto" style={{ overflowWrap: 'anywhere' }}>
          Example: {nameOf(contact)}.
        </Text>
      )}
    </Box>
  );
}
