/** Descriptions of the enums of the API document, by schema name: what each value means. */
import {
  describeReasons,
  failureReasonTable,
  pauseReasonTable,
  preparationErrorTable,
  skipReasonTable,
  waitingReasonTable,
} from '../../../domain/campaigns/reasons.ts';
import { webhookErrorTable } from '../../../domain/webhooks/delivery.ts';

export const enumDescriptions: Readonly<Record<string, string>> = {
  PauseReason: describeReasons(pauseReasonTable),
  WaitingReason: describeReasons(waitingReasonTable),
  SkipReason: describeReasons(skipReasonTable),
  PreparationErrorCode: describeReasons(preparationErrorTable),
  RecipientReason: `Reason why a message was skipped, failed or has an unknown outcome.\n${describeReasons({ ...failureReasonTable, ...skipReasonTable })}`,
  WebhookErrorCode: describeReasons(webhookErrorTable),
  DeliveryErrorCode: describeReasons(webhookErrorTable),
  SuccessStatus: '`success` in every successful response.',
  ErrorCode: 'Machine-readable cause of the error. Stable: codes may be added, and none changes its meaning.',
  CampaignStatus:
    'DRAFT: the audience is being prepared. SCHEDULED: waits for `scheduled_at`. RUNNING: sends. PAUSED: waits for you; see `pause_reason`. COMPLETED: no recipient is left to send to; receipts still arrive. FAILED: preparation failed; see `preparation_error`. CANCELLED: you cancelled it.',
  RecipientState:
    'PENDING: waits to be sent to. CLAIMED: is being sent to. ACCEPTED: the provider accepted the message. SENT, DELIVERED, READ: reported by receipts. FAILED: refused, or failed later. UNKNOWN: the provider did not answer; a receipt decides, and the message is not sent again. CANCELLED, SKIPPED: never sent to.',
  MessageState: 'RECEIVED: an inbound message. The other states are those of `RecipientState`.',
  DeliveryState:
    'pending: waits to be sent. sending: the attempt is under way. delivered: the receiver answered 2xx within five seconds. failed: anything else; you can resend it.',
  MessageSource: 'Sender of the message that the status is about; `unknown` if this service did not send it.',
  MessageOrigin:
    'contact: an inbound message. campaign, api (single send), inbox, chatbot, assistant: sent through this service. app: sent in the provider’s app. unknown: sent by another system.',
  ContactSelectionType:
    'all_contacts: every subscribed contact. segmented: the contacts of `segments`. csv_contacts: the rows of a CSV. quick_contacts: the numbers in the request. failed_contacts: the failed recipients of `failed_campaign_id`.',
  PreparationStatus:
    'PREPARING: the recipients are being determined. READY: they are. FAILED: see `preparation_error`.',
  ConversationStatus: 'resolved: answered; closed: ended. A new message of the contact opens a conversation.',
  AssignmentType: 'Kind of assignee; none: the conversation is unassigned.',
  ChatMode: 'manual: people answer. bot: a chatbot answers. assistant: an AI assistant answers.',
  AssignmentSource:
    'manual: a person assigned it in an app. api: a request of this API. chatbot, assistant, auto: an automation.',
  ChannelBlockCause:
    'token: access token or permission. payment: payment or terms of the account. policy: the account is blocked for a violation. limit: spam limit of the number. number: not registered, not approved or deleted. address: the provider does not know the address of the request.',
  ChannelStatus: 'blocked: campaigns of the channel pause, and single sends are refused.',
  LedgerEntryKind:
    'recharge: money was added. charge: messages were accepted. refund: messages failed afterwards. correction: a charge was set right. adjustment: the operator changed the balance.',
  FilterOperator:
    'eq, neq: equal or not. contains, not_contains, starts_with: parts of a text. in, not_in: one of a list. gt, gte, lt, lte: later or earlier, for times. exists, not_exists: the field has a value or none.',
  DiagnosisCheck: 'STATUS is the summary of the others; PACE: other campaigns, throttling and the provider.',
  WebhookStatus:
    'active: receives events. inactive: you paused it. disabled: the service stopped it; see `disabled_reason`.',
  WebhookDisabledReason: 'failing: it only failed for three days, at least ten times.',
  SendType: 'IMMEDIATE: sends once prepared. SCHEDULED: sends at `scheduled_at`.',
  ChosenWebhookStatus: 'active: receives events. inactive: receives none.',
  WebhookHealthState: 'State of a webhook’s receiver, by the last 20 attempts.',
  MessageDirection: 'outbound: to the contact. inbound: from it.',
  NoticeKind: 'What the notice is about; `message` says it in a sentence.',
  EventKey: 'Key of an event; `GET /api/external-webhooks/events` describes each.',
  ChannelQuality: 'LOW: the provider has flagged the number. GOOD: the flag is gone.',
};
