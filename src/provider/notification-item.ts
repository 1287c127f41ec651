import type { ReportedStatus } from '../domain/callbacks/message-status.ts';
import type { JsonObject } from './provider.ts';

/** One item read from one element of a callback. `raw` is the element unchanged. */
export type NotificationItem =
  | StatusItem
  | MessageItem
  | EchoItem
  | TemplateStatusItem
  | TemplateCategoryItem
  | TemplateQualityItem
  | TemplateComponentsItem
  | TemplateAnnouncementItem
  | AccountItem
  | PreferenceItem
  | IdentityItem
  | IgnoredItem;

interface FromAccount {
  /** The business account of the entry: routes template and account items. */
  readonly businessAccountId: string | null;
  readonly raw: unknown;
}

interface FromNumber extends FromAccount {
  /** The sending number: routes to the channel. */
  readonly phoneNumberId: string | null;
}

/** One status of one of our messages. */
export interface StatusItem extends FromNumber, ReportedStatus {
  readonly kind: 'status';
  readonly providerMessageId: string;
  /** Epoch seconds. */
  readonly timestamp: string | null;
  /** Digits; null for a person known only by the provider's user id. */
  readonly recipientId: string | null;
  readonly recipientUserId: string | null;
  readonly recipientParentUserId: string | null;
  /** Our message id, sent as `biz_opaque_callback_data`; null when the provider did not return it. */
  readonly callbackData: string | null;
  readonly raw: JsonObject;
}

export interface NotificationError {
  readonly code: number;
  readonly title: string | null;
  readonly details: string | null;
}

export interface MessageItem extends FromNumber {
  readonly kind: 'message';
  readonly providerMessageId: string;
  /** Digits; null when the provider hides the number behind a user id. */
  readonly from: string | null;
  readonly fromUserId: string | null;
  /** The id that the person has in all linked portfolios. */
  readonly fromParentUserId: string | null;
  readonly profileName: string | null;
  readonly username: string | null;
  /** ISO 3166 alpha-2, as the provider reports it. */
  readonly country: string | null;
  /** `text`, `image`, `button`, `interactive`, …; kinds unknown to us are kept. */
  readonly type: string;
  /** Epoch seconds. */
  readonly timestamp: string | null;
  /** Texts that the person wrote or tapped: message text, button text and button payload. */
  readonly texts: readonly string[];
  /** The group in which it was written; null for a message sent only to us. */
  readonly groupId: string | null;
  /** The message this one replies to. */
  readonly repliesTo: string | null;
  /** Set when the message announces a new number or user id of the person. */
  readonly change: IdentityChange | null;
  /** Another app holds the conversation: nobody here is expected to answer. */
  readonly standby: boolean;
  /** The callback reduced to this message, for the `incoming` event (Spec 6.3). */
  readonly notification: Notification;
}

/** Ids of one person before and after a change. */
export interface IdentityChange {
  /** Numbers in digits and user ids, in the order in which the person is looked up by them. */
  readonly previous: readonly string[];
  readonly newNumber: string | null;
  readonly newUserId: string | null;
  readonly newParentUserId: string | null;
}

/** A message that the business wrote in the provider's app, from a number that we share with the app. */
export interface EchoItem extends FromNumber {
  readonly kind: 'echo';
  readonly providerMessageId: string;
  /** Digits; null when the provider hides the number behind a user id. */
  readonly to: string | null;
  readonly toUserId: string | null;
  readonly type: string;
  /** Epoch seconds. */
  readonly timestamp: string | null;
}

/** The provider's envelope of a callback, as events include it. */
export interface Notification {
  readonly object: string;
  readonly entry: {
    readonly id: string;
    readonly changes: { readonly field: string; readonly value: Record<string, unknown> }[];
  }[];
}

interface TemplateItem extends FromAccount {
  readonly providerTemplateId: string;
  /** Epoch seconds of the entry. */
  readonly timestamp: string | null;
}

export interface TemplateStatusItem extends TemplateItem {
  readonly kind: 'template_status';
  /** Upper case. */
  readonly newStatus: string;
  /** Null when the provider writes `NONE`. */
  readonly reason: string | null;
  /** Remarks in addition to the reason: why a template was paused or locked, or what to correct after a rejection. */
  readonly remarks: { readonly otherInfo?: TemplateRemark; readonly rejectionInfo?: TemplateRemark };
}

export type TemplateRemark = Readonly<
  Partial<Record<'title' | 'description' | 'reason' | 'recommendation', string>>
>;

/** A change of category that has taken effect. */
export interface TemplateCategoryItem extends TemplateItem {
  readonly kind: 'template_category';
  readonly newCategory: string;
}

/** An announced change of the category. */
export interface TemplateAnnouncementItem extends TemplateItem {
  readonly kind: 'template_announcement';
  readonly upcomingCategory: string;
  /** Null when the provider does not say when. */
  readonly takesEffectAt: Date | null;
}

export interface TemplateQualityItem extends TemplateItem {
  readonly kind: 'template_quality';
  readonly newQualityScore: string;
}

/** The definition changed: the template has to be fetched again. */
export interface TemplateComponentsItem extends TemplateItem {
  readonly kind: 'template_components';
}

/** A change of a business account or of one of its numbers. */
export interface AccountItem extends FromNumber {
  readonly kind: 'account';
  /** The callback's field: `account_update`, `account_review_update`, `phone_number_quality_update`, … */
  readonly field: string;
  /** The event, decision or alert in upper case; `ERRORS` for errors that belong to no message. */
  readonly event: string;
  /** Epoch seconds of the entry. */
  readonly timestamp: string | null;
  /** Whether the account may send from now on; null when the event says nothing about it. */
  readonly maySend: boolean | null;
  /** With `maySend: false`: when the block ends by itself; null if it does not. */
  readonly blockedUntil: Date | null;
  /** Messaging limit per 24 hours. Null: no limit; undefined: not mentioned. */
  readonly messagingLimit: number | null | undefined;
  /** Quality of one number (digits): `LOW` when it was flagged, `GOOD` when the flag was removed. */
  readonly quality: { readonly number: string; readonly is: 'LOW' | 'GOOD' } | null;
  /** Other fields of the change, except those that name numbers or people. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly errors: readonly NotificationError[];
}

/** The provider has replaced a person's user id. */
export interface IdentityItem extends FromNumber {
  readonly kind: 'identity';
  readonly waId: string | null;
  readonly previousUserId: string | null;
  readonly userId: string;
}

/** A person allowed or stopped marketing messages. */
export interface PreferenceItem extends FromNumber {
  readonly kind: 'preferences';
  readonly waId: string | null;
  readonly userId: string | null;
  readonly subscribed: boolean;
  /** Epoch seconds. */
  readonly timestamp: string | null;
}

/** An item without effect: an unsupported kind, or an unreadable element. */
export interface IgnoredItem extends FromAccount {
  readonly kind: 'ignored';
  readonly field: string | null;
  readonly reason: string;
}
