/** Form of a new campaign: empty, a copy of another one, or for the failed recipients of another one. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { IconKey } from '@tabler/icons-react';
import { useSession } from '../../account.ts';
import { api, client } from '../../client.ts';
import { dayOf, isLater } from '../../format.ts';
import { EmptyFace, Loaded } from '../../parts/display/load-states.tsx';
import { Screen } from '../../parts/display/screen.tsx';
import { fieldTime } from '../../parts/forms/moment.ts';
import type { Kind } from './audience.tsx';
import type { Draft } from './draft.ts';
import { Form } from './form.tsx';
import { windowOf } from '../../sending-window.ts';
import { variablesOf } from './mapping.ts';

const route = getRouteApi('/inside/campaigns/new');

const empty: Draft = { kind: 'csv_contacts', numbers: '', segments: [], variables: {}, at: '' };

/** Returns the draft of a copy. It lacks typed phone numbers, which the service does not keep. */
function copyOf(campaign: api.CampaignDetail): Draft {
  const { audience, contact_selection_type: type, scheduled_at: planned } = campaign;
  const known: readonly string[] = [
    'csv_contacts',
    'quick_contacts',
    'all_contacts',
    'segmented',
  ] satisfies Kind[];
  const key = audience['csv_file_key'];
  const mapping = audience['csv_mapping'] as api.CsvMapping | undefined;
  const segments = audience['segments'];
  const country = audience['default_country'];
  return {
    ...empty,
    name: `${campaign.name} (copy)`.slice(0, 255),
    templateId: campaign.template_id,
    kind: known.includes(type) ? (type as Kind) : 'csv_contacts',
    uploaded: typeof key === 'string' ? { key, name: `The file of “${campaign.name}”`, mapping } : undefined,
    segments: Array.isArray(segments) ? segments.map(String) : [],
    filter: audience['contact_filters'] as api.ContactFilters | undefined,
    window: windowOf(campaign.sending_window) ?? undefined,
    // The copy of a campaign that is still to come begins with it, not at once.
    at: planned !== null && isLater(planned) ? fieldTime(new Date(planned)) : '',
    ...(typeof country === 'string' && { country }),
    variables: variablesOf(
      campaign.variable_mapping as Parameters<typeof variablesOf>[0],
      `Uploaded for “${campaign.name}”, ${dayOf(new Date(campaign.created_at))}`,
    ),
  };
}

/** Returns the draft for the people of a campaign whose message is in one of the states. */
const toThese = (campaignId: string, states: readonly string[]): Draft => ({
  ...empty,
  kind: 'segmented',
  filter: { conditions: [{ field: `campaign.${campaignId}`, operator: 'in', value: states }] },
});

export function NewCampaign() {
  const { failed, copy, template, reason, reached, state = [] } = route.useSearch();
  const session = useSession();
  const [round, setRound] = useState(0);
  const onStartOver = () => setRound(round + 1);
  const sourceId = failed ?? copy;
  const source = useQuery({
    queryKey: ['campaign', sourceId],
    queryFn: async () => (await api.getCampaign(client, sourceId ?? '')).data,
    enabled: sourceId !== undefined,
  });
  const begun =
    reached === undefined
      ? { source: template ?? '', initial: { ...empty, templateId: template } }
      : { source: `reached ${reached} ${state.join(' ')}`, initial: toThese(reached, state) };
  if (session?.scope !== undefined && session.scope !== 'channel') return <CannotSend />;
  return (
    <Screen title="New campaign">
      {sourceId === undefined ? (
        <Form
          key={`${begun.source} ${round}`}
          source={begun.source}
          initial={begun.initial}
          onStartOver={onStartOver}
        />
      ) : (
        <Loaded query={source}>
          {(campaign) =>
            failed === undefined ? (
              <Form
                key={`${sourceId} ${round}`}
                source={`copy ${sourceId}`}
                initial={copyOf(campaign)}
                onStartOver={onStartOver}
              />
            ) : (
              <Form
                key={`${sourceId} ${round}`}
                source={`failed ${sourceId}`}
                initial={{ ...empty, kind: 'failed_contacts' }}
                failed={{ campaign, reasons: reason ?? [] }}
                onStartOver={onStartOver}
              />
            )
          }
        </Loaded>
      )}
    </Screen>
  );
}

function CannotSend() {
  const navigate = useNavigate();
  const signIn = () => void navigate({ to: '/sign-in', search: { to: '/campaigns/new' } });
  return (
    <Screen title="New campaign">
      <EmptyFace
        title="This key cannot send"
        icon={IconKey}
        action={<Button onClick={signIn}>Sign in with another key</Button>}
      >
        Sign in with a channel’s key: a campaign is sent from the channel of the key.
      </EmptyFace>
    </Screen>
  );
}
