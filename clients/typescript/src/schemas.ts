/** Generated from the OpenAPI document by `npm run openapi`. */

export type Acknowledgement = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
};

export type Actor = {
  /** Identifies the record. */
  readonly id: string | null;
  /** The name. */
  readonly name: string | null;
  /** E-mail address; empty or null when unknown. */
  readonly email: string | null;
};

export type ActorInput = {
  /** Identifies the record. */
  readonly id?: string | null;
  /** The name. */
  readonly name?: string | null;
  /** E-mail address; empty or null when unknown. */
  readonly email?: string | null;
};

export type AssignConversation = {
  /** What it is assigned to. */
  readonly assignmentType: AssignmentType;
  /** The user, team or bot it is assigned to; null for nobody. */
  readonly assignedTo?: AssigneeInput | null;
  /** Who assigned it; null when nobody did by hand. */
  readonly assignedBy?: ActorInput | null;
  /** Who answers in the conversation. */
  readonly chatMode?: ChatMode;
  /** Where it comes from. */
  readonly source?: AssignmentSource;
};

export type Assignee = {
  /** Identifies the record. */
  readonly id: string | null;
  /** The name. */
  readonly name: string | null;
  /** First name; empty or null when unknown. */
  readonly firstName: string | null;
  /** Last name; empty or null when unknown. */
  readonly lastName: string | null;
  /** E-mail address; empty or null when unknown. */
  readonly email: string | null;
};

export type AssigneeInput = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name?: string | null;
  /** First name; empty or null when unknown. */
  readonly firstName?: string | null;
  /** Last name; empty or null when unknown. */
  readonly lastName?: string | null;
  /** E-mail address; empty or null when unknown. */
  readonly email?: string | null;
};

export type AssignmentSource = "manual" | "chatbot" | "assistant" | "api" | "auto";

export type AssignmentType = "user" | "team" | "bot" | "none";

export type AuditEntry = {
  /** Identifies the record. */
  readonly id: string;
  /** When it was done. */
  readonly at: string;
  /** The API key that did it; null where it was no key. */
  readonly key_id: string | null;
  /** The operator’s command that did it; null where it was none. */
  readonly command: string | null;
  /** What was done, by its object: `campaign.pause`, `wallet.recharge`, … */
  readonly action: string;
  /** What it was done to. */
  readonly object_id: string;
  /** The X-Request-Id of the request; null where it was none. */
  readonly request_id: string | null;
};

export type AuditEntryPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (AuditEntry)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

export type ButtonValue = {
  /** Which kind. */
  readonly type?: string;
  /** What is appended to the button’s address. */
  readonly url_suffix?: string;
  /** The code that the button copies. */
  readonly coupon_code?: string;
  /** The code of an authentication template. */
  readonly otp?: string;
  /** What a quick reply sends back. */
  readonly payload?: string;
  /** Identifies the flow’s run. */
  readonly flow_token?: string;
  /** Passed to the flow’s first screen. */
  readonly flow_action_data?: { readonly [key: string]: unknown };
  /** The product whose picture stands for the catalogue. */
  readonly thumbnail_product_retailer_id?: string;
  /** The sections of a multi-product message. */
  readonly sections?: readonly ({ readonly [key: string]: unknown })[];
} | string | null;

/** In the order of the template’s buttons (null skips one), or keyed by the index of the button. */
export type ButtonValues = readonly (ButtonValue)[] | { readonly [key: string]: ButtonValue };

export type Campaign = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name: string;
  /** A note of the sender’s own. */
  readonly description: string | null;
  /** An approved template of the channel’s business account. */
  readonly template_id: string;
  /** Where the audience comes from. */
  readonly contact_selection_type: ContactSelectionType;
  /** Recipients that can be sent to; 0 until they are prepared. */
  readonly total_contacts: number;
  /** Rows that were skipped. */
  readonly total_contacts_skipped: number;
  /** Whether the list of recipients is ready. */
  readonly preparation_status: PreparationStatus;
  /** Rises with each preparation; 1 at creation. */
  readonly preparation_version: number;
  /** Rises when the set of recipients changes; 1 at creation. */
  readonly audience_version: number;
  /** Where it stands. */
  readonly status: CampaignStatus;
  /** Now, or at `scheduled_at`. */
  readonly send_type: SendType;
  /** When to send, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at: string | null;
  /** The workspace. */
  readonly workspace_id: number;
  /** True for campaigns created by this API. */
  readonly is_auto_trigger: boolean;
  /** When it was created. */
  readonly created_at: string;
  /** When it last changed. */
  readonly updated_at: string;
  /** Its own; null where only the workspace’s holds */
  readonly sending_window: SendingWindow | null;
  /** True: an operator has excepted it from the workspace’s sending window */
  readonly ignore_quiet_hours: boolean;
  /** Until it has begun: when it may, which is `scheduled_at` or the creation, or the next opening of the sending window */
  readonly begins_at: string | null;
  /** The sending number’s channel. */
  readonly channel_id: string;
  /** The provider’s id of the sending number. */
  readonly phone_number_id: string;
  /** Why it is paused; null unless it is. */
  readonly pause_reason: PauseReason | null;
  /** What keeps it from moving; WORKFLOW_STUCK is for an operator to mend; null unless it waits. */
  readonly waiting_for: WaitingReason | null;
  /** When that is expected to be over; null when it is not known. */
  readonly waiting_until: string | null;
  /** Why the preparation failed; null unless it did. */
  readonly preparation_error: PreparationError | null;
  /** When sending began; null before. */
  readonly started_at: string | null;
  /** When nobody was left to be sent to; null before. */
  readonly completed_at: string | null;
  /** Recipients by their present state; each is counted once. */
  readonly counters: CampaignCounters;
  /** Skipped recipients by reason. */
  readonly skipped_reasons: { readonly [key: string]: number };
  /** Failed recipients by reason. */
  readonly failed_reasons: { readonly [key: string]: number };
  /** The template that it sends. */
  readonly template: CampaignTemplate;
  /** The id of the API key that created it */
  readonly created_by: string;
  /** What its messages cost so far, less what was given back */
  readonly charged: string;
};

export type CampaignCheck = {
  /** Empty when the campaign can be created and would reach somebody */
  readonly problems: readonly (FieldProblem)[];
  /** What is hardly meant: unknown fields, or `{{firstname}}`, which names none and is sent */
  readonly warnings: readonly (FieldProblem)[];
  /** Who would be sent to */
  readonly total_contacts: number;
  /** Skipped recipients by reason. */
  readonly skipped_reasons: { readonly [key: string]: number };
  /** True: the audience is so large that only its beginning was counted */
  readonly is_estimate: boolean;
  /** What sending to all of them would cost, as decimal text. */
  readonly cost: string;
  /** What the wallet can spend */
  readonly available: string;
  /** ISO 4217. */
  readonly currency: string;
  /** From `begins_at` to `ends_at` at the present rate of the channel, sent to alone; closed hours between them count */
  readonly duration_seconds: number;
  /** When sending would begin: now, at `scheduled_at`, or when the sending window opens */
  readonly begins_at: string | null;
  /** When all would be sent to, in the hours of the sending window; null where nobody would be */
  readonly ends_at: string | null;
};

export type CampaignCheckResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: CampaignCheck;
};

export type CampaignCounters = {
  /** Waiting to be sent. */
  readonly pending: number;
  /** On the way: claimed by a page that is being sent. */
  readonly claimed: number;
  /** Accepted by the provider; no receipt has come yet. */
  readonly accepted: number;
  /** Sent by the provider, not delivered yet. */
  readonly sent: number;
  /** Delivered to the person’s device. */
  readonly delivered: number;
  /** Read by the person. */
  readonly read: number;
  /** Refused, or reported as failed by a receipt. */
  readonly failed: number;
  /** Nobody knows whether it was sent: the provider did not answer. */
  readonly unknown: number;
  /** Not claimed before the campaign was cancelled. */
  readonly cancelled: number;
  /** Never to be sent to; see `skipped_reasons`. */
  readonly skipped: number;
};

export type CampaignDetail = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name: string;
  /** A note of the sender’s own. */
  readonly description: string | null;
  /** An approved template of the channel’s business account. */
  readonly template_id: string;
  /** Where the audience comes from. */
  readonly contact_selection_type: ContactSelectionType;
  /** Recipients that can be sent to; 0 until they are prepared. */
  readonly total_contacts: number;
  /** Rows that were skipped. */
  readonly total_contacts_skipped: number;
  /** Whether the list of recipients is ready. */
  readonly preparation_status: PreparationStatus;
  /** Rises with each preparation; 1 at creation. */
  readonly preparation_version: number;
  /** Rises when the set of recipients changes; 1 at creation. */
  readonly audience_version: number;
  /** Where it stands. */
  readonly status: CampaignStatus;
  /** Now, or at `scheduled_at`. */
  readonly send_type: SendType;
  /** When to send, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at: string | null;
  /** The workspace. */
  readonly workspace_id: number;
  /** True for campaigns created by this API. */
  readonly is_auto_trigger: boolean;
  /** When it was created. */
  readonly created_at: string;
  /** When it last changed. */
  readonly updated_at: string;
  /** Its own; null where only the workspace’s holds */
  readonly sending_window: SendingWindow | null;
  /** True: an operator has excepted it from the workspace’s sending window */
  readonly ignore_quiet_hours: boolean;
  /** Until it has begun: when it may, which is `scheduled_at` or the creation, or the next opening of the sending window */
  readonly begins_at: string | null;
  /** The sending number’s channel. */
  readonly channel_id: string;
  /** The provider’s id of the sending number. */
  readonly phone_number_id: string;
  /** Why it is paused; null unless it is. */
  readonly pause_reason: PauseReason | null;
  /** What keeps it from moving; WORKFLOW_STUCK is for an operator to mend; null unless it waits. */
  readonly waiting_for: WaitingReason | null;
  /** When that is expected to be over; null when it is not known. */
  readonly waiting_until: string | null;
  /** Why the preparation failed; null unless it did. */
  readonly preparation_error: PreparationError | null;
  /** When sending began; null before. */
  readonly started_at: string | null;
  /** When nobody was left to be sent to; null before. */
  readonly completed_at: string | null;
  /** Recipients by their present state; each is counted once. */
  readonly counters: CampaignCounters;
  /** Skipped recipients by reason. */
  readonly skipped_reasons: { readonly [key: string]: number };
  /** Failed recipients by reason. */
  readonly failed_reasons: { readonly [key: string]: number };
  /** The template that it sends. */
  readonly template: CampaignTemplate;
  /** The id of the API key that created it */
  readonly created_by: string;
  /** What its messages cost so far, less what was given back */
  readonly charged: string;
  /** The audience input, without inline contacts */
  readonly audience: { readonly [key: string]: unknown };
  /** Which field or text fills which variable. */
  readonly variable_mapping: { readonly [key: string]: unknown } | null;
  /** Until all recipients are sent to, at the present rate of the channel, in the hours of the sending window; null where it cannot be told */
  readonly eta_seconds: number | null;
};

export type CampaignDetailMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: CampaignDetail;
};

export type CampaignDetailResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: CampaignDetail;
};

export type CampaignEndEvent = {
  /** Always `end`. */
  readonly event: "end";
  /** An empty object. */
  readonly data: { readonly [key: string]: unknown };
};

export type CampaignPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Campaign)[];
  /** Where this page stands in the list. */
  readonly pagination: Pagination;
};

export type CampaignProgress = {
  /** Identifies the record. */
  readonly id: string;
  /** Where it stands. */
  readonly status: CampaignStatus;
  /** Why it is paused; null unless it is. */
  readonly pause_reason: PauseReason | null;
  /** Whether the list of recipients is ready. */
  readonly preparation_status: PreparationStatus;
  /** Recipients that can be sent to; 0 until they are prepared. */
  readonly total_contacts: number;
  /** Rows that were skipped. */
  readonly total_contacts_skipped: number;
  /** Recipients by their present state; each is counted once. */
  readonly counters: CampaignCounters;
  /** What the campaign has cost so far, as decimal text. */
  readonly charged: string;
  /** Messages sent in a second, at present. */
  readonly rate: number;
  /** Seconds until everybody is sent to; null where it cannot be told. */
  readonly eta_seconds: number | null;
};

export type CampaignProgressEvent = {
  /** Always `progress`. */
  readonly event: "progress";
  /** The campaign as it stands. */
  readonly data: CampaignProgress;
};

/** DRAFT: the audience is being prepared. SCHEDULED: waits for its time. RUNNING: is being sent. PAUSED: waits for you, see pause_reason. COMPLETED: nobody is left to be sent to; receipts still come. FAILED: could not be prepared. CANCELLED: you ended it. */
export type CampaignStatus = "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";

export type CampaignSummary = {
  /** Recipients that can be sent to; 0 until they are prepared. */
  readonly total_contacts: number;
  /** True when the template is approved, the channel active and the wallet covers one message. */
  readonly can_send_test: boolean;
};

export type CampaignTemplate = {
  /** Identifies the template. */
  readonly id: string;
  /** The name. */
  readonly name: string;
  /** The template’s language, such as `en_US`. */
  readonly language: string;
  /** The provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
  readonly category: string;
};

export type CarouselCard = {
  /** Values, or names of variables, of the template’s header. */
  readonly header?: HeaderValues;
  /** Values by the position or the name of the variable. */
  readonly body?: { readonly [key: string]: string };
  /** Values, or names of variables, of the template’s buttons. */
  readonly buttons?: ButtonValues;
};

export type ChangeConversationStatus = {
  /** Where it stands. */
  readonly status: ConversationStatus;
  /** Who changed it; null when nobody did by hand. */
  readonly changedBy?: ActorInput | null;
};

export type ChangedTemplate = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name: string;
  /** The template’s language, such as `en_US`. */
  readonly language: string;
  /** The provider’s id of the template. */
  readonly provider_template_id: string;
  /** The status as the provider tells it. */
  readonly provider_template_status: string;
};

export type Channel = {
  /** Identifies the record. */
  readonly id: string;
  /** The provider’s id of the sending number. */
  readonly phone_number_id: string;
  /** The number as people read it. */
  readonly display_phone_number: string;
  /** The provider’s id of the business account. */
  readonly business_account_id: string;
  /** Where it stands. */
  readonly status: ChannelStatus;
  /** Why it is blocked */
  readonly block_reason: string | null;
  /** The provider’s last refusal that concerned the whole channel; null after a new token */
  readonly provider_error: ChannelProviderError | null;
  /** When a restriction of the provider’s ends by itself */
  readonly blocked_until: string | null;
  /** ISO 3166 alpha-2 codes it never sends to */
  readonly blocked_countries: readonly (string)[];
  /** Its limit */
  readonly messages_per_second: number;
  /** What throttling leaves of the limit at this moment */
  readonly rate_now: number;
  /** What keeps it from moving; WORKFLOW_STUCK is for an operator to mend; null unless it waits. */
  readonly waiting_for: WaitingReason | null;
  /** Nothing is sent until then */
  readonly held_until: string | null;
  /** How many campaigns of the channel are being sent. */
  readonly running_campaigns: number;
  /** What the provider told last of the number: LOW, it flagged it and may lower its limit; GOOD, it took that back; null, nothing */
  readonly quality: ChannelQuality | null;
  /** Different people the business account may write to in 24 hours; null: no limit */
  readonly messaging_limit: number | null;
  /** How many it has written to in the last 24 hours; null without a limit */
  readonly messaging_used: number | null;
  /** Where the limit is reached: when there is room for somebody else */
  readonly messaging_room_at: string | null;
  /** Marketing templates go by the provider’s endpoint for them */
  readonly marketing_endpoint: boolean;
  /** What the provider said last of the business account: `field`, `event`, `at` and its details */
  readonly account_notice: { readonly [key: string]: unknown } | null;
};

export type ChannelBlockCause = "token" | "payment" | "policy" | "limit" | "number" | "address";

export type ChannelProviderError = {
  /** The provider’s error code */
  readonly code: number;
  /** What the code is about */
  readonly cause: ChannelBlockCause;
  /** When: the beginning of the part, or the instant at which the status was first told; null where that was not kept. */
  readonly at: string;
};

export type ChannelQuality = "GOOD" | "LOW";

export type ChannelResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Channel;
};

export type ChannelStatus = "active" | "blocked";

export type ChatMode = "manual" | "bot" | "assistant";

export type CheckCampaign = {
  /** The name. */
  readonly name: string;
  /** An approved template of the channel’s business account. */
  readonly template_id: string;
  /** Where the audience comes from. */
  readonly contact_selection_type: ContactSelectionType;
  /** Now, or at `scheduled_at`. */
  readonly send_type: SendType;
  /** A note of the sender’s own. */
  readonly description?: string;
  /** Must not be sent: the API key of a channel supplies it. */
  readonly channel_id?: unknown;
  /** Must not be sent: the API key of a channel supplies it. */
  readonly phone_number_id?: unknown;
  /** Narrows `segmented`: only contacts that meet these conditions, too. */
  readonly contact_filters?: ContactFilters;
  /** Segment ids, at most 100; contacts of any of them are included. All conditions together hold at most 10,000 values. */
  readonly segments?: readonly (string)[];
  /** Phone numbers in international form, each with values of the body’s variables after `,`, `|` or `;` where wanted: `+4915112345678,Ada,12`. */
  readonly quick_contacts?: readonly (string)[];
  /** The CSV itself: a header row and at least one data row. */
  readonly csv_contacts_string?: string;
  /** What an upload answered. */
  readonly csv_file_key?: string;
  /** The address that an upload answered, or a public one. */
  readonly csv_file_url?: string;
  /** Which column holds what. */
  readonly csv_mapping?: CsvMapping;
  /** For `failed_contacts`: the campaign whose failed recipients are the audience. */
  readonly failed_campaign_id?: string;
  /** Failed recipients by reason. */
  readonly failed_reasons?: readonly (string)[];
  /** Which field or text fills which variable. */
  readonly variable_mapping?: VariableMapping;
  /** When to send, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at?: string | null;
  /** The hours in which the campaign sends; without it only the workspace’s hold. */
  readonly sending_window?: SendingWindow;
  /** True: the workspace's sending window for MARKETING templates does not apply. With an operator's key only */
  readonly ignore_quiet_hours?: boolean;
};

export type ChosenWebhookStatus = "active" | "inactive";

export type Consent = {
  /** False for an opt-out, true for an opt-in. */
  readonly subscribed: boolean;
  /** `person`: by a message, or by the setting in the app. `api`: by a request. */
  readonly source: ConsentSource;
  /** When it was decided. */
  readonly at: string;
};

export type ConsentPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Consent)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

export type ConsentSource = "person" | "api";

export type Contact = {
  /** Identifies the record. */
  readonly id: string;
  /** First name; empty or null when unknown. */
  readonly firstName: string;
  /** Last name; empty or null when unknown. */
  readonly lastName: string;
  /** The name that the person shows in the chat. */
  readonly chatName: string;
  /** E-mail address; empty or null when unknown. */
  readonly email: string;
  /** National digits. */
  readonly phoneNumber: string;
  /** Calling code: digits in records and events, `+<digits>` in single sends. */
  readonly countryCode: string;
  /** Where it comes from. */
  readonly source: string;
  /** False after an opt-out: campaigns skip the contact. */
  readonly subscribed: boolean;
  /** Fields of the workspace’s own; the list replaces the one before. */
  readonly customFields: readonly (CustomField)[];
  /** Tag ids; the list replaces the one before. */
  readonly tagsId: readonly (string)[];
  /** Date of birth; null when unknown. */
  readonly dob: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

export type ContactCreatedEvent = {
  /** Always `contact.created`. */
  readonly eventKey: "contact.created";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: ContactData;
};

export type ContactData = {
  /** The contact as it is after the change. */
  readonly contact: Contact;
};

export type ContactExport = {
  /** The contact as it is after the change. */
  readonly contact: Contact;
  /** The ids by which the provider knows the person, beside the number. */
  readonly providerIds: readonly (string)[];
  /** The conversations with the person, oldest first. */
  readonly conversations: readonly ({ readonly [key: string]: unknown })[];
  /** The messages outside campaigns, inbound ones included, oldest first. */
  readonly messages: readonly ({ readonly [key: string]: unknown })[];
  /** The person’s places in campaigns, oldest first. */
  readonly campaignMessages: readonly ({ readonly [key: string]: unknown })[];
};

export type ContactExportResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: ContactExport;
};

export type ContactFilters = {
  /** Conditions on contacts; see `match`. */
  readonly conditions: readonly (SegmentCondition)[];
  /** Whether all conditions must hold, or any; default `all` */
  readonly match?: FilterMatch | null;
};

export type ContactMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: Contact;
};

export type ContactPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Contact)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

export type ContactResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Contact;
};

export type ContactSelectionType = "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";

export type ContactUpdatedEvent = {
  /** Always `contact.updated`. */
  readonly eventKey: "contact.updated";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: ContactData;
};

export type Conversation = {
  /** Identifies the record. */
  readonly id: string;
  /** The contact. */
  readonly contactId: string;
  /** The sending number’s channel. */
  readonly channelId: string;
  /** The provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Where it stands. */
  readonly status: ConversationStatus;
  /** What it is assigned to. */
  readonly assignmentType: AssignmentType;
  /** The user, team or bot it is assigned to; null for nobody. */
  readonly assignedTo: Assignee | null;
  /** Who answers in the conversation. */
  readonly chatMode: ChatMode;
  /** First and last name of the contact, else its chat name; may be empty. */
  readonly contactName: string;
  /** Digits with country code. */
  readonly contactPhoneNumber: string | null;
  /** When the last message came or went. */
  readonly lastMessageAt: string | null;
  /** When the contact wrote last: 24 hours from then on it may be answered without a template. */
  readonly lastInboundAt: string | null;
  /** When it was closed; null unless it is. */
  readonly closedAt: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

export type ConversationAssignedData = {
  /** The conversation. */
  readonly conversationId: string;
  /** The sending number’s channel. */
  readonly channelId: string;
  /** The provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** The contact. */
  readonly contactId: string;
  /** What it is assigned to. */
  readonly assignmentType: AssignmentType;
  /** The user, team or bot it is assigned to; null for nobody. */
  readonly assignedTo: Assignee | null;
  /** Who assigned it; null when nobody did by hand. */
  readonly assignedBy: Actor | null;
  /** Who answers in the conversation. */
  readonly chatMode: ChatMode;
  /** Where it comes from. */
  readonly source: AssignmentSource;
};

export type ConversationAssignedEvent = {
  /** Always `conversation.assigned`. */
  readonly eventKey: "conversation.assigned";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: ConversationAssignedData;
};

export type ConversationMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: Conversation;
};

export type ConversationPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Conversation)[];
  /** Where this page stands in the list. */
  readonly pagination: Pagination;
};

export type ConversationResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Conversation;
};

export type ConversationStatus = "open" | "resolved" | "closed";

export type ConversationStatusChangedData = {
  /** The conversation. */
  readonly conversationId: string;
  /** The sending number’s channel. */
  readonly channelId: string;
  /** The provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** The contact. */
  readonly contactId: string;
  /** The status before the change. */
  readonly previousStatus: ConversationStatus;
  /** The status after the change. */
  readonly newStatus: ConversationStatus;
  /** When it was closed; null unless it is. */
  readonly closedAt: string | null;
  /** Who changed it; null when nobody did by hand. */
  readonly changedBy: Actor | null;
};

export type ConversationStatusChangedEvent = {
  /** Always `conversation.status_changed`. */
  readonly eventKey: "conversation.status_changed";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: ConversationStatusChangedData;
};

export type CountSegment = {
  /** At most 65536 bytes as JSON. */
  readonly conditions: readonly (SegmentCondition)[];
  /** `all` conditions, or `any` of them. */
  readonly match?: FilterMatch;
};

export type CreateCampaign = {
  /** The name. */
  readonly name: string;
  /** An approved template of the channel’s business account. */
  readonly template_id: string;
  /** Where the audience comes from. */
  readonly contact_selection_type: ContactSelectionType;
  /** Now, or at `scheduled_at`. */
  readonly send_type: SendType;
  /** A note of the sender’s own. */
  readonly description?: string;
  /** Must not be sent: the API key of a channel supplies it. */
  readonly channel_id?: unknown;
  /** Must not be sent: the API key of a channel supplies it. */
  readonly phone_number_id?: unknown;
  /** Narrows `segmented`: only contacts that meet these conditions, too. */
  readonly contact_filters?: ContactFilters;
  /** Segment ids, at most 100; contacts of any of them are included. All conditions together hold at most 10,000 values. */
  readonly segments?: readonly (string)[];
  /** Phone numbers in international form, each with values of the body’s variables after `,`, `|` or `;` where wanted: `+4915112345678,Ada,12`. */
  readonly quick_contacts?: readonly (string)[];
  /** The CSV itself: a header row and at least one data row. */
  readonly csv_contacts_string?: string;
  /** What an upload answered. */
  readonly csv_file_key?: string;
  /** The address that an upload answered, or a public one. */
  readonly csv_file_url?: string;
  /** Which column holds what. */
  readonly csv_mapping?: CsvMapping;
  /** For `failed_contacts`: the campaign whose failed recipients are the audience. */
  readonly failed_campaign_id?: string;
  /** For `failed_contacts`: only recipients that failed for these reasons. */
  readonly failed_reasons?: readonly (string)[];
  /** Which field or text fills which variable. */
  readonly variable_mapping?: VariableMapping;
  /** When to send, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at?: string | null;
  /** The hours in which the campaign sends; without it only the workspace’s hold. */
  readonly sending_window?: SendingWindow;
  /** True: the workspace's sending window for MARKETING templates does not apply. With an operator's key only */
  readonly ignore_quiet_hours?: boolean;
};

export type CreateContact = {
  /** National digits, or international ones with a plus sign. */
  readonly phoneNumber: string;
  /** A calling code, with or without a plus sign. */
  readonly countryCode?: string;
  /** First name; empty or null when unknown. */
  readonly firstName?: string;
  /** Last name; empty or null when unknown. */
  readonly lastName?: string;
  /** The name that the person shows in the chat. */
  readonly chatName?: string;
  /** E-mail address; empty or null when unknown. */
  readonly email?: string;
  /** False after an opt-out: campaigns skip the contact. */
  readonly subscribed?: boolean;
  /** Fields of the workspace’s own; the list replaces the one before. */
  readonly customFields?: readonly (CustomFieldValue)[];
  /** Tag ids; the list replaces the one before. */
  readonly tagsId?: readonly (string)[];
  /** Date of birth; null when unknown. */
  readonly dob?: string | null;
};

export type CreatedCampaign = {
  /** Always `success`. */
  readonly status: "success";
  /** Always `201`. */
  readonly code: 201;
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: CreatedCampaignData;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
};

export type CreatedCampaignData = {
  /** The campaign as it was created. */
  readonly campaign: NewCampaign;
  /** What can be said before the audience is prepared. */
  readonly summary: CampaignSummary;
};

export type CreateSegment = {
  /** The name. */
  readonly name: string;
  /** At most 65536 bytes as JSON. */
  readonly conditions: readonly (SegmentCondition)[];
  /** `all` conditions, or `any` of them. */
  readonly match?: FilterMatch;
};

export type CreateTag = {
  /** The name. */
  readonly name: string;
  /** Hex colour of the name. */
  readonly text_color?: string;
  /** Hex colour behind the name. */
  readonly background_color?: string;
  /** The id of the user who creates it; the key’s id where absent. */
  readonly createdBy?: string;
};

export type CreateWebhook = {
  /** A name for people. */
  readonly title: string;
  /** Where deliveries go: http or https, at a public address. */
  readonly url: string;
  /** The events that are delivered to the URL. */
  readonly events: readonly (EventKey)[];
  /** Where it stands. */
  readonly status?: ChosenWebhookStatus;
  /** Signs deliveries. `whsec_` and the Base64 of 24 to 64 random bytes suits the libraries of Standard Webhooks; of any other text the UTF-8 bytes are the key. Null removes it. */
  readonly secret?: string | null;
};

export type CsvFile = {
  /** What an upload answered. */
  readonly csv_file_key: string;
  /** The address that an upload answered, or a public one. */
  readonly csv_file_url: string;
  /** In bytes. */
  readonly size: number;
  /** Data rows that were looked at, of the beginning of the file. */
  readonly rows_sampled: number;
  /** The cells of the header row. */
  readonly headers: readonly (string)[];
};

export type CsvFileResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: CsvFile;
};

export type CsvMapping = {
  /** 0-based index of the column */
  readonly phone_column: number;
  /** 0-based index of the column of calling codes or countries: `49`, `+49`, `0049`, `DE`. Not looked at for numbers that begin with `+`: a file of such numbers names its phone column here, too */
  readonly country_code_column: number;
  /** 0-based index of the column */
  readonly name_column?: number | null;
  /** 0-based index of the column */
  readonly email_column?: number | null;
  /** Custom field name to 0-based column. */
  readonly custom_field_mapping?: { readonly [key: string]: number } | null;
};

export type CsvPreview = {
  /** What stands between the cells of a row: a comma, a semicolon, a tab or a bar. */
  readonly delimiter: string;
  /** The names of the first 500 columns, cut where they are long */
  readonly headers: readonly (string)[];
  /** The `csv_mapping` of the request, else the guessed one */
  readonly mapping: CsvMapping;
  /** How sure the guess is, 0 to 1, by the field of the mapping */
  readonly confidence: { readonly [key: string]: number };
  /** The first ten, fewer where they are long; of each the first 500 cells */
  readonly rows: readonly (CsvPreviewRow)[];
  /** How many rows would be skipped, by reason */
  readonly reasons: { readonly [key: string]: number };
  /** Every row that would be skipped, of those that were read; empty unless `with_skipped_rows` is true */
  readonly skipped_rows: readonly (CsvSkippedRow)[];
  /** How many data rows were read. */
  readonly rows_read: number;
  /** False: the file has more rows than were read */
  readonly is_whole: boolean;
  /** Why the template does not take the variable mapping */
  readonly problems: readonly (FieldProblem)[];
};

export type CsvPreviewResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: CsvPreview;
};

export type CsvPreviewRow = {
  /** The line of the file that the row begins on. */
  readonly line: number | null;
  /** The cells of the row; empty for a row that is no CSV. */
  readonly cells: readonly (string)[];
  /** Digits with calling code. */
  readonly phone_number: string | null;
  /** Why the row would be skipped; null where it would not. */
  readonly reason: SkipReason | null;
  /** What the reason is about: the number as it was written, the variable that is empty, the code or the words of the provider; null without. */
  readonly reason_detail: string | null;
  /** The message as the person would read it; null without a template, and of a row that is skipped. */
  readonly message: MessagePreview | null;
};

export type CsvSkippedRow = {
  /** The line of the file that the row begins on. */
  readonly line: number | null;
  /** Digits with calling code. */
  readonly phone_number: string | null;
  /** Why it is in this state; null where it needs no reason. */
  readonly reason: SkipReason;
  /** What the reason is about: the number as it was written, the variable that is empty, the code or the words of the provider; null without. */
  readonly reason_detail: string | null;
};

export type CursorPagination = {
  /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
  readonly limit: number;
  /** What the next page is asked for with; null at the end. */
  readonly nextCursor: string | null;
};

export type CustomField = {
  /** The name of the custom field. */
  readonly fieldId: string;
  /** The value. */
  readonly value: string;
};

export type CustomFieldValue = {
  /** The name of the custom field. */
  readonly fieldId: string;
  /** The value. */
  readonly value: string;
};

export type DeliveredEvent = {
  /** Always `delivered`. */
  readonly eventKey: "delivered";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: MessageStatusData;
};

export type Delivery = {
  /** Identifies the record. */
  readonly id: string;
  /** The webhook configuration. */
  readonly webhookId: string;
  /** The event that is delivered. */
  readonly eventId: string;
  /** What happened. */
  readonly eventKey: string;
  /** Where it stands. */
  readonly state: DeliveryState;
  /** Why it failed; null unless it did. */
  readonly errorCode: DeliveryErrorCode | null;
  /** The receiver’s HTTP status; null without one. */
  readonly responseStatus: number | null;
  /** The beginning of the receiver’s answer; null without one. */
  readonly responseExcerpt: string | null;
  /** Milliseconds from dialling to the answer’s end; null before the attempt. */
  readonly durationMs: number | null;
  /** When the request left; null while it has not. */
  readonly attemptedAt: string | null;
  /** When it was created. */
  readonly createdAt: string;
};

export type DeliveryDetail = {
  /** Identifies the record. */
  readonly id: string;
  /** The webhook configuration. */
  readonly webhookId: string;
  /** The event that is delivered. */
  readonly eventId: string;
  /** What happened. */
  readonly eventKey: string;
  /** Where it stands. */
  readonly state: DeliveryState;
  /** Why it failed; null unless it did. */
  readonly errorCode: DeliveryErrorCode | null;
  /** The receiver’s HTTP status; null without one. */
  readonly responseStatus: number | null;
  /** The beginning of the receiver’s answer; null without one. */
  readonly responseExcerpt: string | null;
  /** Milliseconds from dialling to the answer’s end; null before the attempt. */
  readonly durationMs: number | null;
  /** When the request left; null while it has not. */
  readonly attemptedAt: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** The body as it is sent; null when the event is too old to be kept */
  readonly payload: string | null;
};

export type DeliveryDetailResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: DeliveryDetail;
};

/** blocked_address: The address is private, or reserved for the network of this service. Use a public address. dns_error: The host name does not resolve. Correct the URL or the DNS record. dns_timeout: The name servers did not answer in time. Check the name servers of the domain, then resend. connection_refused: Nothing listens at the address and port. Start the receiver or correct the port, then resend. connection_reset: The connection broke before the answer was complete. Look into the log of the receiver and its proxies, then resend. tls_error: The TLS handshake failed or the certificate is not valid. Renew or complete the certificate chain, then resend. timeout: No answer came within five seconds. Answer first and process the event afterwards. redirect: The receiver answered with a redirect. Set the URL to its target. non_2xx: The receiver answered with a status other than 2xx. Look at `responseStatus` and `responseExcerpt`, correct the receiver, then resend. protocol_error: The answer is not valid HTTP. Check that the port serves HTTP, or HTTPS for an https URL. payload_too_large: The event is larger than 256 KB and was not sent. Read the record by its id over the API. endpoint_inactive: The webhook was inactive or deleted when the delivery was due. Activate the webhook, then resend. disabled: The webhook was disabled because it had only failed for days. Repair the receiver, set the webhook to active, then resend. interrupted: The service stopped during the attempt: the receiver may have got the event. Resend it; `webhook-id` lets the receiver recognise a repetition. expired: The delivery waited too long for its attempt. Make the receiver faster, then resend. erased: The person of the event was erased before the delivery. Nothing: the event no longer exists. */
export type DeliveryErrorCode = "blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "disabled" | "interrupted" | "expired" | "erased";

export type DeliveryMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: Delivery;
};

export type DeliveryPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Delivery)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

/** pending: its turn has not come. delivered: answered 2xx within five seconds. failed: everything else; it can be sent again. */
export type DeliveryState = "pending" | "sending" | "delivered" | "failed";

export type DiagnosisCheck = "STATUS" | "PREPARATION" | "SCHEDULE" | "SENDING_WINDOW" | "QUOTA" | "TEMPLATE" | "CHANNEL" | "PACE" | "WALLET" | "WORKER";

export type DiagnosisEntry = {
  /** What was looked at. */
  readonly check: DiagnosisCheck;
  /** False where it stands in the way of sending. */
  readonly ok: boolean;
  /** What is so, in a sentence. */
  readonly detail: string;
  /** What would change it; null where there is nothing to do. */
  readonly action: string | null;
  /** Of the check of the wallet: what it lacks to send to all who wait; absent where nothing is missing */
  readonly missing?: string;
};

/** What went wrong, for programs. Stable: codes may be added, none changes its meaning. */
export type ErrorCode = "unauthorized" | "jwt_not_allowed" | "forbidden" | "validation_failed" | "malformed_request" | "name_required" | "channel_required" | "schedule_in_past" | "feature_unavailable" | "quota_exhausted" | "insufficient_balance" | "provider_rejected" | "template_not_found" | "template_not_approved" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "idempotency_conflict" | "idempotency_mismatch" | "too_large" | "unsupported_media_type" | "expectation_failed" | "rate_limited" | "messaging_limit" | "provider_unreachable" | "outcome_unknown" | "unavailable" | "internal_error";

export type EventDescription = {
  /** What happened. */
  readonly eventKey: EventKey;
  /** When the event is emitted. */
  readonly description: string;
  /** JSON Schema 2020-12 of the request body. */
  readonly schema: { readonly [key: string]: unknown };
  /** A request body as it is delivered. */
  readonly example: { readonly [key: string]: unknown };
};

export type EventKey = "incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed";

export type FailedEvent = {
  /** Always `failed`. */
  readonly eventKey: "failed";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: MessageStatusData;
};

export type FieldProblem = {
  /** The field, in dot form, such as `variable_mapping.body.1`. */
  readonly field: string;
  /** What is wrong and how to mend it. */
  readonly message: string;
};

export type FilterMatch = "all" | "any";

export type FilterOperator = "eq" | "neq" | "contains" | "not_contains" | "starts_with" | "in" | "not_in" | "gt" | "gte" | "lt" | "lte" | "exists" | "not_exists";

export type GetCampaignDiagnosisResult = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (DiagnosisEntry)[];
};

export type GetCampaignTimelineResult = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (TimelinePart)[];
};

export type GetHealthResult = {
  /** Always `ok`. */
  readonly status: "ok";
};

export type GetReadinessResult = {
  /** Always `ready`. */
  readonly status: "ready";
};

export type GetSendingWindowResult = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: SendingWindow | null;
};

/** Text variables by position or name; `link` or `id` of a media file, with `filename` for a document; `latitude`, `longitude`, `name` and `address` of a location; `product` of a product header. */
export type HeaderValues = {
  /** The public address of a media file. */
  readonly link?: string;
  /** The provider’s id of an uploaded media file, instead of `link`. */
  readonly id?: string;
  /** The name that a document is shown with. */
  readonly filename?: string;
  /** Of a location, in degrees. */
  readonly latitude?: string;
  /** Of a location, in degrees. */
  readonly longitude?: string;
  /** The name. */
  readonly name?: string;
  /** Of a location, as people read it. */
  readonly address?: string;
  /** The product that the header shows. */
  readonly product?: {
    /** The product’s id in the catalogue. */
    readonly product_retailer_id?: string;
    /** The provider’s id of the catalogue. */
    readonly catalog_id?: string;
  };
};

export type HistoryCampaign = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name: string;
};

export type HistoryItem = {
  /** Identifies the record. */
  readonly id: string;
  /** When the message was accepted, received or refused. */
  readonly at: string;
  /** Whether the contact sent it (`inbound`) or got it (`outbound`). */
  readonly direction: MessageDirection;
  /** The provider’s type, such as `template`, `text` or `image`. */
  readonly type: string;
  /** A recipient’s state, or `RECEIVED` for an inbound message. */
  readonly state: string;
  /** Why an outbound message failed. */
  readonly reason: string | null;
  /** The words of an inbound message; null where it has none. */
  readonly text: string | null;
  /** The template of an outbound message. */
  readonly template: HistoryTemplate | null;
  /** The campaign that an outbound message belongs to. */
  readonly campaign: HistoryCampaign | null;
};

export type HistoryItemPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (HistoryItem)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

export type HistoryTemplate = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name: string;
};

export type InboundMessage = {
  /** The provider’s id of the message. */
  readonly id: string;
  /** The sender’s number, digits with calling code. */
  readonly from: string;
  /** Seconds since 1970, as text. */
  readonly timestamp: string;
  /** The provider’s kind of message, such as `text` or `image`. */
  readonly type: string;
  /** The text of a message of type `text`. */
  readonly text?: MessageText;
};

export type IncomingData = {
  /** The message as it came. */
  readonly message: InboundMessage;
  /** The provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Our id of the message. */
  readonly messageId: string;
  /** The campaign whose message the person replied to; null where it replies to none. */
  readonly campaignId: string | null;
  /** The contact. */
  readonly contactId: string | null;
  /** The conversation. */
  readonly conversationId: string | null;
  /** The provider’s notification as it came. */
  readonly providerEvent: ProviderNotification;
};

export type IncomingEvent = {
  /** Always `incoming`. */
  readonly eventKey: "incoming";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: IncomingData;
};

export type LedgerEntry = {
  /** Identifies the record. */
  readonly id: string;
  /** The sending number’s channel. */
  readonly channel_id: string;
  /** Why the balance moved. */
  readonly kind: LedgerEntryKind;
  /** Decimal text in the wallet’s currency, with up to six places. */
  readonly amount: string;
  /** The campaign it was for; null where it was for none. */
  readonly campaign_id: string | null;
  /** Our id of the message; null where none was made. */
  readonly message_id: string | null;
  /** How many messages it was for; null where it was for none. */
  readonly message_count: number | null;
  /** What was written beside it; null without. */
  readonly reason: string | null;
  /** When it was created. */
  readonly created_at: string;
};

export type LedgerEntryKind = "recharge" | "adjustment" | "charge" | "refund" | "correction";

export type LedgerEntryPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (LedgerEntry)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

export type LimitedTimeOffer = {
  /** Milliseconds since 1970, in the future. */
  readonly expiration_time_ms?: number;
};

export type ListChannelsResult = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Channel)[];
};

export type ListWebhookEventsResult = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (EventDescription)[];
};

export type Media = {
  /** Identifies the record. */
  readonly id: string;
  /** Media type of the file. */
  readonly mime_type: string;
  /** In bytes. */
  readonly size: number;
};

export type MediaResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Media;
};

export type Message = {
  /** Our id of the message; `messageId` of its events. */
  readonly id: string;
  /** `inbound`: written by the person. */
  readonly direction: MessageDirection;
  /** Who sent it; `contact` is the person. */
  readonly source: MessageOrigin;
  /** Where it stands. */
  readonly state: MessageState;
  /** Why it failed or its outcome is unknown; null otherwise. */
  readonly reason: RecipientReason | null;
  /** The provider’s words beside the reason; null without. */
  readonly reasonDetail: string | null;
  /** The sending number’s channel. */
  readonly channelId: string;
  /** The provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Digits of the other side with calling code; null of a person without a number. */
  readonly phoneNumber: string | null;
  /** The contact on the other side; null for a number that is no contact. */
  readonly contactId: string | null;
  /** The conversation it belongs to; null where there was none. */
  readonly conversationId: string | null;
  /** The campaign that it belongs to, that it tests, or whose message it answers; null without. */
  readonly campaignId: string | null;
  /** The template that was sent; null for other messages. */
  readonly templateId: string | null;
  /** The provider’s kind of message, such as `template`, `text` or `image`. */
  readonly type: string;
  /** The text of a message of people; null for templates and for media without a caption. */
  readonly text: string | null;
  /** The provider’s id of the message; null when it gave none. */
  readonly providerMessageId: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

export type MessageDirection = "outbound" | "inbound";

export type MessageOrigin = "campaign" | "api" | "inbox" | "chatbot" | "assistant" | "app" | "unknown" | "contact";

export type MessagePage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Message)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

export type MessagePreview = {
  /** `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT`, … */
  readonly headerFormat: string | null;
  /** The text, the address of the media, or the id of the product */
  readonly header: string | null;
  /** The text; null where the template has none. */
  readonly body: string | null;
  /** The buttons, in order. */
  readonly buttons: readonly (PreviewButton)[];
  /** What stands below the text; null where the template has none. */
  readonly footer: string | null;
  /** The cards of a carousel, in order. */
  readonly cards: readonly (PreviewCard)[];
};

export type MessagePrice = {
  /** The provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
  readonly category: string;
  /** ISO 3166 alpha-2; null is every other country. */
  readonly country: string | null;
  /** Of one message, as decimal text. */
  readonly price: string;
};

export type MessagePricing = unknown;

export type MessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Message;
};

/** Who sent the message that the status is of; unknown where it is not one of ours. */
export type MessageSource = "campaign" | "api" | "inbox" | "chatbot" | "assistant" | "app" | "unknown";

export type MessageState = "PENDING" | "CLAIMED" | "ACCEPTED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | "CANCELLED" | "SKIPPED" | "RECEIVED";

export type MessageStatus = {
  /** The provider’s id of the message. */
  readonly id: string;
  /** sent, delivered, read or failed. */
  readonly status: string;
  /** Seconds since 1970, as text. */
  readonly timestamp: string;
  /** The recipient’s number, digits with calling code. */
  readonly recipient_id: string;
  /** What the provider charges; with some statuses only. */
  readonly pricing?: MessagePricing;
  /** Why it failed, in the provider’s words; `failed` alone. */
  readonly errors?: readonly ({ readonly [key: string]: unknown })[];
  /** Our id of the message, where the provider returns it. */
  readonly biz_opaque_callback_data?: string;
};

export type MessageStatusData = {
  /** Where it stands. */
  readonly status: MessageStatus;
  /** The provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Who sent the message. */
  readonly messageSource: MessageSource;
  /** Our id of the message; null where the message is not ours. */
  readonly messageId: string | null;
  /** The campaign of the message; null for single sends and for test messages of a campaign. */
  readonly campaignId: string | null;
  /** The contact. */
  readonly contactId: string | null;
  /** The provider’s notification as it came. */
  readonly providerEvent: ProviderStatuses;
};

export type MessageText = {
  /** The text. */
  readonly body: string;
};

export type NewCampaign = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name: string;
  /** A note of the sender’s own. */
  readonly description: string | null;
  /** An approved template of the channel’s business account. */
  readonly template_id: string;
  /** Where the audience comes from. */
  readonly contact_selection_type: ContactSelectionType;
  /** Recipients that can be sent to; 0 until they are prepared. */
  readonly total_contacts: number;
  /** Rows that were skipped. */
  readonly total_contacts_skipped: number;
  /** Whether the list of recipients is ready. */
  readonly preparation_status: PreparationStatus;
  /** Rises with each preparation; 1 at creation. */
  readonly preparation_version: number;
  /** Rises when the set of recipients changes; 1 at creation. */
  readonly audience_version: number;
  /** Where it stands. */
  readonly status: CampaignStatus;
  /** Now, or at `scheduled_at`. */
  readonly send_type: SendType;
  /** When to send, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at: string | null;
  /** The workspace. */
  readonly workspace_id: number;
  /** True for campaigns created by this API. */
  readonly is_auto_trigger: boolean;
  /** When it was created. */
  readonly created_at: string;
  /** When it last changed. */
  readonly updated_at: string;
  /** Its own; null where only the workspace’s holds */
  readonly sending_window?: SendingWindow | null;
  /** True: an operator has excepted it from the workspace’s sending window */
  readonly ignore_quiet_hours?: boolean;
  /** Until it has begun: when it may, which is `scheduled_at` or the creation, or the next opening of the sending window */
  readonly begins_at?: string | null;
};

export type Notice = {
  /** Identifies the record. */
  readonly id: string;
  /** What it tells of. */
  readonly kind: NoticeKind;
  /** The record it is about. */
  readonly subject: NoticeSubject;
  /** A sentence or two for people. */
  readonly message: string;
  /** When it was created. */
  readonly createdAt: string;
  /** When it was marked as read; null while unread. */
  readonly readAt: string | null;
};

export type NoticeKind = "template_status" | "template_category" | "channel_blocked" | "channel_quality" | "messaging_limit" | "webhook_disabled" | "campaign_paused" | "campaign_failed";

export type NoticePage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Notice)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

export type NoticeSubject = {
  /** Which kind. */
  readonly type: NoticeSubjectType;
  /** Identifies the record. */
  readonly id: string;
  /** As the subject was called at the time. */
  readonly name: string;
};

export type NoticeSubjectType = "template" | "channel" | "business_account" | "webhook" | "campaign";

export type OfferExpiry = {
  /** When the offer ends, in milliseconds since 1970. */
  readonly expiration_time_ms: number;
};

export type Overview = {
  /** The parts of the span in which something happened; `at` is their beginning */
  readonly points: readonly (OverviewPoint)[];
  /** The sum of the points */
  readonly totals: OverviewTotals;
  /** What each campaign did in the span; those that sent most first */
  readonly campaigns: readonly (OverviewCampaign)[];
};

export type OverviewCampaign = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name: string;
  /** Accepted by the provider; no receipt has come yet. */
  readonly accepted: number;
  /** Delivered to the person’s device. */
  readonly delivered: number;
  /** Read by the person. */
  readonly read: number;
  /** Refused, or reported as failed by a receipt. */
  readonly failed: number;
  /** What recipients were charged, less what was given back */
  readonly charged: string;
};

export type OverviewInterval = "day" | "hour";

export type OverviewPoint = {
  /** When: the beginning of the part, or the instant at which the status was first told; null where that was not kept. */
  readonly at: string;
  /** Accepted by the provider; no receipt has come yet. */
  readonly accepted: number;
  /** Delivered to the person’s device. */
  readonly delivered: number;
  /** Read by the person. */
  readonly read: number;
  /** Refused, or reported as failed by a receipt. */
  readonly failed: number;
  /** What recipients were charged, less what was given back */
  readonly charged: string;
};

export type OverviewResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Overview;
};

export type OverviewTotals = {
  /** Accepted by the provider; no receipt has come yet. */
  readonly accepted: number;
  /** Delivered to the person’s device. */
  readonly delivered: number;
  /** Read by the person. */
  readonly read: number;
  /** Refused, or reported as failed by a receipt. */
  readonly failed: number;
  /** What recipients were charged, less what was given back */
  readonly charged: string;
};

export type Pagination = {
  /** Which page, from 1; page × limit is at most 100,000. */
  readonly page: number;
  /** How many a page holds at most: without it 10 of a list by page, 100 of one by cursor. A list by cursor ends a page at 4 MiB all the same: the cursor goes on from there. */
  readonly limit: number;
  /** How many there are in all; counted up to 10,000, tags and webhooks to the last. */
  readonly total: number;
  /** Pages in all; 0 where there is nothing. */
  readonly totalPages: number;
};

/** INSUFFICIENT_BALANCE: The wallet of the channel does not cover the next message. Recharge the wallet, then start the campaign. BROADCAST_QUOTA: The broadcasts of this month are used up. Start the campaign next month, or ask the operator for a larger quota. TEMPLATE_UNAVAILABLE: The template is no longer approved, or the provider refuses it. Have the template approved again, then start the campaign. CHANNEL_BLOCKED: The channel is blocked, or the provider refuses its number or access token. Have the operator unblock the channel, then start the campaign. MESSAGE_REJECTED: The provider rejected a hundred messages in a row as malformed. Correct the mapping in a new campaign; `start` with `{"force": true}` sends on as it is. RECORD_RESTORED: The database was restored from a backup, and messages of the lost time may have been sent. Have the operator settle the restore with the doctor, then start the campaign. OPERATOR: Somebody paused the campaign. Start it when it should go on. */
export type PauseReason = "INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "MESSAGE_REJECTED" | "RECORD_RESTORED" | "OPERATOR";

export type PayloadSkeleton = {
  /** The template. */
  readonly templateId: string;
  /** Digits with calling code, without `+` and spaces; null of a person without a number. */
  readonly recipientPhoneNumber: string;
  /** Calling code: digits in records and events, `+<digits>` in single sends. */
  readonly countryCode: string;
  /** Values by section, for every kind of template; not beside `variables`. */
  readonly variableMapping: SkeletonMapping;
};

export type PayloadSkeletonResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: PayloadSkeleton;
};

export type PreparationError = {
  /** Why the audience could not be prepared. */
  readonly code: PreparationErrorCode;
  /** The same in words, with how many were skipped for which reason. */
  readonly message: string;
};

/** AUDIENCE_EMPTY: No recipient is left that can be sent to. Look at `skipped_reasons`, and create the campaign with another audience. CSV_UNREADABLE: The CSV cannot be read. Correct what the message names, and upload the file again. CSV_COLUMN_OUT_OF_RANGE: `csv_mapping` names a column that the CSV does not have. Correct `csv_mapping`; columns count from 0. TEMPLATE_NOT_FOUND: The template no longer exists. Choose a template of GET /api/templates. FILE_NOT_FOUND: The file of `csv_file_key` or `csv_file_url` does not exist. Upload the file again. FILE_TOO_LARGE: The file is larger than the service reads. Split the file over several campaigns. FILE_FETCH_REFUSED: The address of `csv_file_url` may not be fetched, or it redirects. Use a public address without a redirect, or upload the file. */
export type PreparationErrorCode = "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED";

export type PreparationStatus = "PREPARING" | "READY" | "FAILED";

export type PreviewButton = {
  /** The provider’s kind of button, such as `URL`. */
  readonly type: string;
  /** The text of a message of type `text`. */
  readonly text: string;
  /** Where it leads: the filled URL, or the number; null for others. */
  readonly target: string | null;
};

export type PreviewCampaignCsv = {
  /** Which column holds what. */
  readonly csv_mapping?: CsvMapping;
  /** An approved template of the channel’s business account. */
  readonly template_id?: string;
  /** Which field or text fills which variable. */
  readonly variable_mapping?: VariableMapping;
  /** True to get `skipped_rows` */
  readonly with_skipped_rows?: boolean;
};

export type PreviewCard = {
  /** `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT`, … */
  readonly headerFormat: string | null;
  /** The text, the address of the media, or the id of the product */
  readonly header: string | null;
  /** The text of the card; null where it has none. */
  readonly body: string | null;
  /** The buttons of the card, in order. */
  readonly buttons: readonly (PreviewButton)[];
};

export type PreviewTemplate = {
  /** Which field or text fills which variable. */
  readonly variable_mapping?: VariableMapping;
  /** The contact whose fields fill the variables. */
  readonly contact_id?: string;
};

export type ProviderChange = {
  /** What the provider notifies of, such as `messages`. */
  readonly field: string;
  /** The value. */
  readonly value: { readonly [key: string]: unknown };
};

export type ProviderEntry = {
  /** Identifies the record. */
  readonly id: string;
  /** What happened, as the provider told it. */
  readonly changes: readonly (ProviderChange)[];
};

export type ProviderNotification = {
  /** What the provider notifies of. */
  readonly object: string;
  /** One entry a business account, as the provider wrote it. */
  readonly entry: readonly (ProviderEntry)[];
};

export type ProviderRefusal = {
  /** The provider’s error code. */
  readonly providerCode: number;
  /** The provider’s words. */
  readonly details: string;
};

export type ProviderStatuses = {
  /** The one status, as the provider wrote it. */
  readonly statuses: readonly (MessageStatus)[];
};

/** Messages leave from `from` until before `to` by the wall clock of `timezone`, on each of `days` (default: all). A `to` before `from` is on the next day. */
export type PutSendingWindow = {
  /** IANA name; daylight saving is kept */
  readonly timezone: string;
  /** When sending begins, by the wall clock */
  readonly from: string;
  /** Before when sending ends; a time before `from` is on the next day */
  readonly to: string;
  /** The days of the week on which it opens. */
  readonly days?: readonly (WeekDay)[];
};

export type ReadEvent = {
  /** Always `read`. */
  readonly eventKey: "read";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: MessageStatusData;
};

export type ReadNotices = {
  /** The `createdAt` of the newest notice that was read. */
  readonly until: string;
};

export type ReceiveProviderCallbackResult = {
  /** Always `success`. */
  readonly status: "success";
};

export type RechargeWallet = {
  /** The sending number’s channel. */
  readonly channel_id: string;
  /** Decimal text in the wallet’s currency, with up to six places. */
  readonly amount: string;
};

export type Recipient = {
  /** Identifies the record. */
  readonly id: string;
  /** Digits with calling code. */
  readonly phone_number: string | null;
  /** The contact; null where the row names nobody that is known. */
  readonly contact_id: string | null;
  /** Where it stands. */
  readonly state: RecipientState;
  /** Why it is in this state; null where it needs no reason. */
  readonly reason: RecipientReason | null;
  /** What the reason is about: the number as it was written, the variable that is empty, the code or the words of the provider; null without. */
  readonly reason_detail: string | null;
  /** The line of the CSV on which the row begins, the header being 1; null without a CSV. */
  readonly line_number: number | null;
  /** Our id of the message; null where none was made. */
  readonly message_id: string | null;
  /** The provider’s id of the message; null before it accepted. */
  readonly provider_message_id: string | null;
  /** When it last changed. */
  readonly updated_at: string;
};

export type RecipientDetail = {
  /** Identifies the record. */
  readonly id: string;
  /** Digits with calling code. */
  readonly phone_number: string | null;
  /** The contact; null where the row names nobody that is known. */
  readonly contact_id: string | null;
  /** Where it stands. */
  readonly state: RecipientState;
  /** Why it is in this state; null where it needs no reason. */
  readonly reason: RecipientReason | null;
  /** What the reason is about: the number as it was written, the variable that is empty, the code or the words of the provider; null without. */
  readonly reason_detail: string | null;
  /** The line of the CSV on which the row begins, the header being 1; null without a CSV. */
  readonly line_number: number | null;
  /** Our id of the message; null where none was made. */
  readonly message_id: string | null;
  /** The provider’s id of the message; null before it accepted. */
  readonly provider_message_id: string | null;
  /** When it last changed. */
  readonly updated_at: string;
  /** What was sent, or will be; null before the audience is prepared, and for who is skipped */
  readonly message: MessagePreview | null;
  /** Each status with the time it was first told; null where that was not kept */
  readonly history: readonly (RecipientStatusTime)[];
};

export type RecipientDetailResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: RecipientDetail;
};

export type RecipientFormat = "csv";

export type RecipientPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Recipient)[];
  /** Where this page stands in the list. */
  readonly pagination: CursorPagination;
};

/** Why a message was skipped, failed or is of unknown outcome. PROVIDER_<code>: The provider refused the message, or failed to deliver it, with this code. Look up the code at the provider; `reason_detail` holds its words. PROVIDER_UNREACHABLE: The provider could not be reached; nothing was sent. Send to the recipient again, with `failed_contacts` or another request. OUTCOME_UNKNOWN: The provider did not answer: the message may have been sent. Wait for a receipt. Send again only if a second message does no harm. RATE_LIMITED: Too many single sends waited for the channel. Send the request again later. INVALID_PHONE: The phone number is no number of any country. Correct the number; the international form such as +4915112345678 is always understood. DUPLICATE: The number stands in the audience more than once. Nothing: the first one is sent to. UNSUBSCRIBED: The contact has opted out. Do not send to the contact until it opts in again. CONTACT_DELETED: The contact was deleted or erased. Register the contact again if it should be sent to. MISSING_VARIABLE: A variable of the template has no value for the contact. Fill the field of the contact, or give a value in `default_values`. MALFORMED_ROW: The row of the CSV cannot be read. Correct the row of `line_number`. BLOCKED_COUNTRY: The channel does not send to the country of the number. Ask the operator to allow the country, or use another channel. */
export type RecipientReason = string;

/** PENDING: waits to be sent to. CLAIMED: on its way to the provider. ACCEPTED: the provider took it. SENT, DELIVERED, READ: by its receipts. FAILED: refused, or failed later. UNKNOWN: the provider did not answer; a receipt settles it, and it is not sent again. CANCELLED, SKIPPED: never sent. */
export type RecipientState = "PENDING" | "CLAIMED" | "ACCEPTED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | "CANCELLED" | "SKIPPED";

export type RecipientStatusTime = {
  /** Where it stands. */
  readonly status: "accepted" | "sent" | "delivered" | "read" | "failed";
  /** When: the beginning of the part, or the instant at which the status was first told; null where that was not kept. */
  readonly at: string | null;
};

export type ResendFailedDeliveries = {
  /** From when on. */
  readonly since: string;
  /** Until before when. */
  readonly until: string;
};

export type ResentDeliveries = {
  /** How many deliveries were made anew. */
  readonly count: number;
};

export type ResentDeliveriesMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: ResentDeliveries;
};

export type Segment = {
  /** Identifies the record. */
  readonly id: string;
  /** The name. */
  readonly name: string;
  /** `all` conditions, or `any` of them. */
  readonly match: FilterMatch;
  /** Conditions on contacts; see `match`. */
  readonly conditions: readonly (SegmentCondition)[];
  /** When it was created. */
  readonly created_at: string;
  /** When it last changed. */
  readonly updated_at: string;
};

export type SegmentCondition = {
  /** A contact field, `tag` (by id), `custom.<fieldId>`, `createdAt` or `subscribed`. */
  readonly field: string;
  /** One of eq, neq, contains, not_contains, starts_with, in, not_in, gt, gte, lt, lte, exists, not_exists. */
  readonly operator: FilterOperator;
  /** What the field is compared with; absent for exists and not_exists. */
  readonly value?: unknown;
};

export type SegmentCount = {
  /** How many deliveries were made anew. */
  readonly count: number;
  /** False after an opt-out: campaigns skip the contact. */
  readonly subscribed: number;
};

export type SegmentCountResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: SegmentCount;
};

export type SegmentMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: Segment;
};

export type SegmentPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Segment)[];
  /** Where this page stands in the list. */
  readonly pagination: Pagination;
};

export type SegmentResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Segment;
};

/** Messages leave from `from` until before `to` by the wall clock of `timezone`, on each of `days` (default: all). A `to` before `from` is on the next day. */
export type SendingWindow = {
  /** IANA name; daylight saving is kept */
  readonly timezone: string;
  /** When sending begins, by the wall clock */
  readonly from: string;
  /** Before when sending ends; a time before `from` is on the next day */
  readonly to: string;
  /** The days of the week on which it opens. */
  readonly days?: readonly (WeekDay)[];
};

export type SendingWindowMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: SendingWindow;
};

/** To a phone number, or to the user id of a contact. */
export type SendTemplateMessage = SendToPhoneNumber | SendToUserId;

export type SendToPhoneNumber = {
  /** The template. */
  readonly templateId: string;
  /** The number in digits, its calling code first, without `+` and spaces. */
  readonly recipientPhoneNumber: string;
  /** The calling code with `+`; the number begins with its digits. */
  readonly countryCode: string;
  /** Values in the order header, body, buttons; not beside `variableMapping`. */
  readonly variables?: readonly (string)[];
  /** Values by section, for every kind of template; not beside `variables`. */
  readonly variableMapping?: VariableMapping;
};

export type SendToUserId = {
  /** The template. */
  readonly templateId: string;
  /** The provider’s id of a contact, whose number it may hide. */
  readonly recipientUserId: string;
  /** Values in the order header, body, buttons; not beside `variableMapping`. */
  readonly variables?: readonly (string)[];
  /** Values by section, for every kind of template; not beside `variables`. */
  readonly variableMapping?: VariableMapping;
};

export type SendType = "IMMEDIATE" | "SCHEDULED";

export type SentEvent = {
  /** Always `sent`. */
  readonly eventKey: "sent";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: MessageStatusData;
};

export type SentMessage = {
  /** Our id of the message; it travels to the provider and comes back in receipts. */
  readonly messageId: string;
  /** The provider’s id of the message; null when it gave none. */
  readonly providerMessageId: string | null;
  /** Where it stands. */
  readonly status: string;
  /** Digits with calling code, without `+` and spaces; null of a person without a number. */
  readonly recipientPhoneNumber: string | null;
  /** The provider’s id of the sending number. */
  readonly phoneNumberId: string;
};

export type SentMessageMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: SentMessage;
};

export type SkeletonMapping = {
  /** Values, or names of variables, of the template’s header. */
  readonly header: { readonly [key: string]: unknown };
  /** The variables of the body, with a text to be replaced. */
  readonly body: { readonly [key: string]: string };
  /** Values, or names of variables, of the template’s buttons. */
  readonly buttons: readonly ({ readonly [key: string]: unknown })[];
  /** When the offer of the template ends. */
  readonly limited_time_offer?: OfferExpiry;
  /** One entry a card, in the template’s order. */
  readonly carousel?: readonly ({ readonly [key: string]: unknown })[];
};

/** INVALID_PHONE: The phone number is no number of any country. Correct the number; the international form such as +4915112345678 is always understood. DUPLICATE: The number stands in the audience more than once. Nothing: the first one is sent to. UNSUBSCRIBED: The contact has opted out. Do not send to the contact until it opts in again. CONTACT_DELETED: The contact was deleted or erased. Register the contact again if it should be sent to. MISSING_VARIABLE: A variable of the template has no value for the contact. Fill the field of the contact, or give a value in `default_values`. MALFORMED_ROW: The row of the CSV cannot be read. Correct the row of `line_number`. BLOCKED_COUNTRY: The channel does not send to the country of the number. Ask the operator to allow the country, or use another channel. */
export type SkipReason = "INVALID_PHONE" | "DUPLICATE" | "UNSUBSCRIBED" | "CONTACT_DELETED" | "MISSING_VARIABLE" | "MALFORMED_ROW" | "BLOCKED_COUNTRY";

export type StartCampaign = {
  /** `true` starts a campaign that was paused as MESSAGE_REJECTED without any change of it. */
  readonly force?: boolean;
};

export type Tag = {
  /** Identifies the tag. */
  readonly tagId: string;
  /** The name. */
  readonly name: string;
  /** Hex colour of the name. */
  readonly text_color: string;
  /** Hex colour behind the name. */
  readonly background_color: string;
};

export type TagMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: Tag;
};

export type TagPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Tag)[];
  /** Where this page stands in the list. */
  readonly pagination: Pagination;
};

export type TagResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Tag;
};

export type Template = {
  /** Identifies the record. */
  readonly id: string;
  /** The business account at the provider that owns the template */
  readonly businessAccountId: string;
  /** The name. */
  readonly name: string;
  /** The template’s language, such as `en_US`. */
  readonly language: string;
  /** The provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
  readonly category: string;
  /** Where it stands. */
  readonly status: string;
  /** The provider’s id of the template. */
  readonly providerTemplateId: string;
  /** The provider’s rating of the template; null when it has told none. */
  readonly quality: string | null;
  /** The category that the provider has announced; null when none is. */
  readonly upcomingCategory: string | null;
  /** When the announced category takes effect; null when none is announced. */
  readonly upcomingCategoryAt: string | null;
  /** The definition as the provider gives it. */
  readonly components: readonly (unknown)[];
  /** Why the provider refused it */
  readonly rejectedReason: string | null;
  /** When it last changed. */
  readonly updatedAt: string;
};

export type TemplateChange = "STATUS" | "CATEGORY";

export type TemplateData = {
  /** What changed. */
  readonly type: TemplateChange;
  /** The provider’s id of the template. */
  readonly providerTemplateId: string;
  /** The status after the change. */
  readonly newStatus: string;
  /** The name. */
  readonly name: string;
  /** The template’s language, such as `en_US`. */
  readonly language: string;
  /** Why the provider decided so; null where it says nothing. */
  readonly reason: string | null;
  /** The template after the change. */
  readonly template: ChangedTemplate;
  /** What the provider says beside the status; null where it says nothing. */
  readonly otherInfo?: TemplateRemark;
  /** Why the provider rejected it, with its advice; null where it did not. */
  readonly rejectionInfo?: TemplateRemark;
};

export type TemplateEvent = {
  /** Always `template`. */
  readonly eventKey: "template";
  /** The workspace. */
  readonly workspaceId: number;
  /** When it was answered, or when the event happened. */
  readonly timestamp: string;
  /** The record, or the records of the page. */
  readonly data: TemplateData;
};

export type TemplatePage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Template)[];
  /** Where this page stands in the list. */
  readonly pagination: Pagination;
};

export type TemplatePreview = {
  /** The message as the person would read it. */
  readonly message: MessagePreview;
  /** Why the template does not take the mapping, field by field; empty where it does. */
  readonly problems: readonly (FieldProblem)[];
};

export type TemplatePreviewResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: TemplatePreview;
};

export type TemplateRemark = {
  /** A name for people. */
  readonly title?: string;
  /** A note of the sender’s own. */
  readonly description?: string;
  /** Why, as the provider tells it. */
  readonly reason?: string;
  /** What the provider advises. */
  readonly recommendation?: string;
};

export type TemplateResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Template;
};

export type TemplateSyncSummary = {
  /** Templates that the provider listed. */
  readonly synced: number;
  /** Templates that were not known before. */
  readonly added: number;
  /** Templates whose status, category or components changed. */
  readonly changed: number;
};

export type TemplateSyncSummaryMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: TemplateSyncSummary;
};

export type TemplateVariables = {
  /** The variables of the header by position or name; `image`, `video` or `document` wants `header.link`. */
  readonly header: readonly (string)[];
  /** The variables of the body by position or name. */
  readonly body: readonly (string)[];
  /** The indexes of the buttons that want a value. */
  readonly buttons: readonly (string)[];
};

export type TemplateVariablesResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: TemplateVariables;
};

export type TestCampaign = {
  /** Digits with calling code. */
  readonly phone_number: string;
  /** Values in the order header, body, buttons; not beside `variableMapping`. */
  readonly variables?: readonly (string)[];
};

export type TestWebhook = {
  /** What happened. */
  readonly eventKey: EventKey;
};

export type TimelineInterval = "minute" | "hour";

export type TimelinePart = {
  /** When: the beginning of the part, or the instant at which the status was first told; null where that was not kept. */
  readonly at: string;
  /** Accepted by the provider; no receipt has come yet. */
  readonly accepted: number;
  /** Delivered to the person’s device. */
  readonly delivered: number;
  /** Read by the person. */
  readonly read: number;
  /** Refused, or reported as failed by a receipt. */
  readonly failed: number;
};

export type UpdateCampaign = {
  /** The name. */
  readonly name?: string;
  /** A note of the sender’s own. */
  readonly description?: string | null;
  /** The hours in which the campaign sends; without it only the workspace’s hold. */
  readonly sending_window?: SendingWindow | null;
  /** True excepts the campaign from the workspace’s sending window. */
  readonly ignore_quiet_hours?: boolean;
  /** When to send, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at?: string;
};

export type UpdateContact = {
  /** National digits, or international ones with a plus sign. */
  readonly phoneNumber?: string;
  /** A calling code, with or without a plus sign. */
  readonly countryCode?: string;
  /** First name; empty or null when unknown. */
  readonly firstName?: string;
  /** Last name; empty or null when unknown. */
  readonly lastName?: string;
  /** The name that the person shows in the chat. */
  readonly chatName?: string;
  /** E-mail address; empty or null when unknown. */
  readonly email?: string;
  /** False after an opt-out: campaigns skip the contact. */
  readonly subscribed?: boolean;
  /** Fields of the workspace’s own; the list replaces the one before. */
  readonly customFields?: readonly (CustomFieldValue)[];
  /** Tag ids; the list replaces the one before. */
  readonly tagsId?: readonly (string)[];
  /** Date of birth; null when unknown. */
  readonly dob?: string | null;
};

export type UpdateSegment = {
  /** The name. */
  readonly name?: string;
  /** `all` conditions, or `any` of them. */
  readonly match?: FilterMatch;
  /** At most 65536 bytes as JSON. */
  readonly conditions?: readonly (SegmentCondition)[];
};

export type UpdateTag = {
  /** The name. */
  readonly name?: string;
  /** Hex colour of the name. */
  readonly text_color?: string;
  /** Hex colour behind the name. */
  readonly background_color?: string;
};

export type UpdateWebhook = {
  /** Where deliveries go: http or https, at a public address. */
  readonly url?: string;
  /** Where it stands. */
  readonly status?: ChosenWebhookStatus;
  /** The events that are delivered to the URL. */
  readonly events?: readonly (EventKey)[];
  /** Signs deliveries. `whsec_` and the Base64 of 24 to 64 random bytes suits the libraries of Standard Webhooks; of any other text the UTF-8 bytes are the key. Null removes it. */
  readonly secret?: string | null;
};

export type VariableDefaults = {
  /** Values, or names of variables, of the template’s header. */
  readonly header?: { readonly [key: string]: string };
  /** Values, or names of variables, of the template’s body. */
  readonly body?: { readonly [key: string]: string };
  /** The main value of a button by the index of the button. */
  readonly buttons?: { readonly [key: string]: string };
  /** Accepted and not sent: footers take no values. */
  readonly footer?: { readonly [key: string]: string };
  /** One entry a card, in the template’s order. */
  readonly carousel?: readonly (CarouselCard)[];
};

export type VariableMapping = {
  /** Values, or names of variables, of the template’s header. */
  readonly header?: HeaderValues;
  /** Values by the position or the name of the variable. */
  readonly body?: { readonly [key: string]: string };
  /** Values, or names of variables, of the template’s buttons. */
  readonly buttons?: ButtonValues;
  /** When the offer of the template ends. */
  readonly limited_time_offer?: LimitedTimeOffer;
  /** Accepted and not sent: footers take no values. */
  readonly footer?: { readonly [key: string]: unknown };
  /** One entry a card, in the template’s order. */
  readonly carousel?: readonly (CarouselCard)[];
  /** Used where a mapped field is empty. */
  readonly default_values?: VariableDefaults;
};

/** TURN: Other campaigns of the channel are sending. Wait: the campaigns of a channel share its rate. CHANNEL_TROUBLE: The provider does not answer or fails, so the channel pauses between probes. Wait: sending resumes with the first probe that succeeds. CHANNEL_THROTTLE: The provider asked the channel to send more slowly. Wait until `waiting_until`. MESSAGING_LIMIT: The business account has sent to as many different people in 24 hours as it may. Wait until `waiting_until`, or ask the provider for a higher limit. SENDING_WINDOW: It is outside the hours in which the campaign may send. Wait until `waiting_until`, or change the sending window. PREPARATION: The recipients are being prepared. Wait: sending begins when they are ready. QUEUED: All workers are busy with other campaigns. Wait, or have the operator add workers. WORKFLOW_STUCK: The workflow of the campaign cannot continue, or no worker takes its tasks. Have the operator look at the workers and the workflow. */
export type WaitingReason = "TURN" | "CHANNEL_TROUBLE" | "CHANNEL_THROTTLE" | "MESSAGING_LIMIT" | "SENDING_WINDOW" | "PREPARATION" | "QUEUED" | "WORKFLOW_STUCK";

export type Wallet = {
  /** The sending number’s channel. */
  readonly channel_id: string;
  /** The sum of the ledger, as decimal text. What can be spent is balance − reserved. */
  readonly balance: string;
  /** Held for messages on the way, as decimal text. */
  readonly reserved: string;
  /** ISO 4217. */
  readonly currency: string;
  /** What a message costs by category and country. */
  readonly message_prices: readonly (MessagePrice)[];
};

export type WalletMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: Wallet;
};

export type WalletResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Wallet;
};

export type Webhook = {
  /** Identifies the record. */
  readonly id: string;
  /** A name for people. */
  readonly title: string;
  /** Where deliveries go: http or https, at a public address. */
  readonly url: string;
  /** Where it stands. */
  readonly status: WebhookStatus;
  /** Why the service disabled the webhook: `failing` when every delivery failed for days. Null while it is not disabled. */
  readonly disabled_reason: WebhookDisabledReason | null;
  /** By the last 20 attempts: `healthy` without a failure, `degraded` with some, `failing` without a success; or `disabled`. */
  readonly health: WebhookHealthState;
  /** The events that are delivered to the URL. */
  readonly events: readonly (EventKey)[];
  /** True when deliveries are signed; the secret itself is never shown. */
  readonly hasSecret: boolean;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

export type WebhookDisabledReason = "failing";

/** blocked_address: The address is private, or reserved for the network of this service. Use a public address. dns_error: The host name does not resolve. Correct the URL or the DNS record. dns_timeout: The name servers did not answer in time. Check the name servers of the domain, then resend. connection_refused: Nothing listens at the address and port. Start the receiver or correct the port, then resend. connection_reset: The connection broke before the answer was complete. Look into the log of the receiver and its proxies, then resend. tls_error: The TLS handshake failed or the certificate is not valid. Renew or complete the certificate chain, then resend. timeout: No answer came within five seconds. Answer first and process the event afterwards. redirect: The receiver answered with a redirect. Set the URL to its target. non_2xx: The receiver answered with a status other than 2xx. Look at `responseStatus` and `responseExcerpt`, correct the receiver, then resend. protocol_error: The answer is not valid HTTP. Check that the port serves HTTP, or HTTPS for an https URL. payload_too_large: The event is larger than 256 KB and was not sent. Read the record by its id over the API. endpoint_inactive: The webhook was inactive or deleted when the delivery was due. Activate the webhook, then resend. disabled: The webhook was disabled because it had only failed for days. Repair the receiver, set the webhook to active, then resend. interrupted: The service stopped during the attempt: the receiver may have got the event. Resend it; `webhook-id` lets the receiver recognise a repetition. expired: The delivery waited too long for its attempt. Make the receiver faster, then resend. erased: The person of the event was erased before the delivery. Nothing: the event no longer exists. */
export type WebhookErrorCode = "blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "disabled" | "interrupted" | "expired" | "erased";

export type WebhookHealth = {
  /** The webhook configuration. */
  readonly webhookId: string;
  /** By the last 20 attempts: `healthy` without a failure, `degraded` with some, `failing` without a success; or `disabled`. */
  readonly health: WebhookHealthState;
  /** The first failure that no success has followed; null when there is none. */
  readonly failingSince: string | null;
  /** Failed deliveries since the last that succeeded. */
  readonly consecutiveFailures: number;
  /** Deliveries whose turn has not come; counted up to 10,000. */
  readonly waiting: number;
};

export type WebhookHealthResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: WebhookHealth;
};

export type WebhookHealthState = "healthy" | "degraded" | "failing" | "disabled";

export type WebhookMessageResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** What happened, in words. */
  readonly message: string;
  /** The record, or the records of the page. */
  readonly data: Webhook;
};

export type WebhookPage = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: readonly (Webhook)[];
  /** Where this page stands in the list. */
  readonly pagination: Pagination;
};

export type WebhookResponse = {
  /** Always `success`. */
  readonly status: "success";
  /** The record, or the records of the page. */
  readonly data: Webhook;
};

export type WebhookStatus = "active" | "inactive" | "disabled";

export type WeekDay = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";

/** Body of a webhook request. */
export type WebhookEvent = IncomingEvent | SentEvent | DeliveredEvent | ReadEvent | FailedEvent | TemplateEvent | ContactCreatedEvent | ContactUpdatedEvent | ConversationAssignedEvent | ConversationStatusChangedEvent;
