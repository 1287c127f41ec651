/** Dry run of a campaign: finds its problems, reach, cost and duration without creating it. */
import { priceOf } from '../../domain/money.ts';
import type { AudienceInput } from '../../codecs/campaign-audience.ts';
import type { CreateCampaign } from '../../codecs/create-campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import { type PlainNumber, plainNumber } from '../../domain/audience/probable-country.ts';
import { emptyAudience, PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { afterOpenTime } from '../../domain/campaigns/sending-window.ts';
import {
  channelNeeded,
  FeatureUnavailable,
  Invalid,
  NotFound,
  type FieldProblem,
} from '../../domain/error.ts';
import { capOn } from '../../domain/campaigns/frequency-cap.ts';
import { requiresConsent } from '../../domain/contacts/consent.ts';
import { isPhoneNumber, readNumber } from '../../domain/phone-number.ts';
import type { MessagePlan } from '../../domain/templates/plan.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import { findChannelPace } from '../../records/sending/channel-rate.ts';
import { getTemplate } from '../../records/templates/templates.ts';
import { findPrices, getWallet, priceTerms } from '../../records/wallet/wallets.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { getConsentPolicy, getFrequencyCap } from '../../records/workspaces/workspaces.ts';
import { FileTemporarilyUnavailable } from '../audience/campaign-file.ts';
import { type AudienceRequest, openCandidates, quickCandidate } from '../audience/candidates.ts';
import { freezeVariables } from '../audience/freeze-variables.ts';
import {
  type AudienceEstimate,
  dryRunAudience,
  mostPlainNumbers,
  numberWarnings,
} from '../audience/dry-run-audience.ts';
import { findObstacle } from '../workspaces/number-health.ts';
import { checkCampaignMedia } from '../messages/campaign-media.ts';
import { checkCampaign, type CheckedCampaign, readDefaultCountry } from './create-campaign.ts';

export interface CampaignDryRun {
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly FieldProblem[];
  readonly total: number;
  readonly skipped: Readonly<Record<string, number>>;
  /** Numbers in ranges that are not known to be in use, by ISO 3166 alpha-2 code. */
  readonly unverified: Readonly<Record<string, number>>;
  /** True if only the beginning of the audience was read; all numbers then cover only that part. */
  readonly isEstimate: boolean;
  readonly cost: bigint;
  readonly available: bigint;
  readonly currency: string;
  readonly durationSeconds: number;
  /** When sending would begin and end; null if unknown, for instance because the body has problems. */
  readonly beginsAt: Date | null;
  readonly endsAt: Date | null;
}

type DryRunner = Pick<
  Dependencies,
  'config' | 'database' | 'now' | 'outbound' | 'provider' | 'secrets' | 'storage'
>;

const mostRows = 200_000;
const pieceBytes = 64 * 1024;
const noAudience: AudienceEstimate = {
  rowsRead: 0,
  isWhole: true,
  sendable: 0,
  skipped: {},
  countries: new Map(),
  unverified: {},
  plainNumbers: [],
  first: [],
  skippedRows: [],
};

/**
 * Counts the audience for at most `maxMs`. Returns errors in the body as `problems`; throws every other error that creating the
 * campaign would throw.
 */
export async function dryRunCampaign(
  dependencies: DryRunner,
  principal: Principal,
  body: CreateCampaign,
  maxMs: number,
): Promise<CampaignDryRun> {
  const { workspaceId, channelId } = principal;
  const { database } = dependencies;
  if (channelId === null) throw channelNeeded();
  const [wallet, rate] = await Promise.all([
    getWallet(database, workspaceId, channelId),
    findChannelPace(database, channelId),
  ]);
  let problems: readonly FieldProblem[] = [];
  let warnings: readonly FieldProblem[] = [];
  let estimate = noAudience;
  let hours: { windows: CheckedCampaign['windows']; beginsAt: Date | null } = { windows: [], beginsAt: null };
  try {
    const checked = await checkCampaign(dependencies, principal, body);
    ({ warnings } = checked);
    hours = checked;
    estimate = await audienceOf(dependencies, checked, body, maxMs);
    warnings = [
      ...warnings,
      ...(await undeliveredWarnings(dependencies, workspaceId, body, estimate)),
      ...(await doubtfulNumbers(dependencies, principal, body, estimate)),
    ];
    if (estimate.sendable === 0)
      problems = [
        { field: 'contact_selection_type', message: emptyAudience(Object.entries(estimate.skipped)) },
      ];
    const channel = await getChannel(database, workspaceId, channelId);
    const obstacle = await findObstacle(dependencies, channel);
    if (obstacle !== undefined) problems = [...problems, { field: 'channel_id', message: obstacle }];
  } catch (error) {
    problems = problemsOf(error);
    // Refused numbers end the check, and are what the warning is about.
    if (body.contact_selection_type === 'quick_contacts')
      warnings = await doubtfulNumbers(dependencies, principal, body, {
        unverified: {},
        plainNumbers: await quickPlainNumbers(dependencies, principal, body),
      });
  }
  const { windows, beginsAt } = hours;
  const seconds = estimate.sendable / rate;
  const endsAt =
    beginsAt === null || estimate.sendable === 0 ? null : afterOpenTime(windows, beginsAt, seconds);
  return {
    problems,
    warnings,
    total: estimate.sendable,
    skipped: estimate.skipped,
    unverified: estimate.unverified,
    isEstimate: !estimate.isWhole,
    cost: await costOf(dependencies, { workspaceId, channelId }, body, estimate),
    available: wallet.balance - wallet.reserved,
    currency: wallet.currency,
    durationSeconds: Math.ceil(
      beginsAt === null || endsAt === null ? seconds : (endsAt.getTime() - beginsAt.getTime()) / 1_000,
    ),
    beginsAt,
    endsAt,
  };
}

/** The provider has delivered no marketing messages to numbers of this country since April 2025, with no end in sight. */
const countryWithoutMarketing = 'US';

async function undeliveredWarnings(
  { database }: DryRunner,
  workspaceId: number,
  { template_id: templateId }: CreateCampaign,
  { countries }: AudienceEstimate,
): Promise<readonly FieldProblem[]> {
  const count = countries.get(countryWithoutMarketing) ?? 0;
  if (count === 0) return [];
  const { category } = await getTemplate(database, workspaceId, templateId);
  if (category !== 'MARKETING') return [];
  const message = `${count} of the numbers are of the United States (+1), where the provider delivers no MARKETING messages: they will fail with 131049. A message that is not delivered costs nothing`;
  return [{ field: 'template_id', message }];
}

async function doubtfulNumbers(
  { database }: DryRunner,
  { workspaceId, channelId }: Principal,
  body: CreateCampaign,
  estimate: Pick<AudienceEstimate, 'unverified' | 'plainNumbers'>,
): Promise<readonly FieldProblem[]> {
  const { contact_selection_type: kind } = body;
  if (channelId === null || (kind !== 'csv_contacts' && kind !== 'quick_contacts')) return [];
  const [defaultCountry, { displayPhoneNumber }] = await Promise.all([
    readDefaultCountry(database, workspaceId, body),
    getChannel(database, workspaceId, channelId),
  ]);
  const own = readNumber(displayPhoneNumber);
  const likely = [defaultCountry, isPhoneNumber(own) ? own.country : ''];
  return numberWarnings(estimate, kind, likely);
}

async function quickPlainNumbers(
  { database }: DryRunner,
  { workspaceId }: Principal,
  body: CreateCampaign,
): Promise<readonly PlainNumber[]> {
  const defaultCountry = await readDefaultCountry(database, workspaceId, body);
  return (body.quick_contacts ?? [])
    .slice(0, mostPlainNumbers)
    .flatMap((entry) => plainNumber(quickCandidate(entry, defaultCountry), undefined) ?? []);
}

function problemsOf(error: unknown): readonly FieldProblem[] {
  if (error instanceof Invalid) {
    return error.problems.length > 0 ? error.problems : [{ field: '', message: error.message }];
  }
  if (error instanceof FeatureUnavailable) return [{ field: '', message: error.message }];
  if (error instanceof NotFound && error.code === 'template_not_found') {
    return [{ field: 'template_id', message: error.message }];
  }
  const failure = error instanceof FileTemporarilyUnavailable ? error.failure : error;
  if (failure instanceof PreparationFailure) return [{ field: '', message: failure.message }];
  throw error;
}

async function audienceOf(
  dependencies: DryRunner,
  { newCampaign: campaign, defaultCountry }: CheckedCampaign,
  body: CreateCampaign,
  mostMs: number,
): Promise<AudienceEstimate> {
  const { workspaceId, selectionType, channelId } = campaign;
  const request: AudienceRequest = {
    workspaceId,
    selectionType,
    audience: campaign.audience as AudienceInput,
    campaignId: '',
    quickContacts: body.quick_contacts ?? [],
    defaultCountry,
    // A CSV in the body is read from there, because it is stored only when a campaign is created.
    ...(body.csv_contacts_string !== undefined && {
      file: () => piecesOf(body.csv_contacts_string ?? ''),
    }),
    keepVariables: false,
  };
  const frozen = await freezeVariables(dependencies, {
    ...request,
    campaign: {
      template_id: campaign.templateId,
      variable_mapping: campaign.variableMapping,
      scheduled_at: campaign.scheduledAt,
    },
  });
  await checkCampaignMedia(dependencies, frozen.plan as MessagePlan);
  const { customFields } = frozen;
  const channel = await getChannel(dependencies.database, workspaceId, channelId);
  const template = await getTemplate(dependencies.database, workspaceId, campaign.templateId);
  const isMarketing = template.category === 'MARKETING';
  return dryRunAudience(dependencies, {
    workspaceId,
    open: () =>
      openCandidates(dependencies, {
        ...request,
        keepVariables: frozen.keepsVariables,
        customFields,
      }),
    rules: {
      blockedCountries: new Set(channel.blockedCountries),
      countriesWithoutMarketing: new Set(dependencies.config.marketingSkipCountries),
      resolvers: frozen.resolvers,
      limits: frozen.limits,
      customFields,
      isMarketing,
      requiresContact:
        selectionType === 'csv_contacts' &&
        requiresConsent(await getConsentPolicy(dependencies.database, workspaceId), isMarketing),
    },
    cap: capOn(
      campaign.ignoreFrequencyCap === true ? null : await getFrequencyCap(dependencies.database, workspaceId),
      { workspaceId, category: template.category },
    ),
    mapping: selectionType === 'csv_contacts' ? request.audience.csv_mapping : undefined,
    byNumber: selectionType === 'csv_contacts' || selectionType === 'quick_contacts',
    mostRows,
    mostMs,
  });
}

/** Cuts the text into pieces, so that the event loop serves other requests between them. */
async function* piecesOf(csv: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(csv);
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function costOf(
  { database }: DryRunner,
  { workspaceId, channelId }: { readonly workspaceId: number; readonly channelId: string },
  body: CreateCampaign,
  { countries }: AudienceEstimate,
): Promise<bigint> {
  if (countries.size === 0) return 0n;
  const template = await getTemplate(database, workspaceId, body.template_id);
  const prices = await findPrices(database, channelId, template.category, priceTerms(template));
  let cost = 0n;
  for (const [country, count] of countries) {
    cost += priceOf(prices, country) * BigInt(count);
  }
  return cost;
}
