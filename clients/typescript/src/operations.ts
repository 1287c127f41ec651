/** Generated from the OpenAPI document by `npm run openapi`. */
import type { CallOptions, Client } from './client.ts';
import type { Acknowledgement, AssignConversation, AuditEntryPage, CampaignCheckResponse, CampaignDetailMessageResponse, CampaignDetailResponse, CampaignPage, CampaignStatus, ChangeConversationStatus, ChannelResponse, CheckCampaign, ComparisonLinePage, ConsentFormat, ConsentMessageResponse, ConsentPage, ConsentPolicyMessageResponse, ConsentPolicyResponse, ContactExportResponse, ContactFieldMessageResponse, ContactImportMessageResponse, ContactImportPage, ContactImportReason, ContactImportResponse, ContactImportResult, ContactImportRowPage, ContactMessageResponse, ContactPage, ContactResponse, ConversationMessageResponse, ConversationPage, ConversationResponse, ConversationStatus, CountSegment, CreateCampaign, CreateContact, CreateContactImport, CreateSegment, CreateTag, CreateWebhook, CreatedCampaign, CsvPreviewResponse, DefaultCountryMessageResponse, DefaultCountryResponse, DeliveryDetailResponse, DeliveryMessageResponse, DeliveryPage, DeliveryState, EventFeedMessageResponse, EventFeedResponse, EventKey, EventPage, FailureBrakeMessageResponse, FailureBrakeResponse, FeedKey, GetCampaignDiagnosisEnvelope, GetCampaignTimelineEnvelope, GetFrequencyCapEnvelope, GetHealthEnvelope, GetNoticeTargetEnvelope, GetReadinessEnvelope, GetSendingWindowEnvelope, HistoryItemPage, LedgerEntryPage, ListChannelsEnvelope, ListContactFieldsEnvelope, ListPriceCardsEnvelope, ListWebhookEventsEnvelope, LoadedPricesResponse, LoggedRequestPage, MediaResponse, MessageExplanationResponse, MessagePage, MessageResponse, MessageState, NoticeKind, NoticePage, NoticeTargetMessageResponse, OverviewInterval, OverviewResponse, PayloadSkeletonResponse, PreviewCampaignCsv, PreviewTemplate, PriceCardDetailResponse, PutConsentPolicy, PutDefaultCountry, PutEventFeed, PutFailureBrake, PutFrequencyCap, PutFrequencyCapEnvelope, PutLowBalance, PutNoticeTarget, PutSendingWindow, ReadNotices, RechargeWallet, RecipientDetailResponse, RecipientFormat, RecipientPage, RecipientReason, RecipientState, RecordContactConsent, RegisteredConsentPage, ResendFailedDeliveries, ResendMessageResponse, ResendMissed, ResendPage, ResendResponse, ResentDeliveriesMessageResponse, SegmentCountResponse, SegmentMessageResponse, SegmentPage, SegmentResponse, SendTemplateMessage, SendingWindowMessageResponse, SentMessageMessageResponse, StartCampaign, StatementFormat, TagMessageResponse, TagPage, TagResponse, TemplatePage, TemplatePreviewResponse, TemplateResponse, TemplateSyncSummaryMessageResponse, TemplateVariablesResponse, TestCampaign, TestWebhook, TimelineInterval, UpdateCampaign, UpdateContact, UpdateContactField, UpdateSegment, UpdateTag, UpdateWebhook, WalletMessageResponse, WalletResponse, WalletStatementResponse, WebhookErrorCode, WebhookHealthResponse, WebhookMessageResponse, WebhookPage, WebhookResponse } from './schemas.ts';

/** Create a campaign */
export const createCampaign = (client: Client, body: CreateCampaign, options: CallOptions = {}): Promise<CreatedCampaign> =>
  client.send({ method: 'POST', path: `/api/campaigns/auto-trigger`, body, idempotent: true, ...options });

/** Check a campaign without creating it */
export const checkCampaign = (client: Client, body: CheckCampaign, query: {
    /** Longest time for which the audience is counted; a larger one gives an estimate. */
    readonly max_seconds?: number;
  } = {}, options: CallOptions = {}): Promise<CampaignCheckResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/check`, body, query, ...options });

/** Delete an uploaded CSV */
export const deleteCampaignCsv = (client: Client, key: string, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/campaigns/csv-files/${encodeURIComponent(key)}`, ...options });

/** Preview how a campaign would read an uploaded CSV */
export const previewCampaignCsv = (client: Client, key: string, body: PreviewCampaignCsv, options: CallOptions = {}): Promise<CsvPreviewResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/csv-files/${encodeURIComponent(key)}/preview`, body, ...options });

/** List the campaigns of the workspace */
export const listCampaigns = (client: Client, query: {
    /** Page of the list, from 1 (default); `page` × `limit` is at most 100,000. */
    readonly page?: number;
    /** Length of a page, 1 to 100; default 10. */
    readonly limit?: number;
    /** Only those with this status. Repeat it for several. */
    readonly status?: readonly (CampaignStatus)[];
    /** Only those whose name has all of these words; the last one may be incomplete. */
    readonly search?: string;
    /** Only those that use the template with this id. */
    readonly template_id?: string;
    /** Only those created at this time or later. */
    readonly from?: string;
    /** Only those created before this time. */
    readonly to?: string;
  } = {}, options: CallOptions = {}): Promise<CampaignPage> =>
  client.send({ method: 'GET', path: `/api/campaigns`, query, ...options });

/** Read the totals of all campaigns over a period */
export const getOverview = (client: Client, query: {
    /** Start of the period; default 7 days before `to`. */
    readonly from?: string;
    /** End of the period, exclusive; default now. */
    readonly to?: string;
    /** Length of an interval; default `day`. */
    readonly interval?: OverviewInterval;
  } = {}, options: CallOptions = {}): Promise<OverviewResponse> =>
  client.send({ method: 'GET', path: `/api/overview`, query, ...options });

/** Read a campaign with its counters */
export const getCampaign = (client: Client, id: string, options: CallOptions = {}): Promise<CampaignDetailResponse> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}`, ...options });

/** Change a campaign */
export const updateCampaign = (client: Client, id: string, body: UpdateCampaign, options: CallOptions = {}): Promise<CampaignDetailMessageResponse> =>
  client.send({ method: 'PATCH', path: `/api/campaigns/${encodeURIComponent(id)}`, body, ...options });

/** Read the timeline of a campaign */
export const getCampaignTimeline = (client: Client, id: string, query: {
    /** Length of an interval; default `minute`. */
    readonly interval?: TimelineInterval;
  } = {}, options: CallOptions = {}): Promise<GetCampaignTimelineEnvelope> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}/timeline`, query, ...options });

/** Diagnose why a campaign sends or does not */
export const getCampaignDiagnosis = (client: Client, id: string, options: CallOptions = {}): Promise<GetCampaignDiagnosisEnvelope> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}/diagnosis`, ...options });

/** List the recipients of a campaign, or export them as CSV */
export const listCampaignRecipients = (client: Client, id: string, query: {
    /** Only those in these states. Repeat it for several. */
    readonly state?: readonly (RecipientState)[];
    /** Only those with these reasons. Repeat it for several. */
    readonly reason?: readonly (RecipientReason)[];
    /** Phone number in any spelling, in international or national form. */
    readonly phone_number?: string;
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
    /** `csv` returns a CSV file, as `Accept: text/csv` does; useful for links. */
    readonly format?: RecipientFormat;
  } = {}, options: CallOptions = {}): Promise<RecipientPage> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}/recipients`, query, ...options });

/** Read a recipient with its message and history */
export const getCampaignRecipient = (client: Client, id: string, recipientId: string, options: CallOptions = {}): Promise<RecipientDetailResponse> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}/recipients/${encodeURIComponent(recipientId)}`, ...options });

/** Resume a paused campaign */
export const startCampaign = (client: Client, id: string, body: StartCampaign = {}, options: CallOptions = {}): Promise<CampaignDetailResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/${encodeURIComponent(id)}/start`, body, ...options });

/** Pause a campaign */
export const pauseCampaign = (client: Client, id: string, options: CallOptions = {}): Promise<CampaignDetailResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/${encodeURIComponent(id)}/pause`, ...options });

/** Cancel a campaign */
export const cancelCampaign = (client: Client, id: string, options: CallOptions = {}): Promise<CampaignDetailResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/${encodeURIComponent(id)}/cancel`, ...options });

/** Send a test message of a campaign to your own number */
export const testCampaign = (client: Client, id: string, body: TestCampaign, options: CallOptions = {}): Promise<SentMessageMessageResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/${encodeURIComponent(id)}/test`, body, ...options });

/** List the templates of the workspace */
export const listTemplates = (client: Client, query: {
    /** Page of the list, from 1 (default); `page` × `limit` is at most 100,000. */
    readonly page?: number;
    /** Length of a page, 1 to 100; default 10. */
    readonly limit?: number;
    /** Only those whose name has all of these words; the last one may be incomplete. */
    readonly search?: string;
    /** Only those with this status. Repeat it for several. */
    readonly status?: readonly (string)[];
    /** Only templates of this category, such as MARKETING or UTILITY. */
    readonly category?: string;
    /** Only templates in this language, such as `en_US`. */
    readonly language?: string;
    /** Only templates of this business account; default that of a channel key’s own number. */
    readonly business_account_id?: string;
  } = {}, options: CallOptions = {}): Promise<TemplatePage> =>
  client.send({ method: 'GET', path: `/api/templates`, query, ...options });

/** Synchronise the templates with the provider */
export const syncTemplates = (client: Client, options: CallOptions = {}): Promise<TemplateSyncSummaryMessageResponse> =>
  client.send({ method: 'POST', path: `/api/templates/sync`, ...options });

/** Lift the provider’s pause of a template */
export const unpauseTemplate = (client: Client, templateId: string, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'POST', path: `/api/templates/${encodeURIComponent(templateId)}/unpause`, ...options });

/** Read a template */
export const getTemplate = (client: Client, templateId: string, options: CallOptions = {}): Promise<TemplateResponse> =>
  client.send({ method: 'GET', path: `/api/templates/${encodeURIComponent(templateId)}`, ...options });

/** Preview a template’s message as the recipient will see it */
export const previewTemplate = (client: Client, templateId: string, body: PreviewTemplate, options: CallOptions = {}): Promise<TemplatePreviewResponse> =>
  client.send({ method: 'POST', path: `/api/templates/${encodeURIComponent(templateId)}/preview`, body, ...options });

/** List the variables a template requires */
export const getTemplateVariables = (client: Client, templateId: string, options: CallOptions = {}): Promise<TemplateVariablesResponse> =>
  client.send({ method: 'GET', path: `/api/templates/${encodeURIComponent(templateId)}/variables`, ...options });

/** Build the body of a single send with placeholder values */
export const getPayloadSkeleton = (client: Client, templateId: string, options: CallOptions = {}): Promise<PayloadSkeletonResponse> =>
  client.send({ method: 'GET', path: `/api/templates/${encodeURIComponent(templateId)}/payload-skeleton`, ...options });

/** Send a template message to one recipient */
export const sendTemplateMessage = (client: Client, body: SendTemplateMessage, options: CallOptions = {}): Promise<SentMessageMessageResponse> =>
  client.send({ method: 'POST', path: `/api/templates/external/message/send`, body, idempotent: true, ...options });

/** List single sends and replies */
export const listMessages = (client: Client, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
    /** Only messages to or from this phone number, in any spelling. */
    readonly phone_number?: string;
    /** Only messages to or from the contact with this id. */
    readonly contact_id?: string;
    /** Only replies to the campaign with this id, and its test messages. */
    readonly campaign_id?: string;
    /** Only those in these states. Repeat it for several. */
    readonly state?: readonly (MessageState)[];
    /** Only those created at this time or later. */
    readonly from?: string;
    /** Only those created before this time. */
    readonly to?: string;
  } = {}, options: CallOptions = {}): Promise<MessagePage> =>
  client.send({ method: 'GET', path: `/api/messages`, query, ...options });

/** Read a message */
export const getMessage = (client: Client, id: string, options: CallOptions = {}): Promise<MessageResponse> =>
  client.send({ method: 'GET', path: `/api/messages/${encodeURIComponent(id)}`, ...options });

/** Explain why a person was written to */
export const explainMessage = (client: Client, id: string, options: CallOptions = {}): Promise<MessageExplanationResponse> =>
  client.send({ method: 'GET', path: `/api/messages/${encodeURIComponent(id)}/explanation`, ...options });

/** Upload a media file for a header */
export const uploadMedia = (client: Client, options: CallOptions = {}): Promise<MediaResponse> =>
  client.send({ method: 'POST', path: `/api/media`, ...options });

/** List the tags of the workspace */
export const listTags = (client: Client, query: {
    /** Page of the list, from 1 (default); `page` × `limit` is at most 100,000. */
    readonly page?: number;
    /** Length of a page, 1 to 100; default 10. */
    readonly limit?: number;
    /** Only those whose name has all of these words; the last one may be incomplete. */
    readonly search?: string;
    /** Only tags created by the user with this id. */
    readonly createdBy?: string;
  } = {}, options: CallOptions = {}): Promise<TagPage> =>
  client.send({ method: 'GET', path: `/api/tags`, query, ...options });

/** Create a tag */
export const createTag = (client: Client, body: CreateTag, options: CallOptions = {}): Promise<TagMessageResponse> =>
  client.send({ method: 'POST', path: `/api/tags`, body, idempotent: true, ...options });

/** Read a tag */
export const getTag = (client: Client, id: string, options: CallOptions = {}): Promise<TagResponse> =>
  client.send({ method: 'GET', path: `/api/tags/${encodeURIComponent(id)}`, ...options });

/** Change a tag */
export const updateTag = (client: Client, id: string, body: UpdateTag, options: CallOptions = {}): Promise<TagMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/tags/${encodeURIComponent(id)}`, body, ...options });

/** Delete a tag */
export const deleteTag = (client: Client, id: string, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/tags/${encodeURIComponent(id)}`, ...options });

/** List or search the contacts of the workspace */
export const listContacts = (client: Client, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
    /** Only contacts whose number, names or e-mail address begin with these words. */
    readonly search?: string;
    /** Only contacts that have the tag with this id. */
    readonly tag?: string;
    /** Only contacts that match the segment with this id. */
    readonly segment?: string;
    /** Only contacts that are subscribed (`true`) or that opted out (`false`). */
    readonly subscribed?: "true" | "false";
  } = {}, options: CallOptions = {}): Promise<ContactPage> =>
  client.send({ method: 'GET', path: `/api/contacts`, query, ...options });

/** Create a contact */
export const createContact = (client: Client, body: CreateContact, options: CallOptions = {}): Promise<ContactMessageResponse> =>
  client.send({ method: 'POST', path: `/api/contacts`, body, ...options });

/** Read a contact */
export const getContact = (client: Client, id: string, options: CallOptions = {}): Promise<ContactResponse> =>
  client.send({ method: 'GET', path: `/api/contacts/${encodeURIComponent(id)}`, ...options });

/** Change a contact and its tags */
export const updateContact = (client: Client, id: string, body: UpdateContact, options: CallOptions = {}): Promise<ContactMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/contacts/${encodeURIComponent(id)}`, body, ...options });

/** Delete a contact */
export const deleteContact = (client: Client, id: string, query: {
    /** `true` also erases the person’s data, which cannot be undone; default `false`. */
    readonly erase?: "true" | "false";
  } = {}, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/contacts/${encodeURIComponent(id)}`, query, ...options });

/** Export all data of a person */
export const exportContact = (client: Client, id: string, options: CallOptions = {}): Promise<ContactExportResponse> =>
  client.send({ method: 'GET', path: `/api/contacts/${encodeURIComponent(id)}/export`, ...options });

/** List the opt-outs and opt-ins of a contact */
export const listContactConsents = (client: Client, id: string, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<ConsentPage> =>
  client.send({ method: 'GET', path: `/api/contacts/${encodeURIComponent(id)}/consents`, query, ...options });

/** Record an opt-in or opt-out of a contact with its evidence */
export const recordContactConsent = (client: Client, id: string, body: RecordContactConsent, options: CallOptions = {}): Promise<ConsentMessageResponse> =>
  client.send({ method: 'POST', path: `/api/contacts/${encodeURIComponent(id)}/consents`, body, ...options });

/** List the register of opt-ins and opt-outs */
export const listConsents = (client: Client, query: {
    /** Phone number in international or national form. */
    readonly phone_number?: string;
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
    /** `csv` returns a CSV file, as `Accept: text/csv` does; useful for links. */
    readonly format?: ConsentFormat;
  } = {}, options: CallOptions = {}): Promise<RegisteredConsentPage> =>
  client.send({ method: 'GET', path: `/api/consents`, query, ...options });

/** List the messages sent to a contact and received from it */
export const listContactHistory = (client: Client, id: string, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<HistoryItemPage> =>
  client.send({ method: 'GET', path: `/api/contacts/${encodeURIComponent(id)}/history`, query, ...options });

/** List the custom fields of the contacts, with their types */
export const listContactFields = (client: Client, options: CallOptions = {}): Promise<ListContactFieldsEnvelope> =>
  client.send({ method: 'GET', path: `/api/contact-fields`, ...options });

/** Change the type of a custom field */
export const updateContactField = (client: Client, id: string, body: UpdateContactField, options: CallOptions = {}): Promise<ContactFieldMessageResponse> =>
  client.send({ method: 'PATCH', path: `/api/contact-fields/${encodeURIComponent(id)}`, body, ...options });

/** List the imports of contacts */
export const listContactImports = (client: Client, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 100; default 10. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<ContactImportPage> =>
  client.send({ method: 'GET', path: `/api/contacts/imports`, query, ...options });

/** Import contacts from a CSV */
export const createContactImport = (client: Client, body: CreateContactImport, options: CallOptions = {}): Promise<ContactImportMessageResponse> =>
  client.send({ method: 'POST', path: `/api/contacts/imports`, body, ...options });

/** Read the progress of an import of contacts */
export const getContactImport = (client: Client, id: string, options: CallOptions = {}): Promise<ContactImportResponse> =>
  client.send({ method: 'GET', path: `/api/contacts/imports/${encodeURIComponent(id)}`, ...options });

/** List the skipped and changed rows of an import */
export const listContactImportRows = (client: Client, id: string, query: {
    /** Only rows with these results. Repeat it for several. */
    readonly result?: readonly (ContactImportResult)[];
    /** Only those with these reasons. Repeat it for several. */
    readonly reason?: readonly (ContactImportReason)[];
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
    /** `csv` returns a CSV file, as `Accept: text/csv` does; useful for links. */
    readonly format?: ConsentFormat;
  } = {}, options: CallOptions = {}): Promise<ContactImportRowPage> =>
  client.send({ method: 'GET', path: `/api/contacts/imports/${encodeURIComponent(id)}/rows`, query, ...options });

/** Cancel an import of contacts */
export const cancelContactImport = (client: Client, id: string, options: CallOptions = {}): Promise<ContactImportMessageResponse> =>
  client.send({ method: 'POST', path: `/api/contacts/imports/${encodeURIComponent(id)}/cancel`, ...options });

/** List the segments of the workspace */
export const listSegments = (client: Client, query: {
    /** Page of the list, from 1 (default); `page` × `limit` is at most 100,000. */
    readonly page?: number;
    /** Length of a page, 1 to 100; default 10. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<SegmentPage> =>
  client.send({ method: 'GET', path: `/api/segments`, query, ...options });

/** Create a segment */
export const createSegment = (client: Client, body: CreateSegment, options: CallOptions = {}): Promise<SegmentMessageResponse> =>
  client.send({ method: 'POST', path: `/api/segments`, body, idempotent: true, ...options });

/** Count the contacts that match conditions */
export const countSegment = (client: Client, body: CountSegment, options: CallOptions = {}): Promise<SegmentCountResponse> =>
  client.send({ method: 'POST', path: `/api/segments/count`, body, ...options });

/** Read a segment */
export const getSegment = (client: Client, id: string, options: CallOptions = {}): Promise<SegmentResponse> =>
  client.send({ method: 'GET', path: `/api/segments/${encodeURIComponent(id)}`, ...options });

/** Change a segment */
export const updateSegment = (client: Client, id: string, body: UpdateSegment, options: CallOptions = {}): Promise<SegmentMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/segments/${encodeURIComponent(id)}`, body, ...options });

/** Delete a segment */
export const deleteSegment = (client: Client, id: string, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/segments/${encodeURIComponent(id)}`, ...options });

/** List the conversations of the workspace */
export const listConversations = (client: Client, query: {
    /** Page of the list, from 1 (default); `page` × `limit` is at most 100,000. */
    readonly page?: number;
    /** Length of a page, 1 to 100; default 10. */
    readonly limit?: number;
    /** Only those with this status. */
    readonly status?: ConversationStatus;
    /** Only those assigned to the user, team or bot with this id. */
    readonly assignedTo?: string;
    /** Only those of the contact with this id. */
    readonly contactId?: string;
    /** Only conversations with contacts that `GET /api/contacts?search=` finds, of the first 1,000 contacts found. */
    readonly search?: string;
    /** Only conversations whose contact wrote after the campaign with this id reached it. */
    readonly campaignId?: string;
    /** Time to sort by, latest first; default `createdAt`. */
    readonly sort?: "createdAt" | "lastMessageAt";
  } = {}, options: CallOptions = {}): Promise<ConversationPage> =>
  client.send({ method: 'GET', path: `/api/conversations`, query, ...options });

/** Read a conversation */
export const getConversation = (client: Client, id: string, options: CallOptions = {}): Promise<ConversationResponse> =>
  client.send({ method: 'GET', path: `/api/conversations/${encodeURIComponent(id)}`, ...options });

/** List the messages of a conversation */
export const listConversationMessages = (client: Client, id: string, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<HistoryItemPage> =>
  client.send({ method: 'GET', path: `/api/conversations/${encodeURIComponent(id)}/messages`, query, ...options });

/** Assign a conversation */
export const assignConversation = (client: Client, id: string, body: AssignConversation, options: CallOptions = {}): Promise<ConversationMessageResponse> =>
  client.send({ method: 'POST', path: `/api/conversations/${encodeURIComponent(id)}/assign`, body, ...options });

/** Open, resolve or close a conversation */
export const changeConversationStatus = (client: Client, id: string, body: ChangeConversationStatus, options: CallOptions = {}): Promise<ConversationMessageResponse> =>
  client.send({ method: 'PATCH', path: `/api/conversations/${encodeURIComponent(id)}/status`, body, ...options });

/** List the channels of the workspace */
export const listChannels = (client: Client, options: CallOptions = {}): Promise<ListChannelsEnvelope> =>
  client.send({ method: 'GET', path: `/api/channels`, ...options });

/** Read a channel */
export const getChannel = (client: Client, id: string, options: CallOptions = {}): Promise<ChannelResponse> =>
  client.send({ method: 'GET', path: `/api/channels/${encodeURIComponent(id)}`, ...options });

/** Read the country of numbers that name none */
export const getDefaultCountry = (client: Client, options: CallOptions = {}): Promise<DefaultCountryResponse> =>
  client.send({ method: 'GET', path: `/api/workspace/default-country`, ...options });

/** Set the country of numbers that name none */
export const putDefaultCountry = (client: Client, body: PutDefaultCountry, options: CallOptions = {}): Promise<DefaultCountryMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/workspace/default-country`, body, ...options });

/** Read which campaigns skip people without recorded consent */
export const getConsentPolicy = (client: Client, options: CallOptions = {}): Promise<ConsentPolicyResponse> =>
  client.send({ method: 'GET', path: `/api/workspace/consent-policy`, ...options });

/** Set which campaigns skip people without recorded consent */
export const putConsentPolicy = (client: Client, body: PutConsentPolicy, options: CallOptions = {}): Promise<ConsentPolicyMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/workspace/consent-policy`, body, ...options });

/** Read how soon campaigns of the workspace pause because their messages fail */
export const getFailureBrake = (client: Client, options: CallOptions = {}): Promise<FailureBrakeResponse> =>
  client.send({ method: 'GET', path: `/api/workspace/failure-brake`, ...options });

/** Set how soon campaigns of the workspace pause because their messages fail */
export const putFailureBrake = (client: Client, body: PutFailureBrake, options: CallOptions = {}): Promise<FailureBrakeMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/workspace/failure-brake`, body, ...options });

/** Read how many messages a contact gets at most */
export const getFrequencyCap = (client: Client, options: CallOptions = {}): Promise<GetFrequencyCapEnvelope> =>
  client.send({ method: 'GET', path: `/api/workspace/frequency-cap`, ...options });

/** Set how many messages a contact gets at most */
export const putFrequencyCap = (client: Client, body: PutFrequencyCap, options: CallOptions = {}): Promise<PutFrequencyCapEnvelope> =>
  client.send({ method: 'PUT', path: `/api/workspace/frequency-cap`, body, ...options });

/** Read the sending window of the workspace */
export const getSendingWindow = (client: Client, options: CallOptions = {}): Promise<GetSendingWindowEnvelope> =>
  client.send({ method: 'GET', path: `/api/workspace/sending-window`, ...options });

/** Set the sending window of the workspace */
export const putSendingWindow = (client: Client, body: PutSendingWindow, options: CallOptions = {}): Promise<SendingWindowMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/workspace/sending-window`, body, ...options });

/** Remove the sending window of the workspace */
export const deleteSendingWindow = (client: Client, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/workspace/sending-window`, ...options });

/** Read the wallet of a channel */
export const getWallet = (client: Client, query: {
    /** Id of the channel; required with a workspace key if the workspace has several. */
    readonly channel_id?: string;
  } = {}, options: CallOptions = {}): Promise<WalletResponse> =>
  client.send({ method: 'GET', path: `/api/wallet`, query, ...options });

/** Add money to the wallet of a channel */
export const rechargeWallet = (client: Client, body: RechargeWallet, options: CallOptions = {}): Promise<WalletMessageResponse> =>
  client.send({ method: 'POST', path: `/api/wallet/recharge`, body, idempotent: true, ...options });

/** Set the amount below which a balance is low */
export const putLowBalance = (client: Client, body: PutLowBalance, options: CallOptions = {}): Promise<WalletMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/wallet/low-balance`, body, ...options });

/** Read the statement of a month */
export const getWalletStatement = (client: Client, query: {
    /** Month in the time zone of the business account; default the present one of UTC. */
    readonly month?: string;
    /** Id of the channel; required with a workspace key if the workspace has several. */
    readonly channel_id?: string;
    /** `csv` returns a CSV file, as `Accept: text/csv` does; useful for links. */
    readonly format?: StatementFormat;
  } = {}, options: CallOptions = {}): Promise<WalletStatementResponse> =>
  client.send({ method: 'GET', path: `/api/wallet/statement`, query, ...options });

/** List the ledger of a channel */
export const listWalletEntries = (client: Client, query: {
    /** Id of the channel; required with a workspace key if the workspace has several. */
    readonly channel_id?: string;
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<LedgerEntryPage> =>
  client.send({ method: 'GET', path: `/api/wallet/entries`, query, ...options });

/** List where charges differ from the provider’s figures */
export const listWalletComparison = (client: Client, query: {
    /** Id of the channel; required with a workspace key if the workspace has several. */
    readonly channel_id?: string;
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<ComparisonLinePage> =>
  client.send({ method: 'GET', path: `/api/wallet/comparison`, query, ...options });

/** List the price cards */
export const listPriceCards = (client: Client, options: CallOptions = {}): Promise<ListPriceCardsEnvelope> =>
  client.send({ method: 'GET', path: `/api/prices`, ...options });

/** Load the provider’s published prices */
export const loadPriceCard = (client: Client, options: CallOptions = {}): Promise<LoadedPricesResponse> =>
  client.send({ method: 'POST', path: `/api/prices`, ...options });

/** Read a price card with its prices and markets */
export const getPriceCard = (client: Client, id: string, options: CallOptions = {}): Promise<PriceCardDetailResponse> =>
  client.send({ method: 'GET', path: `/api/prices/${encodeURIComponent(id)}`, ...options });

/** List the audit log of the workspace */
export const listAuditEntries = (client: Client, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
    /** Only entries about the record with this id, such as a campaign. */
    readonly object_id?: string;
    /** Entries of one kind of object only: those whose action begins with it. */
    readonly object?: "campaign" | "file" | "segment" | "tag" | "workspace" | "wallet" | "key" | "session" | "sign-in-link" | "channel" | "webhook" | "contact" | "consent" | "installation";
    /** Entries of one key only. */
    readonly key_id?: string;
    /** Entries at this time or later only. */
    readonly from?: string;
    /** Entries before this time only. */
    readonly to?: string;
  } = {}, options: CallOptions = {}): Promise<AuditEntryPage> =>
  client.send({ method: 'GET', path: `/api/audit`, query, ...options });

/** List the requests of the workspace’s API keys */
export const listRequests = (client: Client, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
    /** Requests of one key only. */
    readonly key_id?: string;
    /** `true` lists requests that were answered with an error; default all. */
    readonly failed?: "true" | "false";
    /** Requests at this time or later only. */
    readonly from?: string;
    /** Requests before this time only. */
    readonly to?: string;
  } = {}, options: CallOptions = {}): Promise<LoggedRequestPage> =>
  client.send({ method: 'GET', path: `/api/requests`, query, ...options });

/** List the notices of the workspace */
export const listNotices = (client: Client, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
    /** `true` lists unread notices only; default all. */
    readonly unread?: "true" | "false";
    /** Notices of one kind only. */
    readonly kind?: NoticeKind;
    /** Notices at this time or later only. */
    readonly from?: string;
    /** Notices before this time only. */
    readonly to?: string;
  } = {}, options: CallOptions = {}): Promise<NoticePage> =>
  client.send({ method: 'GET', path: `/api/notices`, query, ...options });

/** Mark notices as read */
export const readNotices = (client: Client, body: ReadNotices, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'POST', path: `/api/notices/read`, body, ...options });

/** Read the address to which notices are posted */
export const getNoticeTarget = (client: Client, options: CallOptions = {}): Promise<GetNoticeTargetEnvelope> =>
  client.send({ method: 'GET', path: `/api/workspace/notice-target`, ...options });

/** Post notices to an address */
export const putNoticeTarget = (client: Client, body: PutNoticeTarget, options: CallOptions = {}): Promise<NoticeTargetMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/workspace/notice-target`, body, ...options });

/** Stop posting notices */
export const deleteNoticeTarget = (client: Client, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/workspace/notice-target`, ...options });

/** Create a webhook */
export const createWebhook = (client: Client, body: CreateWebhook, options: CallOptions = {}): Promise<WebhookMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks`, body, idempotent: true, ...options });

/** List the webhooks of the workspace */
export const listWebhooks = (client: Client, query: {
    /** Page of the list, from 1 (default); `page` × `limit` is at most 100,000. */
    readonly page?: number;
    /** Length of a page, 1 to 100; default 10. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<WebhookPage> =>
  client.send({ method: 'GET', path: `/api/external-webhooks`, query, ...options });

/** List the events a webhook can subscribe to */
export const listWebhookEvents = (client: Client, options: CallOptions = {}): Promise<ListWebhookEventsEnvelope> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/events`, ...options });

/** Read a webhook */
export const getWebhook = (client: Client, id: string, options: CallOptions = {}): Promise<WebhookResponse> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}`, ...options });

/** Change a webhook */
export const updateWebhook = (client: Client, id: string, body: UpdateWebhook, options: CallOptions = {}): Promise<WebhookMessageResponse> =>
  client.send({ method: 'PATCH', path: `/api/external-webhooks/${encodeURIComponent(id)}`, body, ...options });

/** Delete a webhook */
export const deleteWebhook = (client: Client, id: string, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/external-webhooks/${encodeURIComponent(id)}`, ...options });

/** Read the health of a webhook */
export const getWebhookHealth = (client: Client, id: string, options: CallOptions = {}): Promise<WebhookHealthResponse> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}/health`, ...options });

/** Send an example event to a webhook */
export const testWebhook = (client: Client, id: string, body: TestWebhook, options: CallOptions = {}): Promise<DeliveryMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks/${encodeURIComponent(id)}/test`, body, ...options });

/** List the deliveries of a webhook */
export const listWebhookDeliveries = (client: Client, id: string, query: {
    /** Only those in these states. Repeat it for several. */
    readonly state?: readonly (DeliveryState)[];
    /** Only those of these events. Repeat it for several. */
    readonly eventKey?: readonly (EventKey)[];
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<DeliveryPage> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}/deliveries`, query, ...options });

/** List the deliveries of all webhooks */
export const listDeliveries = (client: Client, query: {
    /** Only those in these states. Repeat it for several. */
    readonly state?: readonly (DeliveryState)[];
    /** Only those that failed with these codes. Repeat it for several. */
    readonly error_code?: readonly (WebhookErrorCode)[];
    /** Only those created at this time or later. */
    readonly from?: string;
    /** Only those created before this time. */
    readonly to?: string;
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<DeliveryPage> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/deliveries`, query, ...options });

/** Read one delivery */
export const getWebhookDelivery = (client: Client, id: string, deliveryId: string, options: CallOptions = {}): Promise<DeliveryDetailResponse> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(deliveryId)}`, ...options });

/** Resend a delivery */
export const resendWebhookDelivery = (client: Client, id: string, deliveryId: string, options: CallOptions = {}): Promise<DeliveryMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(deliveryId)}/resend`, ...options });

/** Resend the failed deliveries of a webhook */
export const resendFailedDeliveries = (client: Client, id: string, body: ResendFailedDeliveries, options: CallOptions = {}): Promise<ResentDeliveriesMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks/${encodeURIComponent(id)}/resend-failed`, body, ...options });

/** Send again what a webhook missed */
export const resendMissed = (client: Client, id: string, body: ResendMissed, options: CallOptions = {}): Promise<ResendMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks/${encodeURIComponent(id)}/resend-missed`, body, ...options });

/** List the resends of a webhook */
export const listResends = (client: Client, id: string, query: {
    /** `nextCursor` of the previous page; omit it for the first page. */
    readonly cursor?: string;
    /** Length of a page, 1 to 100; default 10. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<ResendPage> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}/resend-missed`, query, ...options });

/** Read the progress of a resend */
export const getResend = (client: Client, id: string, resendId: string, options: CallOptions = {}): Promise<ResendResponse> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}/resend-missed/${encodeURIComponent(resendId)}`, ...options });

/** Cancel a resend */
export const cancelResend = (client: Client, id: string, resendId: string, options: CallOptions = {}): Promise<ResendMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks/${encodeURIComponent(id)}/resend-missed/${encodeURIComponent(resendId)}/cancel`, ...options });

/** Read whether the event feed is on */
export const getEventFeed = (client: Client, options: CallOptions = {}): Promise<EventFeedResponse> =>
  client.send({ method: 'GET', path: `/api/workspace/event-feed`, ...options });

/** Switch the event feed on or off */
export const putEventFeed = (client: Client, body: PutEventFeed, options: CallOptions = {}): Promise<EventFeedMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/workspace/event-feed`, body, ...options });

/** Read the event feed */
export const listEvents = (client: Client, query: {
    /** Cursor after which to read; default before the oldest event that is kept. */
    readonly after?: string;
    /** Only events of these keys. Repeat it for several. */
    readonly event_key?: readonly (FeedKey)[];
    /** Length of a page, 1 to 1,000; default 100. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<EventPage> =>
  client.send({ method: 'GET', path: `/api/events`, query, ...options });

/** Check that the process runs */
export const getHealth = (client: Client, options: CallOptions = {}): Promise<GetHealthEnvelope> =>
  client.send({ method: 'GET', path: `/healthz`, ...options });

/** Check that the process can serve requests: Postgres answers and every migration has run */
export const getReadiness = (client: Client, options: CallOptions = {}): Promise<GetReadinessEnvelope> =>
  client.send({ method: 'GET', path: `/readyz`, ...options });

/** Download this OpenAPI document */
export const getDescription = (client: Client, options: CallOptions = {}): Promise<{ readonly [key: string]: unknown }> =>
  client.send({ method: 'GET', path: `/openapi.json`, ...options });
