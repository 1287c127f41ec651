/** One recipient in full: the message, and the time of each status. */
import { Alert, Group, Stack, Text, Timeline } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { exactTime, phone } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { Phone } from '../../parts/display/phone.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { Status } from '../../parts/display/status.tsx';
import { explain } from '../../reasons.ts';

export function Recipient({ campaignId, recipientId }: { campaignId: string; recipientId: string }) {
  const query = useQuery({
    queryKey: ['recipient', campaignId, recipientId],
    queryFn: async () => (await api.getCampaignRecipient(client, campaignId, recipientId)).data,
    refetchInterval: 15_000,
  });
  return (
    <Loaded query={query}>
      {({ phone_number: number, state, reason, reason_detail: detail, message, history }) => (
        <Stack>
          <Group justify="space-between">
            <Text fw={700}>{phone(number)}</Text>
            <Status state={state} />
          </Group>
          {reason && (
            <Alert color="orange" variant="light" title={explain(reason).title}>
              <Text size="sm">{explain(reason).advice}</Text>
              {detail && (
                <Text size="sm" dir="auto">
                  {detail}
                </Text>
              )}
            </Alert>
          )}
          {message && <Phone message={message} />}
          {history.length > 0 && (
            <Timeline active={history.length - 1} bulletSize={14} lineWidth={2}>
              {history.map(({ status, at }) => (
                <Timeline.Item key={status} title={stateWord(status.toUpperCase())}>
                  <Text size="sm" c="dimmed">
                    {at ? exactTime(new Date(at)) : 'the time was not kept'}
                  </Text>
                </Timeline.Item>
              ))}
            </Timeline>
          )}
        </Stack>
      )}
    </Loaded>
  );
}
