/** What a named schema means, by its name, and a field of it that means something else than its name says elsewhere. */
export const schemaDescriptions: Readonly<Record<string, string>> = {
  CampaignStatus:
    'DRAFT: the audience is being prepared. SCHEDULED: waits for its time. RUNNING: is being sent. PAUSED: waits for you, see pause_reason. COMPLETED: nobody is left to be sent to; receipts still come. FAILED: could not be prepared. CANCELLED: you ended it.',
  PauseReason:
    'INSUFFICIENT_BALANCE: recharge the wallet, then start. BROADCAST_QUOTA: the month’s campaigns are used up. TEMPLATE_UNAVAILABLE: no longer approved. CHANNEL_BLOCKED: the provider refuses the number or its token. RECORD_RESTORED: the database was restored from a backup; for an operator to settle. OPERATOR: paused by hand.',
  WaitingReason:
    'TURN: others of the channel send. CHANNEL_TROUBLE: the provider cannot be reached. CHANNEL_THROTTLE: the provider asked for a rest. MESSAGING_LIMIT: no more different people for now. PREPARATION: the audience is being prepared. QUEUED: the workers are busy. WORKFLOW_STUCK: for an operator to mend.',
  RecipientState:
    'PENDING: waits to be sent to. CLAIMED: on its way to the provider. ACCEPTED: the provider took it. SENT, DELIVERED, READ: by its receipts. FAILED: refused, or failed later. UNKNOWN: the provider did not answer; a receipt settles it, and it is not sent again. CANCELLED, SKIPPED: never sent.',
  SkipReason:
    'INVALID_PHONE: no number of any country. DUPLICATE: the number came before. UNSUBSCRIBED: opted out. CONTACT_DELETED: deleted or erased. MISSING_VARIABLE: a field is empty and has no default. MALFORMED_ROW: a row that cannot be read. BLOCKED_COUNTRY: one that the channel does not write to.',
  DeliveryState:
    'pending: its turn has not come. delivered: answered 2xx within five seconds. failed: everything else; it can be sent again.',
  MessageSource: 'Who sent the message that the status is of; unknown where it is not one of ours.',
  'CsvPreviewRow.message':
    'The message as the person would read it; null without a template, and of a row that is skipped.',
  'CsvPreviewRow.reason': 'Why the row would be skipped; null where it would not.',
  'TemplatePreview.message': 'The message as the person would read it.',
  'PreparationError.code': 'Why the audience could not be prepared.',
  'PreparationError.message': 'The same in words, with how many were skipped for which reason.',
  'CampaignTemplate.id': 'Identifies the template.',
  'Campaign.template': 'The template that it sends.',
  'CampaignDetail.template': 'The template that it sends.',
  'MessagePreview.body': 'The text; null where the template has none.',
  'MessagePreview.footer': 'What stands below the text; null where the template has none.',
  'MessagePreview.buttons': 'The buttons, in order.',
  'MessageText.body': 'The text.',
  'PreviewCard.body': 'The text of the card; null where it has none.',
  'PreviewCard.buttons': 'The buttons of the card, in order.',
  'TemplateVariables.header':
    'The variables of the header by position or name; `image`, `video` or `document` wants `header.link`.',
  'TemplateVariables.body': 'The variables of the body by position or name.',
  'TemplateVariables.buttons': 'The indexes of the buttons that want a value.',
  'SkeletonMapping.body': 'The variables of the body, with a text to be replaced.',
  'PreviewTemplate.contact_id': 'The contact whose fields fill the variables.',
  'LedgerEntry.reason': 'What was written beside it; null without.',
  'TemplateRemark.reason': 'Why, as the provider tells it.',
  'InboundMessage.type': 'The provider’s kind of message, such as `text` or `image`.',
  'PreviewButton.type': 'The provider’s kind of button, such as `URL`.',
  'SendTemplateMessage.recipientPhoneNumber':
    'The number in digits, its calling code first, without `+` and spaces.',
  'SendTemplateMessage.countryCode': 'The calling code with `+`; the number begins with its digits.',
  'TemplateData.type': 'What changed.',
  'TemplateData.template': 'The template after the change.',
  'AuditEntry.at': 'When it was done.',
  'AuditEntry.action': 'What was done, by its object: `campaign.pause`, `wallet.recharge`, …',
  'ContactExport.messages': 'The messages outside campaigns, inbound ones included, oldest first.',
  'LedgerEntry.kind': 'Why the balance moved.',
  'LedgerEntry.campaign_id': 'The campaign it was for; null where it was for none.',
  'CampaignCheck.cost': 'What sending to all of them would cost, as decimal text.',
  'PreviewButton.target': 'Where it leads: the filled URL, or the number; null for others.',
  'EventDescription.description': 'When the event is emitted.',
  'CreateCampaign.failed_reasons': 'For `failed_contacts`: only recipients that failed for these reasons.',
  'ProviderChange.field': 'What the provider notifies of, such as `messages`.',
  'SegmentCondition.field':
    'A contact field, `tag` (by id), `custom.<fieldId>`, `createdAt` or `subscribed`.',
  'HeaderValues.id': 'The provider’s id of an uploaded media file, instead of `link`.',
  'MessageStatus.id': 'The provider’s id of the message.',
  'InboundMessage.id': 'The provider’s id of the message.',
  'FieldProblem.message': 'What is wrong and how to mend it.',
  'IncomingData.message': 'The message as it came.',
  'TemplateData.reason': 'Why the provider decided so; null where it says nothing.',
  'ApiError.status': 'Always `error`.',
  'MessageStatus.status': 'sent, delivered, read or failed.',
  'InboundMessage.timestamp': 'Seconds since 1970, as text.',
  'MessageStatus.timestamp': 'Seconds since 1970, as text.',
  'SegmentCondition.value': 'What the field is compared with; absent for exists and not_exists.',
};
