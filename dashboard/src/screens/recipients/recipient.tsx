/** One recipient in full: the message, the time of each status, and why the person was written to. */
import { Alert, Button, Card, Group, Stack, Text, Timeline, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { exactTime, money, phone } from '../../format.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { Phone } from '../../parts/display/phone.tsx';
import { stateWord } from '../../parts/display/states.ts';
import { Status } from '../../parts/display/status.tsx';
import { explain } from '../../reasons.ts';
import { ConsentBadge } from '../contacts/consent-badge.tsx';

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
          {history.length > 0 && <Explanation messageId={recipientId} state={state} />}
        </Stack>
      )}
    </Loaded>
  );
}

/** The price changes with the state. */
function Explanation({ messageId, state }: { messageId: string; state: string }) {
  const query = useQuery({
    queryKey: ['message', messageId, 'explanation', state],
    queryFn: async () => (await api.explainMessage(client, messageId)).data,
  });
  return (
    <Card withBorder component="section" aria-label="Why this person was written to">
      <Title order={3} size="h5" mb="sm">
        Why this person was written to
      </Title>
      <Loaded query={query}>
        {(explanation) => (
          <Stack>
            <Stack component="dl" gap="xs" m={0}>
              {factsOf(explanation).map(([name, fact]) => (
                <Group key={name} gap="md" wrap="nowrap" align="baseline">
                  <Text component="dt" size="sm" c="dimmed" w="35%" flex="none">
                    {name}
                  </Text>
                  <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
                    {fact}
                  </Text>
                </Group>
              ))}
            </Stack>
            <Button variant="default" onClick={() => save(messageId, explanation)}>
              Download as JSON
            </Button>
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

function factsOf({ consent, campaign, template, price }: api.MessageExplanation) {
  const facts: (readonly [string, React.ReactNode])[] = [
    [
      'Consent',
      consent.consent ? <ConsentBadge key="consent" consent={consent.consent} /> : 'None was recorded',
    ],
  ];
  const { entry } = consent;
  if (entry !== null) {
    facts.push(['Recorded', `${sources[entry.source]}, ${exactTime(new Date(entry.at))}`]);
    if (entry.text !== null) facts.push(['Words', <bdi key="words">{entry.text}</bdi>]);
    if (entry.url !== null) facts.push(['Page', entry.url]);
  }
  if (campaign !== null) facts.push(['Campaign', <bdi key="campaign">{campaign.name}</bdi>]);
  if (template !== null)
    facts.push(['Template', `${template.name} (${template.language}), ${template.category}`]);
  facts.push(['Price', `${money(price.amount, price.currency ?? '')}, ${settlements[price.settlement]}`]);
  return facts;
}

const sources: Readonly<Record<api.ConsentSource, string>> = {
  person: 'by the person',
  api: 'through the API',
  import: 'by an import',
};

const settlements: Readonly<Record<api.Settlement, string>> = {
  none: 'not charged',
  reserved: 'reserved',
  charged: 'charged',
  refunded: 'given back',
};

function save(messageId: string, explanation: api.MessageExplanation): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([JSON.stringify(explanation, null, 2)], { type: 'application/json' }),
  );
  link.download = `message-${messageId}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}
