/** Notices: messages to the users of a workspace. Events are their counterpart for programs. */
import { formatAmount } from '../money.ts';
import type { DifferenceCause, FigureDifference } from '../wallet/comparison.ts';
import type { PauseReason } from '../campaigns/campaign.ts';
import {
  describeEvidence,
  describePriceChange,
  pauseReasonTable,
  type PriceChange,
} from '../campaigns/reasons.ts';
import type { PauseEvidence } from '../sending/failure-brake.ts';

export const noticeKinds = [
  'template_status',
  'template_category',
  'channel_blocked',
  'channel_quality',
  'messaging_limit',
  'webhook_disabled',
  'campaign_paused',
  'campaign_failed',
  'unlisted_code',
  'low_balance',
  'price_card',
  'asks_to_stop',
  'price_difference',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const noticeSubjectTypes = [
  'template',
  'channel',
  'business_account',
  'webhook',
  'campaign',
  'conversation',
] as const;

export interface NoticeSubject {
  readonly type: (typeof noticeSubjectTypes)[number];
  readonly id: string;
  readonly name: string;
}

export interface NewNotice {
  readonly workspaceId: number;
  readonly kind: NoticeKind;
  readonly subject: NoticeSubject;
  /** A sentence or two for people, without personal data. */
  readonly message: string;
}

interface NamedCampaign {
  readonly id: string;
  readonly workspace_id: number;
  readonly name: string;
}

const campaignSubject = ({ id, name }: NamedCampaign): NoticeSubject => ({ type: 'campaign', id, name });

export function campaignPaused(
  campaign: NamedCampaign,
  reason: PauseReason,
  evidence: PauseEvidence | PriceChange | null = null,
): NewNotice {
  const { meaning, advice } = pauseReasonTable[reason];
  const explain = (found: PauseEvidence | PriceChange): string =>
    'rule' in found ? describeEvidence(found) : describePriceChange(found);
  const why = evidence === null ? `${meaning} ${advice}` : explain(evidence);
  return {
    workspaceId: campaign.workspace_id,
    kind: 'campaign_paused',
    subject: campaignSubject(campaign),
    message: `The campaign was paused. ${why}`,
  };
}

export const campaignFailed = (campaign: NamedCampaign, why: string): NewNotice => ({
  workspaceId: campaign.workspace_id,
  kind: 'campaign_failed',
  subject: campaignSubject(campaign),
  message: campaignFailedMessage(why),
});

export const campaignFailedMessage = (why: string): string =>
  `The recipients of the campaign could not be prepared. ${why}`.slice(0, 1_000);

interface NoticedTemplate {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly status: string;
  readonly category: string;
}

/** Returns the notices about a changed template: at most one each for its status and its category. */
export function templateChanged(
  workspaceId: number,
  before: NoticedTemplate,
  after: NoticedTemplate,
  reason: string | null,
): readonly NewNotice[] {
  const { id, name, language } = after;
  const notice = (kind: NoticeKind, what: string, was: string, is: string, why = ''): NewNotice => ({
    workspaceId,
    kind,
    subject: { type: 'template', id, name },
    message: `The ${what} of the template (${language}) changed from ${was} to ${is}${why}.`,
  });
  const why = reason === null || reason === '' ? '' : `: ${reason.slice(0, 500)}`;
  return [
    ...(before.status === after.status
      ? []
      : [notice('template_status', 'status', before.status, after.status, why)]),
    ...(before.category === after.category
      ? []
      : [notice('template_category', 'category', before.category, after.category)]),
  ];
}

export interface NoticedChannel {
  readonly id: string;
  readonly workspaceId: number;
  readonly displayPhoneNumber: string;
}

const channelSubject = ({ id, displayPhoneNumber }: NoticedChannel): NoticeSubject => ({
  type: 'channel',
  id,
  name: displayPhoneNumber,
});

/** `until` is null if the block lasts until it is lifted. */
export const channelBlocked = (channel: NoticedChannel, why: string, until: Date | null): NewNotice => ({
  workspaceId: channel.workspaceId,
  kind: 'channel_blocked',
  subject: channelSubject(channel),
  message: `The channel was blocked (${why})${until === null ? '' : ` until ${until.toISOString()}`}: it sends nothing, and its campaigns are paused.`,
});

export const channelQualityChanged = (channel: NoticedChannel, quality: 'LOW' | 'GOOD'): NewNotice => ({
  workspaceId: channel.workspaceId,
  kind: 'channel_quality',
  subject: channelSubject(channel),
  message:
    quality === 'LOW'
      ? 'The provider rates the quality of the number as low and may reduce its messaging limit. Send to fewer people, and to those who expect your messages.'
      : 'The provider rates the quality of the number as good again.',
});

export const messagingLimitChanged = (
  account: { readonly id: string; readonly workspaceId: number },
  before: number | null,
  after: number | null,
): NewNotice => ({
  workspaceId: account.workspaceId,
  kind: 'messaging_limit',
  subject: { type: 'business_account', id: account.id, name: account.id },
  message: `The messaging limit changed from ${limitText(before)} to ${limitText(after)}.`,
});

const limitText = (limit: number | null): string =>
  limit === null ? 'no limit' : `${limit} different people in 24 hours`;

export const webhookDisabled = (
  webhook: { readonly id: string; readonly workspaceId: number; readonly title: string },
  why: string,
): NewNotice => ({
  workspaceId: webhook.workspaceId,
  kind: 'webhook_disabled',
  subject: { type: 'webhook', id: webhook.id, name: webhook.title },
  message: `The webhook was disabled. ${why}`,
});

export const asksToStop = (workspaceId: number, conversationId: string): NewNotice => ({
  workspaceId,
  kind: 'asks_to_stop',
  subject: { type: 'conversation', id: conversationId, name: 'Conversation' },
  message:
    'A person wrote a sentence that may be an opt-out. Read the conversation, and unsubscribe the person if it is one.',
});

export const codeUnlisted = (channel: NoticedChannel, code: number): NewNotice => ({
  workspaceId: channel.workspaceId,
  kind: 'unlisted_code',
  subject: channelSubject(channel),
  message: `The provider refuses messages with code ${code}, which this release does not know: they fail, and the failure brake counts them as failures of the message. Look the code up in the provider’s documentation.`,
});

export const balanceLow = (
  channel: NoticedChannel & {
    readonly available: bigint;
    readonly threshold: bigint;
    readonly currency: string;
  },
): NewNotice => ({
  workspaceId: channel.workspaceId,
  kind: 'low_balance',
  subject: channelSubject(channel),
  message: `The balance is low: ${formatAmount(channel.available)} ${channel.currency} can be spent, less than ${formatAmount(channel.threshold)}. Campaigns pause when it does not cover the next message.`,
});

export const pricesMissing = (account: {
  readonly id: string;
  readonly workspaceId: number;
  readonly currency: string;
  readonly effectiveOn: string | null;
}): NewNotice => ({
  workspaceId: account.workspaceId,
  kind: 'price_card',
  subject: { type: 'business_account', id: account.id, name: account.id },
  message:
    account.effectiveOn === null
      ? `There is no price card for ${account.currency}: no campaign can start. An operator loads the provider’s.`
      : `The price card for ${account.currency} is of ${account.effectiveOn}. See whether the provider has published another one.`,
});

const causeTexts: Readonly<Record<DifferenceCause, string>> = {
  OTHER_SENDERS: 'something else sends on the number, too',
  TIER: 'lower prices of a volume tier',
  AUTHENTICATION_INTERNATIONAL: 'prices of international authentication',
  MAX_PRICE: 'a maximum price for marketing',
};

export const pricesDiffer = ({
  day,
  differences,
  currency,
  ...channel
}: NoticedChannel & {
  readonly day: string;
  readonly differences: readonly FigureDifference[];
  readonly currency: string;
}): NewNotice => {
  const amount = differences.reduce((sum, { difference }) => sum + difference, 0n);
  const causes = [
    ...new Set(differences.flatMap(({ cause }) => (cause === null ? [] : [causeTexts[cause]]))),
  ];
  const direction = amount < 0n ? 'less' : 'more';
  const size = `${formatAmount(amount < 0n ? -amount : amount)} ${currency}`;
  return {
    workspaceId: channel.workspaceId,
    kind: 'price_difference',
    subject: channelSubject(channel),
    message: `Our figures of ${day} differ from the provider’s: we charged ${size} ${direction}. ${
      causes.length === 0 ? 'The cause is not known.' : `Likely causes: ${causes.join('; ')}.`
    } Nothing was booked; the wallet shows the differences.`,
  };
};
