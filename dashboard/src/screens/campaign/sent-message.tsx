/** The template of the campaign as the phone shows it. */
import { Card, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { Phone } from '../../parts/display/phone.tsx';

export function SentMessage({ campaign: { template_id: id } }: { campaign: api.CampaignDetail }) {
  const preview = useQuery({
    queryKey: ['template-preview', id],
    queryFn: async () => (await api.previewTemplate(client, id, {})).data.message,
    staleTime: 300_000,
  });
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="sm">
        Message
      </Title>
      <Loaded query={preview}>{(message) => <Phone message={message} />}</Loaded>
    </Card>
  );
}
