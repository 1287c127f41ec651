/** The sending channels of a workspace, each with its present state. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { idOf, Integer, IsoDateTime, Uuid } from '../codecs/scalars.ts';
import { nullish, oneOf, struct } from '../codecs/struct.ts';
import { channelBlockCauses } from '../domain/sending/provider-error.ts';
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
    code: describe(Integer, { description: 'Provider’s error code.' }),
    cause: describe(oneOf(channelBlockCauses, 'ChannelBlockCause'), {
      description: 'Cause of the error.',
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
    block_reason: describe(nullish(t.string), {
      description: 'Reason why the channel is blocked; null while it is not.',
    }),
    provider_error: describe(nullish(ProviderError), {
      description: 'Provider’s last refusal that affected the whole channel; null after a new access token.',
    }),
    blocked_until: describe(nullish(IsoDateTime), {
      description: 'Time at which the provider’s restriction ends; null without one.',
    }),
    blocked_countries: describe(t.readonlyArray(t.string), {
      description: 'Countries the channel never sends to, as ISO 3166-1 alpha-2.',
    }),
    messages_per_second: describe(Integer, {
      description: 'Most messages that the channel sends per second.',
    }),
    rate_now: describe(t.number, { description: 'Messages per second that throttling allows at present.' }),
    waiting_for: nullish(oneOf(waitingReasons, 'WaitingReason')),
    held_until: describe(nullish(IsoDateTime), {
      description: 'Time until which the channel sends nothing; null without one.',
    }),
    running_campaigns: Integer,
    quality: describe(nullish(oneOf(channelQualities, 'ChannelQuality')), {
      description:
        'Provider’s last rating of the number: LOW: flagged, and its messaging limit may fall; GOOD: no longer flagged; null without a rating.',
    }),
    can_send: describe(nullish(t.string), {
      description:
        'Whether the provider lets the number send, as it said within the last hour: AVAILABLE, LIMITED or BLOCKED; null if it does not say.',
    }),
    can_send_details: describe(nullish(t.string), {
      description: 'What hinders the number, in the provider’s words; null without anything.',
    }),
    messaging_limit: describe(nullish(Integer), {
      description:
        'Most different people the business account may write to in 24 hours, with the other accounts of its portfolio; null without a limit.',
    }),
    messaging_used: describe(nullish(Integer), {
      description: 'Number of people written to in the last 24 hours; null without a limit.',
    }),
    messaging_room_at: describe(nullish(IsoDateTime), {
      description:
        'Time from which the business account may write to another person; null while the limit is not reached.',
    }),
    marketing_endpoint: describe(t.boolean, {
      description: 'True if MARKETING templates use the provider’s endpoint for marketing messages.',
    }),
    account_notice: describe(nullish(t.UnknownRecord), {
      description:
        'Provider’s last notice about the business account: `field`, `event`, `at` and its details; null without one.',
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
  can_send: 'AVAILABLE',
  can_send_details: null,
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
    summary: 'List the channels of the workspace',
    tag,
    access: 'workspace',
    responses: { 200: answer('Channels, oldest first', t.readonlyArray(Channel), [example]) },
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
    summary: 'Read a channel',
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
