/** Descriptions of the named schemas of the API document. */
import {
  describeReasons,
  failureReasonTable,
  pauseReasonTable,
  preparationErrorTable,
  skipReasonTable,
  waitingReasonTable,
} from '../../../domain/campaigns/reasons.ts';
import { webhookErrorTable } from '../../../domain/webhooks/delivery.ts';

const createdWindow =
  'Hours in which the campaign may send, within the window of the workspace; default any.';
const wantedTemplate = 'Id of an approved template of the channel’s business account.';
const ownNote = 'Note for your own use, at most 1,000 characters; default none.';
const givenName = 'First name; empty if unknown (default).';
const familyName = 'Last name; empty if unknown (default).';
const address = 'E-mail address; empty if unknown (default).';
const numberOfRecipient =
  'Digits with country calling code; null if the row has no valid number or the person was erased.';
const conditions = 'Conditions on contacts, 1 to 50, at most 64 KiB as JSON; `match` combines them.';

/** Descriptions of enums by schema name: what each value means. */
const enumDescriptions: Readonly<Record<string, string>> = {
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
    'active: receives events. inactive: you paused it; queued deliveries wait until it is active, others are not made. disabled: the service stopped it; see `disabled_reason`.',
  WebhookDisabledReason: 'failing: it only failed for three days, at least ten times.',
  SendType: 'IMMEDIATE: sends once prepared. SCHEDULED: sends at `scheduled_at`.',
  ChosenWebhookStatus: 'active: receives events. inactive: receives none; queued deliveries wait.',
  WebhookHealthState: 'State of a webhook’s receiver, by the last 20 attempts.',
  MessageDirection: 'outbound: to the contact. inbound: from it.',
  NoticeKind: 'What the notice is about; `message` says it in a sentence.',
  EventKey: 'Key of an event; `GET /api/external-webhooks/events` describes each.',
  ChannelQuality: 'LOW: the provider has flagged the number. GOOD: the flag is gone.',
};

/** By schema name; `Schema.field` overrides the description of the field by its name. */
export const schemaDescriptions: Readonly<Record<string, string>> = {
  ...enumDescriptions,
  'CsvPreviewRow.message':
    'Message as the recipient would read it; null without a template and for skipped rows.',
  'CsvPreviewRow.reason': 'Reason why the row would be skipped; null if it would not.',
  'TemplatePreview.message': 'Message as the recipient would read it.',
  'PreparationError.code': 'Reason why the audience could not be prepared.',
  'PreparationError.message': 'Reason as a sentence, with the number of skipped recipients by reason.',
  'MessagePreview.body': 'Text of the message; null if the template has none.',
  'MessagePreview.footer': 'Text below the message; null if the template has none.',
  'MessagePreview.buttons': 'Buttons of the message, in order.',
  'MessageText.body': 'Text of the message.',
  'PreviewCard.body': 'Text of the card; null if it has none.',
  'PreviewCard.buttons': 'Buttons of the card, in order.',
  'TemplateVariables.header':
    'Variables of the header by position or name; `image`, `video` or `document` means that `header.link` is required.',
  'TemplateVariables.body': 'Variables of the body by position or name.',
  'TemplateVariables.buttons': 'Indexes of the buttons that require a value, from 0.',
  'SkeletonMapping.body': 'Variables of the body with placeholder text.',
  'LedgerEntry.reason': 'Note of the operator; null without one.',
  'TemplateRemark.reason': 'Provider’s reason.',
  'TemplateRemark.title': 'Title of the remark.',
  'TemplateRemark.description': 'Text of the remark.',
  'InboundMessage.type': 'Provider’s kind of message, such as `text` or `image`.',
  'InboundMessage.text': 'Text, for messages of type `text`.',
  'PreviewButton.type': 'Provider’s kind of button, such as `URL`.',
  'PreviewButton.text': 'Label of the button.',
  SendTemplateMessage: 'Addresses a phone number, or a contact by the provider’s user id.',
  'TemplateData.type': 'What changed about the template.',
  'TemplateData.template': 'Template after the change.',
  'AuditEntry.at': 'Time of the action.',
  'AuditEntry.action': 'Action by its object: `campaign.pause`, `wallet.recharge` and so on.',
  'AuditEntry.object_name':
    'Name of the campaign or webhook, or number of the channel; the name of a deleted segment, tag or webhook. Null for others.',
  'AuditEntry.details':
    'What changed, as texts by name, such as `amount` of a recharge or `after` of a setting; null if the action says all.',
  'ContactExport.formerNumbers':
    'Up to 20 numbers that the contact had before, in digits; others may have them now.',
  'ContactExport.consents': 'Opt-outs and opt-ins, oldest first.',
  'ContactExport.messages': 'Messages outside campaigns, inbound ones included, oldest first.',
  'LedgerEntry.kind': 'Reason why the balance changed.',
  'LedgerEntry.campaign_id': 'Id of the campaign the entry belongs to; null without one.',
  'CampaignCheck.cost': 'Cost of sending to all of them, as a decimal string.',
  'PreviewButton.target': 'Filled-in URL or phone number the button opens; null for other buttons.',
  WebhookEvent: 'Body of a request to a webhook; `eventKey` says which event it is.',
  'EventDescription.description': 'When the event occurs.',
  'EventDescription.eventKey': 'Key of the event.',
  'CreateCampaign.failed_reasons':
    'Only recipients that failed for these reasons, for `failed_contacts`; default all but those that would fail again (`NO_CHANCE`).',
  'CheckCampaign.failed_reasons':
    'Only recipients that failed for these reasons, for `failed_contacts`; default all reasons but those that would be met again (`NO_CHANCE`).',
  'CreateCampaign.sending_window': createdWindow,
  'CheckCampaign.sending_window': createdWindow,
  'ProviderChange.field': 'Subject of the notification, such as `messages`.',
  'ProviderChange.value': 'Provider’s data about the change.',
  'SegmentCondition.field': 'Field of the contact, `custom.<fieldId>`, or `tag`, whose value is a tag’s id.',
  'HeaderValues.id': 'Provider’s id of an uploaded media file; alternative to `link`.',
  'HeaderValues.name': 'Name of a location header.',
  'MessageStatus.id': 'Provider’s id of the message.',
  'InboundMessage.id': 'Provider’s id of the inbound message.',
  'FieldProblem.message': 'What is wrong with the field and how to correct it.',
  'IncomingData.message': 'Message as the provider delivered it.',
  'TemplateData.reason': 'Provider’s reason for the decision; null without one.',
  'ApiError.error_code': 'Machine-readable cause; `docs/errors.md` says what to do.',
  'ApiError.message': 'Error as a sentence, with what to correct.',
  'ApiError.timestamp': 'Time of the response (ISO 8601, UTC).',
  'MessageStatus.status': '`sent`, `delivered`, `read` or `failed`.',
  'InboundMessage.timestamp': 'Time of the message in seconds since 1970 (UTC), as a string.',
  'MessageStatus.timestamp': 'Time of the status in seconds since 1970 (UTC), as a string.',
  'SegmentCondition.value':
    'Text, boolean (`subscribed`), ISO 8601 time, or an array for `in` and `not_in`. Null with `eq` and `neq` means an empty field; omit it for `exists` and `not_exists`.',
  'ResentDeliveries.count': 'Number of deliveries that were created.',
  'SegmentCount.subscribed': 'Number of matching contacts that campaigns may send to.',
  'Channel.phone_number_id': 'Provider’s id of the channel’s phone number.',
  'LedgerEntry.message_id': 'Id of the message the entry pays for; null without one.',
  'CreatedCampaign.timestamp': 'Time of this response (ISO 8601, UTC).',
  'IncomingData.contactId': 'Id of the sender’s contact; null when unknown.',
  'IncomingData.conversationId': 'Id of the conversation; null when unknown.',
  'MessageStatusData.contactId': 'Id of the recipient’s contact; null when unknown.',
  'Recipient.updated_at': 'Time of the last change of the recipient’s state.',
  'RecipientStatusTime.status': 'Status the recipient reached.',
  'RecipientStatusTime.at': 'Time the status was first reported; null if it is not recorded.',
  RecipientStatusTime: 'Time of one status of a recipient.',
  'ChannelProviderError.at': 'Time of the refusal.',
  'ChannelProviderError.code': 'Provider’s error code of the refusal.',
  'TimelinePart.at': 'Beginning of the interval.',
  'OverviewPoint.at': 'Beginning of the hour or day (UTC).',
  'CampaignCounters.accepted': 'Recipients whose message the provider accepted; no receipt has arrived.',
  'CampaignCounters.delivered': 'Recipients whose device has the message.',
  'CampaignCounters.read': 'Recipients who read the message.',
  'CampaignCounters.failed': 'Recipients whose message was refused or reported as failed.',
  'AssigneeInput.id': 'Id of the user, team or bot in your system.',
  'ActorInput.id': 'Id of the user in your system; null when unknown.',
  'Actor.id': 'Id of the acting user in your system; null when unknown.',
  'GetFrequencyCapEnvelope.data': 'Frequency cap of the workspace; null if there is no limit.',
  'PutFrequencyCapEnvelope.data': 'Frequency cap after the change; null if it was removed.',
  'GetNoticeTargetEnvelope.data': 'Address to which notices are posted; null if they are not posted.',
  'GetSendingWindowEnvelope.data': 'Sending window of the workspace; null if none is set.',
  'MessagePrice.category': 'Category of the messages the price is for.',
  'Acknowledgement.message': 'Confirmation as a sentence.',
  'UpdateCampaign.scheduled_at':
    'New time of sending, in the future, with a time zone; for SCHEDULED campaigns.',
  'UpdateCampaign.sending_window':
    'Hours in which the campaign may send, within the window of the workspace; null removes them.',
  'Contact.firstName': givenName,
  'CreateContact.firstName': givenName,
  'UpdateContact.firstName': givenName,
  'Contact.lastName': familyName,
  'CreateContact.lastName': familyName,
  'UpdateContact.lastName': familyName,
  'Contact.email': address,
  'CreateContact.email': address,
  'UpdateContact.email': address,
  'Contact.customFields': 'Custom fields of the contact.',
  'CreateContact.customFields': 'Custom fields, each `fieldId` once; default none.',
  'UpdateContact.customFields': 'Custom fields, each `fieldId` once; they replace all stored ones.',
  'Contact.tagsId': 'Ids of the contact’s tags.',
  'CreateContact.tagsId': 'Ids of tags; default none.',
  'UpdateContact.tagsId': 'Ids of tags; they replace all stored ones.',
  'Contact.source': 'Where the contact came from, such as `api`, `csv_import` or `incoming`.',
  'CreateContact.subscribed':
    'False records an opt-out from everything; see `consent`. Default: true, unless the person opted out before.',
  'CreateContact.consent': 'What the contact agrees to receive. Takes precedence over `subscribed`.',
  'UpdateContact.subscribed':
    'False records an opt-out from everything, true an opt-in; the present value changes nothing. See `consent`.',
  'UpdateContact.consent': 'What the contact agrees to receive. Takes precedence over `subscribed`.',
  'CreateSegment.conditions': conditions,
  'UpdateSegment.conditions': conditions,
  'CountSegment.conditions': conditions,
  'CreateSegment.match': '`all` (default): every condition must hold; `any`: one is enough.',
  'CountSegment.match': '`all` (default): a contact must meet every condition; `any`: one is enough.',
  'AssignConversation.assignmentType': 'Kind of the new assignee; `none` removes the present one.',
  'AssignConversation.assignedTo': 'New assignee; null or omitted if `assignmentType` is `none`.',
  'AssignConversation.chatMode':
    'Who answers from now on; default `manual` for a user or team, `bot` for a bot, unchanged for `none`.',
  'AssignConversation.source': 'What made the assignment; default `api`.',
  'ConversationAssignedData.source': 'What made the assignment.',
  'ChangeConversationStatus.status': 'New status of the conversation.',
  'CsvFile.csv_file_key': 'Key of the file, for `csv_file_key` of a campaign.',
  'CsvFile.csv_file_url':
    'Address of the file, for `csv_file_url` of a campaign; a download needs an API key.',
  'CreateWebhook.status': 'Status of the new webhook; default `active`.',
  'CreateWebhook.secret':
    'Secret that signs deliveries; null or omitted for none. `whsec_` and the Base64 of 24 to 64 random bytes suits Standard Webhooks libraries; of any other text the UTF-8 bytes are the key.',
  'UpdateWebhook.secret': 'New secret, in the form of the creation; null removes both secrets.',
  'WebhookHealth.webhookId': 'Id of the webhook.',
  'CsvSkippedRow.reason': 'Reason why the row would be skipped.',
  'CsvPreviewRow.reason_detail':
    'Detail of the reason: the number as given, or the empty variable; null without one.',
  'CsvSkippedRow.reason_detail': 'Detail: the number as given, or the empty variable; null without one.',
  'CsvMapping.name_column': 'Column of the name, counted from 0; null or omitted if there is none.',
  'CsvMapping.email_column':
    'Column of the e-mail address, counted from 0; null or omitted if there is none.',
  'ContactImportMapping.name_column':
    'Column of the name, counted from 0, split at the first space; null or omitted if there is none.',
  'ContactImportMapping.email_column':
    'Column of the e-mail address, counted from 0; null or omitted if there is none.',
  'PayloadSkeleton.countryCode': 'Placeholder: country calling code with `+`.',
  'PayloadSkeleton.recipientPhoneNumber': 'Placeholder: digits with country calling code, without `+`.',
  'SentMessage.status': '`accepted`: the provider took the message; events report what follows.',
  'SentMessage.recipientPhoneNumber':
    'Digits with country calling code; null for a person addressed by user id.',
  'RechargeWallet.amount':
    'Amount to add as a decimal string, more than 0, at most six decimal places, such as `50` or `0.25`.',
  'Wallet.next_card': 'Price card that follows; null if none is loaded.',
  'CardInForce.effective_on':
    'First day on which the card applies, from 00:00 in the time zone of the business account.',
  'CardInForce.source': 'Name of the loaded file; `example` for the prices that came with the service.',
  'PriceCard.name': '`example` for the prices that came with the service; null for loaded ones.',
  'PriceCard.effective_on':
    'First day on which the card applies, from 00:00 in the time zone of the business account.',
  'PriceCard.source': 'Name of the loaded file.',
  'PriceCard.sha256': 'SHA-256 of the loaded files, in hex.',
  'PriceCard.loaded_at': 'Time at which the card was loaded.',
  'PriceCard.loaded_by': 'Id of the key that loaded it; `admin` for the command.',
  'PriceCardDetail.name': '`example` for the prices that came with the service; null for loaded ones.',
  'PriceCardDetail.effective_on':
    'First day on which the card applies, from 00:00 in the time zone of the business account.',
  'PriceCardDetail.source': 'Name of the loaded file.',
  'PriceCardDetail.sha256': 'SHA-256 of the loaded files, in hex.',
  'PriceCardDetail.loaded_at': 'Time at which the card was loaded.',
  'PriceCardDetail.loaded_by': 'Id of the key that loaded it; `admin` for the command.',
  'PriceCardDetail.prices':
    'Prices by market and category; a category that a market lacks has the price of `Other`.',
  'PriceCardDetail.markets': 'Market whose prices each country pays.',
  'CardPrice.market': 'Market as the provider’s file spells it.',
  'CardPrice.category': 'Category as on the card, such as MARKETING or AUTHENTICATION_INTERNATIONAL.',
  'CardPrice.price': 'Price of one message as a decimal string.',
  'CardPrice.tier_from': 'Messages of a month after which the price applies; 0 for the list price.',
  'CardPrice.tier_to': 'Messages of a month up to which the price applies; null without end.',
  'CardMarket.country': 'ISO 3166 alpha-2; null for every other country.',
  'CardMarket.market': 'Market whose prices the country pays.',
  'LoadedPrices.card': 'Loaded card; null after a dry run.',
  'LoadedPrices.loaded': 'False if nothing was loaded: a dry run, or the same file again.',
  'LoadedPrices.differences': 'What rises, falls, comes or goes, compared with the card before.',
  'LoadedPrices.warnings': 'What is unusual about the card, although it can be loaded.',
  'PriceDifference.market': 'Market as the provider’s file spells it.',
  'PriceDifference.category': 'Category as on the card.',
  'PriceDifference.before': 'Price on the card before; null if it had none.',
  'PriceDifference.after': 'Price on this card; null if it has none.',
  'LedgerEntry.amount': 'Change of the balance as a decimal string; negative for a charge.',
  'TestCampaign.phone_number': 'Phone number in international form, such as `+4915112345678`.',
  'TestCampaign.variables':
    'Values in the order header, body, buttons; default those of the first prepared recipient.',
  'VariableDefaults.header': 'Texts of the header by position or name of the variable.',
  'VariableDefaults.body': 'Texts of the body by position or name of the variable.',
  'VariableDefaults.carousel': 'Default values of the cards, in the template’s order.',
  'VariableMapping.carousel': 'Values of the cards, in the template’s order.',
  'VariableMapping.header': 'Values of the header; which ones depends on its format.',
  'VariableMapping.buttons': 'Values of the buttons.',
  'CarouselCard.header': 'Values of the card’s header.',
  'CarouselCard.buttons': 'Values of the card’s buttons.',
  ButtonValue:
    'Main value of the button as text, or an object with the fields of its kind; null leaves the button out.',
  'CampaignCheck.currency': 'Currency of `cost` and `available` as ISO 4217.',
  'Actor.name': 'Name of the user; null if unknown.',
  'ActorInput.name': 'Name of the user; null or omitted if unknown.',
  'ActorInput.email': 'E-mail address of the user; null or omitted if unknown.',
  'Assignee.name': 'Name of the assignee; null if unknown.',
  'AssigneeInput.name': 'Name of the assignee; null or omitted if unknown.',
  'CsvPreviewRow.phone_number':
    'Phone number of the row: digits with country calling code; null if it is not valid.',
  'CsvSkippedRow.phone_number': 'Digits with country calling code; null if the number is not valid.',
  'Recipient.phone_number': numberOfRecipient,
  'RecipientDetail.phone_number': numberOfRecipient,
  'PreviewTemplate.contact_id': 'Id of the contact whose fields fill the variables; default none.',
  'CampaignDetail.variable_mapping':
    'Contact field or text for each variable of the template; null if none was given.',
  'UpdateCampaign.description': 'New note, at most 1,000 characters; null removes it.',
  'CreateCampaign.description': ownNote,
  'CheckCampaign.description': ownNote,
  'Assignee.id': 'Id of the assignee in your system; null if unknown.',
  'CreateContact.chatName': 'Name to show in the chat; empty if unknown (default).',
  'CreateTag.text_color': 'Colour of the tag’s text as `#rrggbb`; default `#1f2937`.',
  'CreateTag.background_color': 'Colour of the tag’s background as `#rrggbb`; default `#e5e7eb`.',
  'CreateCampaign.template_id': wantedTemplate,
  'CheckCampaign.template_id': wantedTemplate,
  'Channel.status': 'Whether the channel can send.',
  'PreviewCampaignCsv.template_id': 'Id of a template whose messages to render for the first rows.',
};
