/** The sending channels of a workspace, as they stand. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { idOf, Integer, IsoDateTime, Uuid } from '../codecs/scalars.ts';
import { nullish, oneOf, struct } from '../codecs/struct.ts';
import { channelBlockCauses } from '../domain/sending/provider-error-table.ts';
import { waitingReasons } from '../domain/campaigns/campaign.ts';
import {
  channelQualities,
  getChannelState,
  listChannelStates,
  type ChannelState,
} from '../records/workspaces/channel-states.ts';
import { endpoint } from './frame/endpoint.ts';
import { answer, succeed } from './frame/envelope.ts';

const tag = 'Channels';
const channelStatuses = ['active', 'blocked'] as const;

const ProviderError = named(
  'ChannelProviderError',
  struct({
    code: describe(Integer, { description: 'The provider’s error code' }),
    cause: describe(oneOf(channelBlockCauses, 'ChannelBlockCause'), {
      description: 'What the code is about',
    }),
    at: IsoDateTime,
  }),
);

const Channel = named(
  'Channel',
  struct({
    id: Uuid,
    phone_number_id: t.string,
    display_phone_number: t.string,
    business_account_id: t.string,
    status: oneOf(channelStatuses, 'ChannelStatus'),
    block_reason: describe(nullish(t.string), { description: 'Why it is blocked' }),
    provider_error: describe(nullish(ProviderError), {
      description: 'The provider’s last refusal that concerned the whole channel; null after a new token',
    }),
    blocked_until: describe(nullish(IsoDateTime), {
      description: 'When a restriction of the provider’s ends by itself',
    }),
    blocked_countries: describe(t.readonlyArray(t.string), {
      description: 'ISO 3166 alpha-2 codes it never sends to',
    }),
    messages_per_second: describe(Integer, { description: 'Its limit' }),
    rate_now: describe(t.number, { description: 'What throttling leaves of the limit at this moment' }),
    waiting_for: nullish(oneOf(waitingReasons, 'WaitingReason')),
    held_until: describe(nullish(IsoDateTime), { description: 'Nothing is sent until then' }),
    running_campaigns: Integer,
    quality: describe(nullish(oneOf(channelQualities, 'ChannelQuality')), {
      description:
        'What the provider told last of the number: LOW, it flagged it and may lower its limit; GOOD, it took that back; null, nothing',
    }),
    messaging_limit: describe(nullish(Integer), {
      description: 'Different people the business account may write to in 24 hours; null: no limit',
    }),
    messaging_used: describe(nullish(Integer), {
      description: 'How many it has written to in the last 24 hours; null without a limit',
    }),
    messaging_room_at: describe(nullish(IsoDateTime), {
      description: 'Where the limit is reached: when there is room for somebody else',
    }),
    marketing_endpoint: describe(t.boolean, {
      description: 'Marketing templates go by the provider’s endpoint for them',
    }),
    account_notice: describe(nullish(t.UnknownRecord), {
      description:
        'What the provider said last of the business account: `field`, `event`, `at` and its details',
    }),
  }),
);

const example = {
  id: '0197c1f2-4b0a-7d33-9b21-2e1d3c4b5a66',
  phone_number_id: '106540352242922',
  display_phone_number: '+49 30 1234567',
  business_account_id: '102290129340398',
  status: 'active',
  block_reason: null,
  provider_error: null,
  blocked_until: null,
  blocked_countries: [],
  messages_per_second: 80,
  rate_now: 40,
  waiting_for: null,
  held_until: null,
  running_campaigns: 2,
  quality: 'GOOD',
  messaging_limit: 2000,
  messaging_used: 1250,
  messaging_room_at: null,
  marketing_endpoint: false,
  account_notice: { field: 'account_review_update', event: 'APPROVED', at: '2026-11-21T09:00:00.000Z' },
};

export const listChannels = endpoint(
  {
    method: 'GET',
    path: '/api/channels',
    operationId: 'listChannels',
    summary: 'List the channels of the workspace as they stand',
    tag,
    access: 'workspace',
    responses: { 200: answer('All of them, oldest first', t.readonlyArray(Channel), [example]) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed((await listChannelStates(database, workspaceId)).map(present)),
  }),
);

export const getChannel = endpoint(
  {
    method: 'GET',
    path: '/api/channels/:id',
    operationId: 'getChannel',
    summary: 'A channel as it stands',
    tag,
    access: 'workspace',
    params: struct({ id: idOf('Channel') }),
    responses: { 200: answer('The channel', Channel, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(present(await getChannelState(database, workspaceId, id))),
  }),
);

function present({
  factor,
  refusal_code: code,
  refusal_cause: cause,
  refused_at: at,
  ...channel
}: ChannelState) {
  return {
    ...channel,
    provider_error: code === null || cause === null || at === null ? null : { code, cause, at },
    rate_now: Math.round(channel.messages_per_second * factor * 10) / 10,
  };
}
