/** Generated from the OpenAPI document by `npm run openapi`. */
import type { CallOptions, Client } from './client.ts';
import type { Acknowledgement, AssignConversation, AuditEntryPage, CampaignCheckResponse, CampaignDetailMessageResponse, CampaignDetailResponse, CampaignPage, CampaignStatus, ChangeConversationStatus, ChannelResponse, CheckCampaign, ConsentPage, ContactExportResponse, ContactMessageResponse, ContactPage, ContactResponse, ConversationMessageResponse, ConversationPage, ConversationResponse, ConversationStatus, CountSegment, CreateCampaign, CreateContact, CreateSegment, CreateTag, CreateWebhook, CreatedCampaign, CsvPreviewResponse, DeliveryDetailResponse, DeliveryMessageResponse, DeliveryPage, DeliveryState, EventKey, GetCampaignDiagnosisResult, GetCampaignTimelineResult, GetHealthResult, GetReadinessResult, GetSendingWindowResult, HistoryItemPage, LedgerEntryPage, ListChannelsResult, ListWebhookEventsResult, MediaResponse, MessagePage, MessageResponse, MessageState, NoticePage, OverviewInterval, OverviewResponse, PayloadSkeletonResponse, PreviewCampaignCsv, PreviewTemplate, PutSendingWindow, ReadNotices, RechargeWallet, RecipientDetailResponse, RecipientFormat, RecipientPage, RecipientState, ResendFailedDeliveries, ResentDeliveriesMessageResponse, SegmentCountResponse, SegmentMessageResponse, SegmentPage, SegmentResponse, SendTemplateMessage, SendingWindowMessageResponse, SentMessageMessageResponse, StartCampaign, TagMessageResponse, TagPage, TagResponse, TemplatePage, TemplatePreviewResponse, TemplateResponse, TemplateSyncSummaryMessageResponse, TemplateVariablesResponse, TestCampaign, TestWebhook, TimelineInterval, UpdateCampaign, UpdateContact, UpdateSegment, UpdateTag, UpdateWebhook, WalletMessageResponse, WalletResponse, WebhookErrorCode, WebhookHealthResponse, WebhookMessageResponse, WebhookPage, WebhookResponse } from './schemas.ts';

/** Create a campaign that prepares its audience and sends itself */
export const createCampaign = (client: Client, body: CreateCampaign, options: CallOptions = {}): Promise<CreatedCampaign> =>
  client.send({ method: 'POST', path: `/api/campaigns/auto-trigger`, body, idempotent: true, ...options });

/** Check the body of a creation without creating anything */
export const checkCampaign = (client: Client, body: CheckCampaign, options: CallOptions = {}): Promise<CampaignCheckResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/check`, body, ...options });

/** Show how a campaign would read an uploaded CSV */
export const previewCampaignCsv = (client: Client, key: string, body: PreviewCampaignCsv, options: CallOptions = {}): Promise<CsvPreviewResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/csv-files/${encodeURIComponent(key)}/preview`, body, ...options });

/** List the campaigns of the workspace, newest first */
export const listCampaigns = (client: Client, query: {
    /** Which page, from 1; page × limit is at most 100,000. */
    readonly page?: number;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
    /** Only those of this status; may be repeated where it is a list. */
    readonly status?: readonly (CampaignStatus)[];
    /** Only those that match these words; the last one may be the beginning of a word. */
    readonly search?: string;
    /** An approved template of the channel’s business account. */
    readonly template_id?: string;
    /** Only those created at this instant or later. */
    readonly from?: string;
    /** Only those created before this instant. */
    readonly to?: string;
  } = {}, options: CallOptions = {}): Promise<CampaignPage> =>
  client.send({ method: 'GET', path: `/api/campaigns`, query, ...options });

/** What the campaigns of the workspace did in a span of time */
export const getOverview = (client: Client, query: {
    /** Only those created at this instant or later. */
    readonly from?: string;
    /** Only those created before this instant. */
    readonly to?: string;
    /** How long a part is; a minute without it. */
    readonly interval?: OverviewInterval;
  } = {}, options: CallOptions = {}): Promise<OverviewResponse> =>
  client.send({ method: 'GET', path: `/api/overview`, query, ...options });

/** A campaign with its counters by recipient state */
export const getCampaign = (client: Client, id: string, options: CallOptions = {}): Promise<CampaignDetailResponse> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}`, ...options });

/** Change the name, the description, the sending window or the time of a campaign */
export const updateCampaign = (client: Client, id: string, body: UpdateCampaign, options: CallOptions = {}): Promise<CampaignDetailMessageResponse> =>
  client.send({ method: 'PATCH', path: `/api/campaigns/${encodeURIComponent(id)}`, body, ...options });

/** What became of a campaign minute by minute, or hour by hour */
export const getCampaignTimeline = (client: Client, id: string, query: {
    /** How long a part is; a minute without it. */
    readonly interval?: TimelineInterval;
  } = {}, options: CallOptions = {}): Promise<GetCampaignTimelineResult> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}/timeline`, query, ...options });

/** Why a campaign sends, or does not, and what would change it */
export const getCampaignDiagnosis = (client: Client, id: string, options: CallOptions = {}): Promise<GetCampaignDiagnosisResult> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}/diagnosis`, ...options });

/** The recipients of a campaign; all of them as a file where only text/csv is accepted */
export const listCampaignRecipients = (client: Client, id: string, query: {
    /** Only these states; may be repeated. */
    readonly state?: readonly (RecipientState)[];
    /** Only these reasons; may be repeated. */
    readonly reason?: readonly (string)[];
    /** A number in international form, or as it is dialled within its country */
    readonly phone_number?: string;
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
    /** `csv` answers a file, as `Accept: text/csv` does; for a link that a browser follows */
    readonly format?: RecipientFormat;
  } = {}, options: CallOptions = {}): Promise<RecipientPage> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}/recipients`, query, ...options });

/** One recipient: the text of the message and the time of each status */
export const getCampaignRecipient = (client: Client, id: string, recipientId: string, options: CallOptions = {}): Promise<RecipientDetailResponse> =>
  client.send({ method: 'GET', path: `/api/campaigns/${encodeURIComponent(id)}/recipients/${encodeURIComponent(recipientId)}`, ...options });

/** Start a paused campaign again, where it stopped; one that is not due yet waits for its time */
export const startCampaign = (client: Client, id: string, body: StartCampaign = {}, options: CallOptions = {}): Promise<CampaignDetailResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/${encodeURIComponent(id)}/start`, body, ...options });

/** Pause a campaign */
export const pauseCampaign = (client: Client, id: string, options: CallOptions = {}): Promise<CampaignDetailResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/${encodeURIComponent(id)}/pause`, ...options });

/** Cancel a campaign: who was not sent to, never will be */
export const cancelCampaign = (client: Client, id: string, options: CallOptions = {}): Promise<CampaignDetailResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/${encodeURIComponent(id)}/cancel`, ...options });

/** Send one message of the campaign to a number of your own */
export const testCampaign = (client: Client, id: string, body: TestCampaign, options: CallOptions = {}): Promise<SentMessageMessageResponse> =>
  client.send({ method: 'POST', path: `/api/campaigns/${encodeURIComponent(id)}/test`, body, ...options });

/** List the templates of the workspace */
export const listTemplates = (client: Client, query: {
    /** Which page, from 1; page × limit is at most 100,000. */
    readonly page?: number;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
    /** Only those that match these words; the last one may be the beginning of a word. */
    readonly search?: string;
    /** Only those of this status; may be repeated where it is a list. */
    readonly status?: readonly (string)[];
    /** Such as MARKETING or UTILITY */
    readonly category?: string;
    /** Such as `en_US` */
    readonly language?: string;
    /** Templates of this business account alone; a channel key that leaves it out gets those of its own business account */
    readonly business_account_id?: string;
  } = {}, options: CallOptions = {}): Promise<TemplatePage> =>
  client.send({ method: 'GET', path: `/api/templates`, query, ...options });

/** Pull the templates of the workspace from the provider */
export const syncTemplates = (client: Client, options: CallOptions = {}): Promise<TemplateSyncSummaryMessageResponse> =>
  client.send({ method: 'POST', path: `/api/templates/sync`, ...options });

/** Read a template */
export const getTemplate = (client: Client, templateId: string, options: CallOptions = {}): Promise<TemplateResponse> =>
  client.send({ method: 'GET', path: `/api/templates/${encodeURIComponent(templateId)}`, ...options });

/** Show the message of a template as its reader will see it */
export const previewTemplate = (client: Client, templateId: string, body: PreviewTemplate, options: CallOptions = {}): Promise<TemplatePreviewResponse> =>
  client.send({ method: 'POST', path: `/api/templates/${encodeURIComponent(templateId)}/preview`, body, ...options });

/** Name the variables a template requires */
export const getTemplateVariables = (client: Client, templateId: string, options: CallOptions = {}): Promise<TemplateVariablesResponse> =>
  client.send({ method: 'GET', path: `/api/templates/${encodeURIComponent(templateId)}/variables`, ...options });

/** Give a body for sending a template, with placeholder values */
export const getPayloadSkeleton = (client: Client, templateId: string, options: CallOptions = {}): Promise<PayloadSkeletonResponse> =>
  client.send({ method: 'GET', path: `/api/templates/${encodeURIComponent(templateId)}/payload-skeleton`, ...options });

/** Send a template message to one recipient */
export const sendTemplateMessage = (client: Client, body: SendTemplateMessage, options: CallOptions = {}): Promise<SentMessageMessageResponse> =>
  client.send({ method: 'POST', path: `/api/templates/external/message/send`, body, idempotent: true, ...options });

/** List single sends and replies */
export const listMessages = (client: Client, query: {
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
    /** Only those to or from this number. */
    readonly phone_number?: string;
    /** Only those to or from this contact. */
    readonly contact_id?: string;
    /** Only replies to this campaign and its test messages. */
    readonly campaign_id?: string;
    /** Only these states; may be repeated. */
    readonly state?: readonly (MessageState)[];
    /** Only those created at this instant or later. */
    readonly from?: string;
    /** Only those created before this instant. */
    readonly to?: string;
  } = {}, options: CallOptions = {}): Promise<MessagePage> =>
  client.send({ method: 'GET', path: `/api/messages`, query, ...options });

/** Read a message */
export const getMessage = (client: Client, id: string, options: CallOptions = {}): Promise<MessageResponse> =>
  client.send({ method: 'GET', path: `/api/messages/${encodeURIComponent(id)}`, ...options });

/** Upload the file of a header: field `file` of a multipart form */
export const uploadMedia = (client: Client, options: CallOptions = {}): Promise<MediaResponse> =>
  client.send({ method: 'POST', path: `/api/media`, ...options });

/** List the tags of the workspace */
export const listTags = (client: Client, query: {
    /** Which page, from 1; page × limit is at most 100,000. */
    readonly page?: number;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
    /** Only those that match these words; the last one may be the beginning of a word. */
    readonly search?: string;
    /** Only tags created by this user. */
    readonly createdBy?: string;
  } = {}, options: CallOptions = {}): Promise<TagPage> =>
  client.send({ method: 'GET', path: `/api/tags`, query, ...options });

/** Create a tag */
export const createTag = (client: Client, body: CreateTag, options: CallOptions = {}): Promise<TagMessageResponse> =>
  client.send({ method: 'POST', path: `/api/tags`, body, ...options });

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
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
    /** Only those that match these words; the last one may be the beginning of a word. */
    readonly search?: string;
    /** Only contacts that have this tag. */
    readonly tag?: string;
    /** Only contacts that match this segment. */
    readonly segment?: string;
    /** Only contacts that are subscribed (`true`) or that opted out (`false`). */
    readonly subscribed?: "true" | "false";
  } = {}, options: CallOptions = {}): Promise<ContactPage> =>
  client.send({ method: 'GET', path: `/api/contacts`, query, ...options });

/** Register a contact */
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
    /** `true` forgets the person for good. */
    readonly erase?: "true" | "false";
  } = {}, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/contacts/${encodeURIComponent(id)}`, query, ...options });

/** Export everything that is held of a person */
export const exportContact = (client: Client, id: string, options: CallOptions = {}): Promise<ContactExportResponse> =>
  client.send({ method: 'GET', path: `/api/contacts/${encodeURIComponent(id)}/export`, ...options });

/** List the opt-outs and opt-ins of a contact */
export const listContactConsents = (client: Client, id: string, query: {
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<ConsentPage> =>
  client.send({ method: 'GET', path: `/api/contacts/${encodeURIComponent(id)}/consents`, query, ...options });

/** List the messages sent to a contact and received from it */
export const listContactHistory = (client: Client, id: string, query: {
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<HistoryItemPage> =>
  client.send({ method: 'GET', path: `/api/contacts/${encodeURIComponent(id)}/history`, query, ...options });

/** List the segments of the workspace */
export const listSegments = (client: Client, query: {
    /** Which page, from 1; page × limit is at most 100,000. */
    readonly page?: number;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<SegmentPage> =>
  client.send({ method: 'GET', path: `/api/segments`, query, ...options });

/** Create a segment */
export const createSegment = (client: Client, body: CreateSegment, options: CallOptions = {}): Promise<SegmentMessageResponse> =>
  client.send({ method: 'POST', path: `/api/segments`, body, ...options });

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
    /** Which page, from 1; page × limit is at most 100,000. */
    readonly page?: number;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
    /** Only those of this status; may be repeated where it is a list. */
    readonly status?: ConversationStatus;
    /** Only those assigned to this user, team or bot. */
    readonly assignedTo?: string;
    /** Only those with this contact. */
    readonly contactId?: string;
    /** Only conversations whose contact wrote after this campaign reached it. */
    readonly campaignId?: string;
    /** The time to order by, latest first. Default: `createdAt`. */
    readonly sort?: "createdAt" | "lastMessageAt";
  } = {}, options: CallOptions = {}): Promise<ConversationPage> =>
  client.send({ method: 'GET', path: `/api/conversations`, query, ...options });

/** Read a conversation */
export const getConversation = (client: Client, id: string, options: CallOptions = {}): Promise<ConversationResponse> =>
  client.send({ method: 'GET', path: `/api/conversations/${encodeURIComponent(id)}`, ...options });

/** List the messages of a conversation */
export const listConversationMessages = (client: Client, id: string, query: {
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<HistoryItemPage> =>
  client.send({ method: 'GET', path: `/api/conversations/${encodeURIComponent(id)}/messages`, query, ...options });

/** Assign a conversation */
export const assignConversation = (client: Client, id: string, body: AssignConversation, options: CallOptions = {}): Promise<ConversationMessageResponse> =>
  client.send({ method: 'POST', path: `/api/conversations/${encodeURIComponent(id)}/assign`, body, ...options });

/** Open, resolve or close a conversation */
export const changeConversationStatus = (client: Client, id: string, body: ChangeConversationStatus, options: CallOptions = {}): Promise<ConversationMessageResponse> =>
  client.send({ method: 'PATCH', path: `/api/conversations/${encodeURIComponent(id)}/status`, body, ...options });

/** List the channels of the workspace as they stand */
export const listChannels = (client: Client, options: CallOptions = {}): Promise<ListChannelsResult> =>
  client.send({ method: 'GET', path: `/api/channels`, ...options });

/** A channel as it stands */
export const getChannel = (client: Client, id: string, options: CallOptions = {}): Promise<ChannelResponse> =>
  client.send({ method: 'GET', path: `/api/channels/${encodeURIComponent(id)}`, ...options });

/** Read the sending window of the workspace */
export const getSendingWindow = (client: Client, options: CallOptions = {}): Promise<GetSendingWindowResult> =>
  client.send({ method: 'GET', path: `/api/workspace/sending-window`, ...options });

/** Set the sending window of the workspace */
export const putSendingWindow = (client: Client, body: PutSendingWindow, options: CallOptions = {}): Promise<SendingWindowMessageResponse> =>
  client.send({ method: 'PUT', path: `/api/workspace/sending-window`, body, ...options });

/** Remove the sending window of the workspace */
export const deleteSendingWindow = (client: Client, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/workspace/sending-window`, ...options });

/** Read the wallet of a channel */
export const getWallet = (client: Client, query: {
    /** Which channel’s wallet; needed with a workspace key where the workspace has several. */
    readonly channel_id?: string;
  } = {}, options: CallOptions = {}): Promise<WalletResponse> =>
  client.send({ method: 'GET', path: `/api/wallet`, query, ...options });

/** Add money to the wallet of a channel */
export const rechargeWallet = (client: Client, body: RechargeWallet, options: CallOptions = {}): Promise<WalletMessageResponse> =>
  client.send({ method: 'POST', path: `/api/wallet/recharge`, body, idempotent: true, ...options });

/** List the ledger of a channel */
export const listWalletEntries = (client: Client, query: {
    /** Which channel’s wallet; needed with a workspace key where the workspace has several. */
    readonly channel_id?: string;
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<LedgerEntryPage> =>
  client.send({ method: 'GET', path: `/api/wallet/entries`, query, ...options });

/** List who did what in the workspace */
export const listAuditEntries = (client: Client, query: {
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<AuditEntryPage> =>
  client.send({ method: 'GET', path: `/api/audit`, query, ...options });

/** List what the people of the workspace should know of */
export const listNotices = (client: Client, query: {
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
    /** `true` lists unread notices only. */
    readonly unread?: "true" | "false";
  } = {}, options: CallOptions = {}): Promise<NoticePage> =>
  client.send({ method: 'GET', path: `/api/notices`, query, ...options });

/** Mark notices as read */
export const readNotices = (client: Client, body: ReadNotices, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'POST', path: `/api/notices/read`, body, ...options });

/** Create a webhook configuration */
export const createWebhook = (client: Client, body: CreateWebhook, options: CallOptions = {}): Promise<WebhookMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks`, body, ...options });

/** List the webhook configurations of the workspace */
export const listWebhooks = (client: Client, query: {
    /** Which page, from 1; page × limit is at most 100,000. */
    readonly page?: number;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<WebhookPage> =>
  client.send({ method: 'GET', path: `/api/external-webhooks`, query, ...options });

/** List the events a webhook can subscribe to */
export const listWebhookEvents = (client: Client, options: CallOptions = {}): Promise<ListWebhookEventsResult> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/events`, ...options });

/** Read a webhook configuration */
export const getWebhook = (client: Client, id: string, options: CallOptions = {}): Promise<WebhookResponse> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}`, ...options });

/** Change a webhook configuration */
export const updateWebhook = (client: Client, id: string, body: UpdateWebhook, options: CallOptions = {}): Promise<WebhookMessageResponse> =>
  client.send({ method: 'PATCH', path: `/api/external-webhooks/${encodeURIComponent(id)}`, body, ...options });

/** Delete a webhook configuration */
export const deleteWebhook = (client: Client, id: string, options: CallOptions = {}): Promise<Acknowledgement> =>
  client.send({ method: 'DELETE', path: `/api/external-webhooks/${encodeURIComponent(id)}`, ...options });

/** Read how the receiver of a webhook configuration is doing */
export const getWebhookHealth = (client: Client, id: string, options: CallOptions = {}): Promise<WebhookHealthResponse> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}/health`, ...options });

/** Deliver the example of an event */
export const testWebhook = (client: Client, id: string, body: TestWebhook, options: CallOptions = {}): Promise<DeliveryMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks/${encodeURIComponent(id)}/test`, body, ...options });

/** List the deliveries of a webhook configuration */
export const listWebhookDeliveries = (client: Client, id: string, query: {
    /** Only these states; may be repeated. */
    readonly state?: readonly (DeliveryState)[];
    /** Only these events; may be repeated. */
    readonly eventKey?: readonly (EventKey)[];
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<DeliveryPage> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}/deliveries`, query, ...options });

/** List the deliveries of all webhook configurations */
export const listDeliveries = (client: Client, query: {
    /** Only these states; may be repeated. */
    readonly state?: readonly (DeliveryState)[];
    /** Only those that failed with these codes; may be repeated. */
    readonly error_code?: readonly (WebhookErrorCode)[];
    /** Only those created at this instant or later. */
    readonly from?: string;
    /** Only those created before this instant. */
    readonly to?: string;
    /** The `nextCursor` of the page before; absent for the first page. */
    readonly cursor?: string;
    /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
    readonly limit?: number;
  } = {}, options: CallOptions = {}): Promise<DeliveryPage> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/deliveries`, query, ...options });

/** Read one delivery */
export const getWebhookDelivery = (client: Client, id: string, deliveryId: string, options: CallOptions = {}): Promise<DeliveryDetailResponse> =>
  client.send({ method: 'GET', path: `/api/external-webhooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(deliveryId)}`, ...options });

/** Deliver an event once more */
export const resendWebhookDelivery = (client: Client, id: string, deliveryId: string, options: CallOptions = {}): Promise<DeliveryMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(deliveryId)}/resend`, ...options });

/** Deliver once more every event whose delivery failed */
export const resendFailedDeliveries = (client: Client, id: string, body: ResendFailedDeliveries, options: CallOptions = {}): Promise<ResentDeliveriesMessageResponse> =>
  client.send({ method: 'POST', path: `/api/external-webhooks/${encodeURIComponent(id)}/resend-failed`, body, ...options });

/** Whether the process lives */
export const getHealth = (client: Client, options: CallOptions = {}): Promise<GetHealthResult> =>
  client.send({ method: 'GET', path: `/healthz`, ...options });

/** Tell whether the process can answer requests: Postgres answers and has every migration */
export const getReadiness = (client: Client, options: CallOptions = {}): Promise<GetReadinessResult> =>
  client.send({ method: 'GET', path: `/readyz`, ...options });

/** This description */
export const getDescription = (client: Client, options: CallOptions = {}): Promise<{ readonly [key: string]: unknown }> =>
  client.send({ method: 'GET', path: `/openapi.json`, ...options });
