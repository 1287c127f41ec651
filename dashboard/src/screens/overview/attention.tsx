/** Lists what a user has to fix (low balance, blocked channels, paused campaigns), each with a link to the place. */
import { Alert, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconAlertTriangle } from '@tabler/icons-react';
import { waitingSentence } from '../../../../src/domain/campaigns/diagnosis.ts';
import { useChannels, useOwnChannel, useWallet } from '../../account.ts';
import { api, client } from '../../client.ts';
import { counted, money } from '../../format.ts';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { pauses, waits } from '../../reasons.ts';

const shown = 5;

export function Attention() {
  const paused = useQuery({
    queryKey: ['campaigns', 'paused'],
    queryFn: () => api.listCampaigns(client, { limit: shown, status: ['PAUSED'] }),
    refetchInterval: 30_000,
  });
  // Every campaign stands still when the workers are gone, so the newest are enough to notice it.
  const open = useQuery({
    queryKey: ['campaigns', 'open'],
    queryFn: () => api.listCampaigns(client, { limit: 25, status: ['RUNNING', 'DRAFT', 'SCHEDULED'] }),
    refetchInterval: 30_000,
  });
  const stuck = (open.data?.data ?? []).filter(({ waiting_for: waiting }) => waiting === 'WORKFLOW_STUCK');
  const channels = useChannels();
  const wallet = useWallet(useOwnChannel()).data;
  const available = wallet && Number(wallet.balance) - Number(wallet.reserved);
  const limit = wallet?.low_balance_threshold ?? null;
  const isLow = available !== undefined && limit !== null && available < Number(limit);
  const blocked = channels.data?.filter(({ status }) => status === 'blocked') ?? [];
  const campaigns = paused.data?.data ?? [];
  const more = (paused.data?.pagination.total ?? 0) - campaigns.length;
  if (campaigns.length === 0 && blocked.length === 0 && stuck.length === 0 && !isLow) return null;
  return (
    <Alert color="orange" variant="light" title="Needs attention" icon={<IconAlertTriangle aria-hidden />}>
      <Stack gap={6}>
        {isLow && (
          <Line to="/wallet" action="Recharge">
            The balance is low: {money(available.toFixed(2), wallet?.currency)} available.
          </Line>
        )}
        {blocked.map(({ id, display_phone_number: name }) => (
          <Line key={id} to="/channels" action="Look at it">
            The channel {name} is blocked.
          </Line>
        ))}
        {stuck.slice(0, shown).map(({ id, name, counters }) => (
          <Text key={id} size="sm" style={{ overflowWrap: 'anywhere' }}>
            <TextLink to="/campaigns/$id" params={{ id }} dir="auto" fz="inherit" underline="always">
              {name}
            </TextLink>
            {`: ${waits['WORKFLOW_STUCK']}. ${waitingSentence(counters.pending)}`}
          </Text>
        ))}
        {campaigns.map(({ id, name, pause_reason: reason, counters }) => (
          <Text key={id} size="sm" style={{ overflowWrap: 'anywhere' }}>
            <TextLink to="/campaigns/$id" params={{ id }} dir="auto" fz="inherit" underline="always">
              {name}
            </TextLink>
            {`: ${pauses[reason ?? ''] ?? 'Paused'}. ${waitingSentence(counters.pending)} `}
            {reason === 'INSUFFICIENT_BALANCE' && (
              <TextLink to="/wallet" search={{ campaign: id }} fz="inherit" underline="always">
                Recharge
              </TextLink>
            )}
          </Text>
        ))}
        {more > 0 && (
          <TextLink to="/campaigns" search={{ status: 'PAUSED' }} size="sm" underline="always">
            and {counted(more, 'more paused campaign')}
          </TextLink>
        )}
      </Stack>
    </Alert>
  );
}

function Line({ to, action, children }: { to: string; action: string; children: React.ReactNode }) {
  return (
    <Group gap={6}>
      <Text size="sm">{children}</Text>
      <TextLink to={to} size="sm" underline="always">
        {action}
      </TextLink>
    </Group>
  );
}
