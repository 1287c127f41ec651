/** Effects of a failure beyond its message: pauses campaigns, unsubscribes people, blocks countries. */
import type { Dependencies } from '../../dependencies.ts';
import {
  type ChannelBlockCause,
  type ProviderError,
  providerErrorRule,
  type ProviderErrorRule,
  refusesMedia,
} from '../../domain/sending/provider-error.ts';
import { statusBits } from '../../domain/campaigns/recipient.ts';
import type { Connection } from '../../records/database/database.ts';
import { codeUnlisted } from '../../domain/operations/notice.ts';
import { insertNotices, recordUnlistedCodes } from '../../records/operations/notices.ts';
import { addBlockedCountry } from '../../records/workspaces/notified-channels.ts';
import { templateEvent } from '../../domain/templates/event.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import {
  getTemplate,
  listBusinessAccountsOfTemplates,
  notePausedTemplates,
  setTemplateStatus,
} from '../../records/templates/templates.ts';
import type { Person } from '../../records/callbacks/sender-contacts.ts';
import type { StatusMatch } from './match-statuses.ts';
import { personOf } from './recognise-sender.ts';
import { pauseCampaignsOfTemplate, pauseRefusedChannels } from '../campaigns/change-campaign.ts';

/** A message the provider refused, at once or later. */
export interface FailedMessage extends ProviderError {
  readonly channelId: string;
  readonly templateId: string | null;
  /** ISO 3166 alpha-2, or ''. */
  readonly country: string;
}

/** Effects of a callback beyond the message itself. */
export interface Consequences {
  /** The campaigns that were paused. */
  readonly paused: readonly string[];
  /** Business accounts whose templates differ from ours; synced after the commit. */
  readonly resync: readonly string[];
  /** Channels that send too fast, with the cool-down of each. */
  readonly throttled: readonly ChannelSilence[];
}

interface Effects<F> extends Consequences {
  /** Failures whose code means that the recipient opted out. */
  readonly optedOut: readonly F[];
  /** Codes that the table of codes does not list, one for each failure. */
  readonly unlisted: readonly number[];
}

export interface ChannelSilence {
  readonly channelId: string;
  readonly holdMs: number;
}

interface FailureWithRule<F> {
  readonly rule: ProviderErrorRule;
  readonly failed: F;
}

/** Locks channels, then templates and campaigns, so it comes before messages are locked. */
export async function applyConsequences<F extends FailedMessage>(
  dependencies: Pick<Dependencies, 'logger' | 'now'>,
  connection: Connection,
  failures: readonly F[],
): Promise<Effects<F>> {
  const failuresWithRules = failures.map((failed) => ({
    failed,
    rule: providerErrorRule(failed),
  }));
  for (const { rule, failed } of failuresWithRules) {
    if (effectOf(rule) === 'block_country' && failed.country !== '')
      await addBlockedCountry(connection, failed);
  }
  const unlisted = failuresWithRules.filter(({ rule }) => effectOf(rule) === 'report_code');
  await reportCodes(
    connection,
    unlisted.map(({ failed }) => failed),
  );
  const reviewed = await notePausedTemplates(connection, refusedAsPaused(failuresWithRules));
  const unavailable = unavailableTemplates(failuresWithRules);
  for (const [templateId, status] of unavailable)
    if (status !== undefined) await changeTemplateStatus(dependencies, connection, { templateId, status });
  // All campaigns of a channel before those of a template: a transaction that held some of them would wait for one that holds others.
  const refusals = refusedChannels(failuresWithRules, reviewed);
  const paused = [...(await pauseRefusedChannels(dependencies, connection, refusals))];
  for (const [templateId] of unavailable)
    paused.push(...(await pauseCampaignsOfTemplate(dependencies, connection, templateId)));
  const optedOut = failuresWithRules.filter(({ rule }) => effectOf(rule) === 'unsubscribe_contact');
  const resync = await listBusinessAccountsOfTemplates(connection, mistakenTemplates(failuresWithRules));
  const throttled = throttledChannels(failuresWithRules);
  return {
    optedOut: optedOut.map(({ failed }) => failed),
    paused,
    resync,
    throttled,
    unlisted: unlisted.map(({ failed }) => failed.code),
  };
}

/** What an `integer` of the database holds. */
const largestCode = 2 ** 31 - 1;

/** One notice for each workspace, code and day. Locks nothing that another part of these effects locks. */
async function reportCodes(connection: Connection, failures: readonly FailedMessage[]): Promise<void> {
  const reported = await recordUnlistedCodes(
    connection,
    failures.filter(({ code }) => Number.isInteger(code) && code >= 0 && code <= largestCode),
  );
  await insertNotices(
    connection,
    reported.map((channel) => codeUnlisted(channel, channel.code)),
  );
}

/** Spec 6.2: whichever process learns of a template status first, callback or sync, emits its event. */
async function changeTemplateStatus(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  { templateId, status }: { readonly templateId: string; readonly status: string },
): Promise<void> {
  const workspaceId = await setTemplateStatus(connection, templateId, status);
  if (workspaceId === undefined) return;
  const template = await getTemplate(connection, workspaceId, templateId);
  const event = templateEvent(template, { type: 'STATUS', reason: null, occurredAt: now() });
  await emitEvents(connection, workspaceId, [event]);
}

interface FailedTarget extends FailedMessage {
  readonly workspaceId: number;
  readonly contactId: string | null;
  /** The recipient, identified by the ids in the status. */
  readonly person: Person;
  /** The campaign, if the provider may no longer have its file; null otherwise. */
  readonly refusedMediaOf: string | null;
}

interface StatusEffects extends Effects<FailedTarget> {
  /** Campaigns whose file the provider may no longer have. */
  readonly refusedMedia: readonly string[];
}

/** Applies the effects of `failed` statuses. A repeated failure has no second effect. */
export async function applyStatusEffects(
  dependencies: Pick<Dependencies, 'logger' | 'now'>,
  connection: Connection,
  matches: Iterable<StatusMatch>,
): Promise<StatusEffects> {
  const failures = [...matches].flatMap(failureOf);
  const effects = await applyConsequences(dependencies, connection, failures);
  const refusedMedia = new Set(failures.flatMap(({ refusedMediaOf }) => refusedMediaOf ?? []));
  return { ...effects, refusedMedia: [...refusedMedia] };
}

function failureOf({ target, statuses }: StatusMatch): readonly FailedTarget[] {
  if ((target.statuses_seen & statusBits.failed) !== 0) return [];
  const failed = statuses.find(({ status }) => status === 'failed');
  const failure = failed?.failure;
  if (failed === undefined || failure === undefined || failure === null) return [];
  return [
    {
      code: failure.code,
      workspaceId: target.workspace_id,
      channelId: target.channel_id,
      templateId: target.template_id,
      contactId: target.contact_id,
      person: personOf({ waId: failed.recipientId, userId: failed.recipientUserId }),
      country: target.country,
      refusedMediaOf: refusesMedia(failure.code, failure.details ?? '') ? target.campaign_id : null,
    },
  ];
}

/** True for a failure by which the provider reports that the person does not want such messages any more. */
export const isOptOut = (failure: { readonly code: number }): boolean =>
  effectOf(providerErrorRule(failure)) === 'unsubscribe_contact';

const effectOf = (rule: ProviderErrorRule) => ('effect' in rule ? rule.effect : undefined);

function throttledChannels(
  failuresWithRules: readonly FailureWithRule<FailedMessage>[],
): readonly ChannelSilence[] {
  const silences = new Map<string, number>();
  for (const { rule, failed } of failuresWithRules) {
    if (rule.kind !== 'throttle') continue;
    silences.set(failed.channelId, Math.max(rule.silenceMs, silences.get(failed.channelId) ?? 0));
  }
  return [...silences].map(([channelId, holdMs]) => ({ channelId, holdMs }));
}

/** Templates that the provider rejected as unknown or different. */
function mistakenTemplates(failuresWithRules: readonly FailureWithRule<FailedMessage>[]): readonly string[] {
  const mistaken = failuresWithRules.filter(({ rule }) => effectOf(rule) === 'resync_templates');
  return [...new Set(mistaken.flatMap(({ failed }) => failed.templateId ?? []))];
}

const codeOfPausedTemplate = 132015;

/** Each once, in the order of their ids. */
function refusedAsPaused(failuresWithRules: readonly FailureWithRule<FailedMessage>[]): readonly string[] {
  const refused = failuresWithRules.filter(({ rule }) => effectOf(rule) === 'template_paused');
  return [...new Set(refused.flatMap(({ failed }) => failed.templateId ?? []))].toSorted();
}

/** One refusal per channel. `reviewed`: channels whose portfolio the provider reviews. */
function refusedChannels(
  failuresWithRules: readonly FailureWithRule<FailedMessage>[],
  reviewed: readonly string[],
) {
  const refusals = new Map<string, { channelId: string; code: number; cause: ChannelBlockCause }>();
  for (const channelId of reviewed)
    refusals.set(channelId, { channelId, code: codeOfPausedTemplate, cause: 'limit' });
  for (const { rule, failed } of failuresWithRules) {
    const { channelId, code } = failed;
    if (rule.kind === 'pause_channel') refusals.set(channelId, { channelId, code, cause: rule.cause });
  }
  return [...refusals.values()];
}

/** New status per template, ordered by id; undefined if only its campaigns pause. */
function unavailableTemplates(
  failuresWithRules: readonly FailureWithRule<FailedMessage>[],
): readonly (readonly [string, string | undefined])[] {
  const statuses = new Map<string, string | undefined>();
  for (const { rule, failed } of failuresWithRules) {
    if (rule.kind !== 'pause_template' || failed.templateId === null) continue;
    statuses.set(failed.templateId, templateStatuses[rule.effect ?? ''] ?? statuses.get(failed.templateId));
  }
  return [...statuses].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const templateStatuses: Readonly<Record<string, string>> = {
  template_paused: 'PAUSED',
  template_disabled: 'DISABLED',
};
