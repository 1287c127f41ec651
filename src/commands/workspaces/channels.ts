/** Creates and changes channels. */
import { isSupportedCountry } from 'libphonenumber-js/max';
import type { Dependencies } from '../../dependencies.ts';
import { type FieldProblem, Invalid, NotFound } from '../../domain/error.ts';
import { channelBlocked } from '../../domain/operations/notice.ts';
import { pauseRunning } from '../../records/campaigns/lifecycle.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { insertNotices } from '../../records/operations/notices.ts';
import { setMessagingLimit } from '../../records/sending/messaging-limit.ts';
import { getMessagingLimit, registerBusinessAccount } from '../../records/workspaces/business-accounts.ts';
import {
  type Channel,
  findChannelById,
  insertChannel,
  lockChannel,
  updateChannelSettings,
} from '../../records/workspaces/channels.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';

interface CreateChannel {
  readonly workspaceId: number;
  readonly phoneNumberId: string;
  readonly displayPhoneNumber: string;
  readonly businessAccountId: string;
  readonly accessToken: string;
  /** Default 80. */
  readonly messagesPerSecond?: number;
}

/**
 * Creates a sending number with an empty wallet. Throws Conflict when the phone number id belongs to another channel, or the
 * business account to another workspace.
 */
export async function createChannel(
  { database, secrets }: Pick<Dependencies, 'database' | 'secrets'>,
  input: CreateChannel,
): Promise<{ readonly channelId: string }> {
  const messagesPerSecond = input.messagesPerSecond ?? 80;
  const problems = [...identifierProblems(input), ...rateProblems(messagesPerSecond)];
  if (problems.length > 0) throw Invalid.of(problems);

  const channelId = createId();
  const accessTokenEncrypted = secrets.encrypt(input.accessToken, `channel ${channelId}`);
  await database.transaction(async (connection) => {
    await requireWorkspace(connection, input.workspaceId);
    await registerBusinessAccount(connection, input.workspaceId, input.businessAccountId);
    await insertChannel(connection, input.workspaceId, {
      ...input,
      id: channelId,
      accessTokenEncrypted,
      messagesPerSecond,
    });
    const { workspaceId } = input;
    await insertAuditEntry(connection, { workspaceId, action: 'channel.create', objectId: channelId });
  });
  return { channelId };
}

const anId = /^[\w-]{1,64}$/;
const shapes = [
  ['phoneNumberId', anId, "the provider's id of the number, such as 106540352242922"],
  ['displayPhoneNumber', /^\+?[\d ().-]{5,30}$/, 'a phone number, such as +49 30 901820'],
  ['businessAccountId', anId, "the provider's id of the account, such as 102290129340398"],
] as const;

function identifierProblems(input: CreateChannel): readonly FieldProblem[] {
  const misshapen = shapes
    .filter(([field, shape]) => !shape.test(input[field]))
    .map(([field, , what]) => ({ field, message: `${field} must be ${what}` }));
  return [...misshapen, ...tokenProblems(input.accessToken)];
}

function tokenProblems(accessToken: string): readonly FieldProblem[] {
  if (accessToken.trim() !== '' && accessToken.length <= 1024) return [];
  return [{ field: 'accessToken', message: 'accessToken must have 1 to 1024 characters' }];
}

function rateProblems(messagesPerSecond: number): readonly FieldProblem[] {
  const fits = Number.isInteger(messagesPerSecond) && messagesPerSecond >= 1 && messagesPerSecond <= 100_000;
  if (fits) return [];
  return [
    { field: 'messagesPerSecond', message: 'messagesPerSecond must be a whole number from 1 to 100000' },
  ];
}

/** Absent fields stay as they are. */
interface UpdateChannel {
  readonly channelId: string;
  readonly accessToken?: string | undefined;
  readonly messagesPerSecond?: number | undefined;
  /** `active` lifts a block, including one by the provider. */
  readonly status?: string | undefined;
  /** Automatic responder to inbound messages: `none`, `chatbot` or `assistant`. */
  readonly responder?: string | undefined;
  /** ISO 3166 alpha-2; replaces the list. */
  readonly blockedCountries?: readonly string[] | undefined;
  /** True if marketing templates use the provider's endpoint for marketing messages. */
  readonly marketingEndpoint?: boolean | undefined;
  /** The messaging limit of the whole business account: different people in 24 hours; null: no limit. */
  readonly messagingLimit?: number | null | undefined;
}

const statuses = ['active', 'blocked'] as const;
const responders = ['none', 'chatbot', 'assistant'] as const;

/**
 * Takes effect in every process with the channel's next single send and next send step. A block pauses the campaigns of the
 * channel; they are started again by hand. Throws NotFound.
 */
export async function updateChannel(
  { database, secrets, now }: Pick<Dependencies, 'database' | 'secrets' | 'now'>,
  input: UpdateChannel,
): Promise<
  Pick<Channel, 'status' | 'responder' | 'messagesPerSecond' | 'blockedCountries' | 'marketingEndpoint'> & {
    readonly messagingLimit: number | null;
  }
> {
  const status = oneOfMany('status', input.status, statuses);
  const responder = oneOfMany('responder', input.responder, responders);
  const problems = [
    ...status.problems,
    ...responder.problems,
    ...(input.accessToken === undefined ? [] : tokenProblems(input.accessToken)),
    ...(input.messagesPerSecond === undefined ? [] : rateProblems(input.messagesPerSecond)),
    ...countryProblems(input.blockedCountries ?? []),
    ...limitProblems(input.messagingLimit),
  ];
  if (problems.length > 0) throw Invalid.of(problems);

  const { channelId, accessToken, messagingLimit } = input;
  return database.transaction(async (transaction) => {
    const channel = await findChannelById(transaction, channelId);
    if (channel === undefined) throw new NotFound('Channel');
    const { workspaceId, businessAccountId } = channel;
    // Locks the account before the channel, as the provider's account notices do.
    if (messagingLimit !== undefined)
      await setMessagingLimit(transaction, businessAccountId, { limit: messagingLimit, reportedAt: now() });
    const found = await lockChannel(transaction, channelId);
    const settings = {
      status: status.value ?? found.status,
      responder: responder.value ?? found.responder,
      messagesPerSecond: input.messagesPerSecond ?? found.messagesPerSecond,
      blockedCountries: [...(input.blockedCountries ?? found.blockedCountries)],
      marketingEndpoint: input.marketingEndpoint ?? found.marketingEndpoint,
    };
    // The worker's outbox loop signals their workflows.
    if (settings.status === 'blocked') {
      await pauseRunning(transaction, { channelIds: [channelId] });
      if (found.status !== 'blocked')
        await insertNotices(transaction, [channelBlocked(found, 'by the operator', null)]);
    }
    await updateChannelSettings(transaction, channelId, {
      ...settings,
      blockReason: blockReasonOf(found, settings.status),
      accessTokenEncrypted:
        accessToken === undefined
          ? found.accessTokenEncrypted
          : secrets.encrypt(accessToken, `channel ${channelId}`),
      // A new token, or a lifted block, removes the cause of the provider's last rejection.
      forgetRefusal: accessToken !== undefined || input.status === 'active',
    });
    await insertAuditEntry(transaction, { workspaceId, action: 'channel.update', objectId: channelId });
    return { ...settings, messagingLimit: await getMessagingLimit(transaction, businessAccountId) };
  });
}

function blockReasonOf(before: Channel, status: Channel['status']): string | null {
  if (status === 'active') return null;
  return before.status === 'blocked' ? before.blockReason : 'OPERATOR';
}

function oneOfMany<T extends string>(
  field: string,
  given: string | undefined,
  known: readonly T[],
): { readonly value?: T; readonly problems: readonly FieldProblem[] } {
  const value = known.find((name) => name === given);
  if (value !== undefined) return { value, problems: [] };
  if (given === undefined) return { problems: [] };
  return { problems: [{ field, message: `${field} must be one of ${known.join(', ')}` }] };
}

function limitProblems(limit: number | null | undefined): readonly FieldProblem[] {
  if (limit !== 0) return [];
  return [{ field: 'messagingLimit', message: 'messagingLimit must be at least 1, or none' }];
}

function countryProblems(countries: readonly string[]): readonly FieldProblem[] {
  const unknown = countries.find((country) => !isSupportedCountry(country));
  if (unknown === undefined) return [];
  const message = `blockedCountries must be ISO 3166 codes such as US, FR, and ${unknown.slice(0, 20)} is none`;
  return [{ field: 'blockedCountries', message }];
}
