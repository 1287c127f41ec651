/** What the conditions of a filter over contacts come to. */
import type { Consent } from './consent.ts';

export const textFields = [
  'firstName',
  'lastName',
  'chatName',
  'email',
  'phoneNumber',
  'countryCode',
  'source',
] as const;
export type TextField = (typeof textFields)[number];

export const timeFields = ['createdAt', 'updatedAt', 'dob'] as const;
export type TimeField = (typeof timeFields)[number];

export const comparisons = ['gt', 'gte', 'lt', 'lte'] as const;
export type Comparison = (typeof comparisons)[number];

/** Times of a contact that its messages have. */
export const engagementFields = [
  'last_messaged_at',
  'last_delivered_at',
  'last_read_at',
  'last_replied_at',
] as const;
export type EngagementField = (typeof engagementFields)[number];

/** What a campaign's message to a contact can have come to: states of a recipient, and an answer of the person. */
export const campaignStates = [
  'ACCEPTED',
  'SENT',
  'DELIVERED',
  'READ',
  'FAILED',
  'UNKNOWN',
  'CANCELLED',
  'REPLIED',
] as const;
export type CampaignState = (typeof campaignStates)[number];

export interface CustomSubject {
  readonly kind: 'custom';
  readonly fieldId: string;
}
export type TextSubject = { readonly kind: 'field'; readonly name: TextField } | CustomSubject;
export type TimeSubject = { readonly kind: 'field'; readonly name: TimeField } | CustomSubject;

/** A time that is fixed, or that lies a number of days before now. */
export type Since = { readonly from: Date } | { readonly days: number };

/** A parsed condition. `negated` inverts the result, so that a contact without the field matches. */
export type Predicate = { readonly negated: boolean } & (
  | { readonly test: 'text_in'; readonly subject: TextSubject; readonly values: readonly string[] }
  | { readonly test: 'text_contains'; readonly subject: TextSubject; readonly value: string }
  | { readonly test: 'text_starts_with'; readonly subject: TextSubject; readonly value: string }
  | { readonly test: 'text_present'; readonly subject: TextSubject }
  | {
      readonly test: 'text_compare';
      readonly subject: TextSubject;
      readonly comparison: Comparison;
      /** A number is only compared with field values that are numbers; text is compared by code points. */
      readonly value: string | number;
    }
  | { readonly test: 'number_in'; readonly subject: TextSubject; readonly values: readonly number[] }
  | { readonly test: 'boolean'; readonly subject: TextSubject; readonly wanted: boolean }
  | { readonly test: 'time_within'; readonly subject: TimeSubject; readonly from: Date; readonly until: Date }
  | { readonly test: 'time_from'; readonly subject: TimeSubject; readonly from: Date }
  | { readonly test: 'time_before'; readonly subject: TimeSubject; readonly until: Date }
  /** Neither earlier than that many days ago nor in the future. */
  | { readonly test: 'time_recent'; readonly subject: TimeSubject; readonly days: number }
  | { readonly test: 'time_present'; readonly subject: TimeSubject }
  /** It happened at all, and, if given, since then. */
  | { readonly test: 'engaged'; readonly field: EngagementField; readonly since: Since | undefined }
  /** It happened, and not since then. */
  | { readonly test: 'engaged_before'; readonly field: EngagementField; readonly until: Date }
  | {
      readonly test: 'campaign_in';
      readonly campaignId: string;
      readonly states: readonly CampaignState[];
    }
  | { readonly test: 'segment_any'; readonly segmentIds: readonly string[] }
  | { readonly test: 'country_in'; readonly values: readonly string[] }
  | { readonly test: 'subscribed' }
  | { readonly test: 'consent_in'; readonly values: readonly Consent[] }
  | { readonly test: 'always' }
  | { readonly test: 'tag_any'; readonly tagIds: readonly string[] }
  | { readonly test: 'tag_present' }
);
