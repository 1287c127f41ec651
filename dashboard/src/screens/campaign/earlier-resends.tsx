/** Warns before people are written to again whom an earlier resend of the same campaign has reached. */
import { Alert, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { Time } from '../../parts/display/time.tsx';

/** The resends read in full, newest first: a list of campaigns does not say whose failed recipients they were sent to. */
const mostRead = 10;

interface EarlierResendsProps {
  readonly campaign: Pick<api.Campaign, 'id' | 'template_id' | 'created_at'>;
  /** The reasons that are chosen now. */
  readonly reasons: readonly string[];
}

export function EarlierResends({ campaign: { id, template_id, created_at }, reasons }: EarlierResendsProps) {
  const { data: resends = [] } = useQuery({
    queryKey: ['campaigns', 'resends', id],
    queryFn: async () => {
      const { data } = await api.listCampaigns(client, { template_id, from: created_at, limit: 100 });
      const some = data.filter((one) => one.contact_selection_type === 'failed_contacts').slice(0, mostRead);
      return Promise.all(some.map(async (one) => (await api.getCampaign(client, one.id)).data));
    },
  });
  const same = resends.filter(({ audience: { failed_campaign_id: from, failed_reasons: chosen } }) => {
    const isForAll = !Array.isArray(chosen);
    return from === id && (isForAll || chosen.some((reason) => reasons.includes(String(reason))));
  });
  if (same.length === 0) return null;
  return (
    <Alert color="orange" variant="light" role="status" title="You have already resent to these people">
      {same.map((resend) => (
        <Text key={resend.id} size="sm" dir="auto">
          <TextLink to="/campaigns/$id" params={{ id: resend.id }} size="sm">
            {resend.name}
          </TextLink>
          , <Time at={resend.created_at} />
        </Text>
      ))}
      <Text size="sm" mt={4}>
        People reached by one of these resends will get the message again. To exclude them, resend to the
        failed recipients of the latest one.
      </Text>
    </Alert>
  );
}
