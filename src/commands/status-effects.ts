/** What a `failed` status means beyond its message: campaigns pause, people and countries are left alone. */
import type { Dependencies } from '../dependencies.ts';
import { providerErrorRule, type ProviderError } from '../domain/provider-error.ts';
import type { ProviderErrorRule } from '../domain/provider-error-table.ts';
import { statusBits } from '../domain/recipient.ts';
import { addBlockedCountry } from '../records/notified-channels.ts';
import type { Connection } from '../records/database.ts';
import { setTemplateStatus } from '../records/template-status.ts';
import type { StatusMatch } from './match-statuses.ts';
import { pauseCampaignsOfChannel, pauseCampaignsOfTemplate } from './pause-campaigns.ts';

interface Consequence {
  readonly rule: ProviderErrorRule;
  readonly target: StatusMatch['target'];
}

/** Somebody who does not want marketing messages of this workspace. */
export interface OptOut {
  readonly workspaceId: number;
  readonly contactId: string;
}

/**
 * Takes locks on templates and campaigns, so it comes before the messages are locked. Told twice, a failure has no
 * second effect. Returns the contacts that opted out and the campaigns that were paused.
 */
export async function applyStatusEffects(
  dependencies: Pick<Dependencies, 'logger'>,
  connection: Connection,
  matches: Iterable<StatusMatch>,
): Promise<{ readonly optedOut: readonly OptOut[]; readonly paused: readonly string[] }> {
  const consequences = [...matches].flatMap(consequencesOf);
  const paused: string[] = [];
  for (const [templateId, status] of unavailableTemplates(consequences)) {
    if (status !== undefined) await setTemplateStatus(connection, templateId, status);
    paused.push(...(await pauseCampaignsOfTemplate(dependencies, connection, templateId)));
  }
  for (const channelId of idsOf(
    consequences,
    (rule) => rule.kind === 'pause_channel',
    ({ channel_id }) => channel_id,
  )) {
    paused.push(...(await pauseCampaignsOfChannel(dependencies, connection, channelId)));
  }
  for (const { rule, target } of consequences) {
    if (effectOf(rule) === 'block_country' && target.country !== '') {
      await addBlockedCountry(connection, { channelId: target.channel_id, country: target.country });
    }
  }
  return { optedOut: consequences.flatMap(optOutOf), paused };
}

function optOutOf({ rule, target }: Consequence): readonly OptOut[] {
  if (effectOf(rule) !== 'unsubscribe_contact' || target.contact_id === null) return [];
  return [{ workspaceId: target.workspace_id, contactId: target.contact_id }];
}

function consequencesOf({ target, notices }: StatusMatch): readonly Consequence[] {
  if ((target.statuses_seen & statusBits.failed) !== 0) return [];
  const failure = notices.find(({ status }) => status === 'failed')?.failure;
  return failure === undefined || failure === null
    ? []
    : [{ rule: providerErrorRule(asyncError(failure.code)), target }];
}

const asyncError = (code: number): ProviderError => ({ code });

const effectOf = (rule: ProviderErrorRule) => ('effect' in rule ? rule.effect : undefined);

function idsOf(
  consequences: readonly Consequence[],
  applies: (rule: ProviderErrorRule) => boolean,
  idOf: (target: Consequence['target']) => string | null,
): readonly string[] {
  const ids = consequences.filter(({ rule }) => applies(rule)).map(({ target }) => idOf(target));
  return [...new Set(ids)].filter((id) => id !== null).toSorted();
}

/** By template, in the order of their ids: the status to note, undefined when only its campaigns pause. */
function unavailableTemplates(
  consequences: readonly Consequence[],
): readonly (readonly [string, string | undefined])[] {
  const statuses = new Map<string, string | undefined>();
  for (const { rule, target } of consequences) {
    if (rule.kind !== 'pause_template' || target.template_id === null) continue;
    const status = templateStatuses[rule.effect ?? ''] ?? statuses.get(target.template_id);
    statuses.set(target.template_id, status);
  }
  return [...statuses].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const templateStatuses: Readonly<Record<string, string>> = {
  template_paused: 'PAUSED',
  template_disabled: 'DISABLED',
};
