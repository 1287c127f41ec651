/** Generated from the OpenAPI document by `npm run openapi`. */

export type Acknowledgement = {
  readonly status: SuccessStatus;
  /** Confirmation as a sentence. */
  readonly message: string;
};

export type Actor = {
  /** Id of the acting user in your system; null when unknown. */
  readonly id: string | null;
  /** Name of the user; null if unknown. */
  readonly name: string | null;
  /** E-mail address; null or empty if unknown. */
  readonly email: string | null;
};

export type ActorInput = {
  /** Id of the user in your system; null when unknown. */
  readonly id?: string | null;
  /** Name of the user; null or omitted if unknown. */
  readonly name?: string | null;
  /** E-mail address of the user; null or omitted if unknown. */
  readonly email?: string | null;
};

export type AssignConversation = {
  /** Kind of the new assignee; `none` removes the present one. */
  readonly assignmentType: AssignmentType;
  /** New assignee; null or omitted if `assignmentType` is `none`. */
  readonly assignedTo?: AssigneeInput | null;
  /** User who made the assignment; null if it was made automatically. */
  readonly assignedBy?: ActorInput | null;
  /** Who answers from now on; default `manual` for a user or team, `bot` for a bot, unchanged for `none`. */
  readonly chatMode?: ChatMode;
  /** What made the assignment; default `api`. */
  readonly source?: AssignmentSource;
};

export type Assignee = {
  /** Id of the assignee in your system; null if unknown. */
  readonly id: string | null;
  /** Name of the assignee; null if unknown. */
  readonly name: string | null;
  /** First name; null or empty if unknown. */
  readonly firstName: string | null;
  /** Last name; null or empty if unknown. */
  readonly lastName: string | null;
  /** E-mail address; null or empty if unknown. */
  readonly email: string | null;
};

export type AssigneeInput = {
  /** Id of the user, team or bot in your system. */
  readonly id: string;
  /** Name of the assignee; null or omitted if unknown. */
  readonly name?: string | null;
  /** First name; null or empty if unknown. */
  readonly firstName?: string | null;
  /** Last name; null or empty if unknown. */
  readonly lastName?: string | null;
  /** E-mail address; null or empty if unknown. */
  readonly email?: string | null;
};

/** manual: a person assigned it in an app. api: a request of this API. chatbot, assistant, auto: an automation. */
export type AssignmentSource = "manual" | "chatbot" | "assistant" | "api" | "auto";

/** Kind of assignee; none: the conversation is unassigned. */
export type AssignmentType = "user" | "team" | "bot" | "none";

export type AuditEntry = {
  /** Unique id. */
  readonly id: string;
  /** Time of the action. */
  readonly at: string;
  /** Id of the API key that acted; null for an operator’s command. */
  readonly key_id: string | null;
  /** Operator’s command that acted; null for an API key. */
  readonly command: string | null;
  /** Action by its object: `campaign.pause`, `wallet.recharge` and so on. */
  readonly action: string;
  /** Id of the record that was acted on. */
  readonly object_id: string;
  /** Name of the campaign or webhook, or number of the channel; the name of a deleted segment, tag or webhook. Null for others. */
  readonly object_name: string | null;
  /** What changed, as texts by name, such as `amount` of a recharge or `after` of a setting; null if the action says all. */
  readonly details: { readonly [key: string]: string | null } | null;
  /** `X-Request-Id` of the request; null without one. */
  readonly request_id: string | null;
};

export type AuditEntryPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (AuditEntry)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type BrakeRule = "first" | "run" | "share" | "people";

/** Main value of the button as text, or an object with the fields of its kind; null leaves the button out. */
export type ButtonValue = {
  /** Kind. */
  readonly type?: string;
  /** Text appended to the button’s address. */
  readonly url_suffix?: string;
  /** Code that the button copies. */
  readonly coupon_code?: string;
  /** One-time password of an authentication template. */
  readonly otp?: string;
  /** Data that a quick-reply button returns. */
  readonly payload?: string;
  /** Token that identifies this run of the flow. */
  readonly flow_token?: string;
  /** Data for the first screen of the flow. */
  readonly flow_action_data?: { readonly [key: string]: unknown };
  /** Id of the product whose picture represents the catalogue. */
  readonly thumbnail_product_retailer_id?: string;
  /** Sections of a multi-product message. */
  readonly sections?: readonly ({ readonly [key: string]: unknown })[];
} | string | null;

/** List in the order of the template’s buttons (null skips one), or object by button index. */
export type ButtonValues = readonly (ButtonValue)[] | { readonly [key: string]: ButtonValue };

export type Campaign = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Note for your own use, at most 1,000 characters; null or omitted if there is none. */
  readonly description: string | null;
  /** Id of the template. */
  readonly template_id: string;
  /** Source of the audience. */
  readonly contact_selection_type: ContactSelectionType;
  /** Number of recipients that can be sent to; 0 until preparation ends. */
  readonly total_contacts: number;
  /** Number of recipients that are skipped. */
  readonly total_contacts_skipped: number;
  /** Whether the recipients are determined. */
  readonly preparation_status: PreparationStatus;
  /** Increases with each preparation; starts at 1. */
  readonly preparation_version: number;
  /** Increases when the set of recipients changes; starts at 1. */
  readonly audience_version: number;
  /** Current status. */
  readonly status: CampaignStatus;
  /** Time of sending: IMMEDIATE, or SCHEDULED at `scheduled_at`. */
  readonly send_type: SendType;
  /** Time at which sending begins, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at: string | null;
  /** Id of the workspace. */
  readonly workspace_id: number;
  /** True for campaigns created through this API. */
  readonly is_auto_trigger: boolean;
  /** Time of creation. */
  readonly created_at: string;
  /** Time of the last change. */
  readonly updated_at: string;
  /** Campaign’s own sending window; null if only the workspace’s applies. */
  readonly sending_window: SendingWindow | null;
  /** True if the workspace’s sending window does not apply. */
  readonly ignore_quiet_hours: boolean;
  /** Earliest start of sending: `scheduled_at`, the creation time, or the next opening of the sending window; null once sending has begun. */
  readonly begins_at: string | null;
  /** Id of the channel. */
  readonly channel_id: string;
  /** Provider’s id of the sending number. */
  readonly phone_number_id: string;
  /** Reason for the pause; null unless status is PAUSED. */
  readonly pause_reason: PauseReason | null;
  /** Failures that paused the campaign; null unless `pause_reason` is FAILURES. */
  readonly pause_evidence: PauseEvidence | null;
  /** What made the messages more expensive; null unless `pause_reason` is PRICE_RAISED. */
  readonly price_change: PriceChange | null;
  /** What sending waits for; null if it does not wait. */
  readonly waiting_for: WaitingReason | null;
  /** Expected end of the wait; null when unknown. */
  readonly waiting_until: string | null;
  /** Reason why preparation failed; null unless it failed. */
  readonly preparation_error: PreparationError | null;
  /** Time at which sending began; null before. */
  readonly started_at: string | null;
  /** Time at which no recipient was left to send to; null before. */
  readonly completed_at: string | null;
  /** Time at which the recipients were deleted because the campaign had ended long ago; null before. */
  readonly archived_at: string | null;
  /** Number of recipients by present state; each recipient counts once. */
  readonly counters: CampaignCounters;
  /** Number of skipped recipients by reason. */
  readonly skipped_reasons: { readonly [key: string]: number };
  /** Number of failed recipients by reason. */
  readonly failed_reasons: { readonly [key: string]: number };
  /** Template that is sent. */
  readonly template: CampaignTemplate;
  /** Id of the API key that created the campaign. */
  readonly created_by: string;
  /** True if the workspace’s frequency cap does not apply. */
  readonly ignore_frequency_cap: boolean;
  /** Most that the campaign may cost, as a decimal string; null without a maximum. It pauses with MAX_COST before it would reserve more. */
  readonly max_cost: string | null;
  /** Cost of the messages so far less refunds, as a decimal string. */
  readonly charged: string;
  /** Most that all recipients could cost at the start of the campaign, as a decimal string; null before, and for campaigns of earlier releases. */
  readonly estimate: string | null;
  /** What was charged and given back for messages that failed later or were not delivered in time, as a decimal string. */
  readonly given_back: string;
  /** Delivered messages that cost nothing. */
  readonly free_messages: number;
  /** `charged` by delivered message, as a decimal string; null before the first is delivered. */
  readonly cost_per_delivered: string | null;
};

export type CampaignButton = {
  /** Place of the button in the template, from 0. */
  readonly index: number;
  /** Text of the button. */
  readonly text: string;
  /** Number of recipients who tapped it. */
  readonly count: number;
};

export type CampaignCheck = {
  /** Problems that prevent the campaign, by field; empty if it can be created and has recipients. */
  readonly problems: readonly (FieldProblem)[];
  /** Probable mistakes that do not prevent the campaign: unknown fields of the body; `{{firstname}}`, which is the name of no field and would be sent as it stands; a field with little room left in its text; numbers in ranges that are not known to be in use; digits that are probably national numbers of one country; a start that the sending window delays. */
  readonly warnings: readonly (FieldProblem)[];
  /** Number of recipients that would be sent to. */
  readonly total_contacts: number;
  /** Number of skipped recipients by reason. */
  readonly skipped_reasons: { readonly [key: string]: number };
  /** Numbers in ranges that are not known to be in use, by country (ISO 3166 alpha-2); they are sent to. */
  readonly unverified_numbers: { readonly [key: string]: number };
  /** True if only the beginning of a large audience was counted; `total_contacts` and `cost` are then lower bounds. */
  readonly is_estimate: boolean;
  /** Cost of sending to all of them, as a decimal string. */
  readonly cost: string;
  /** Amount the wallet can spend, as a decimal string. */
  readonly available: string;
  /** Currency of `cost` and `available` as ISO 4217. */
  readonly currency: string;
  /** Estimated seconds from `begins_at` to `ends_at` at the channel’s present rate without other campaigns; closed hours count. */
  readonly duration_seconds: number;
  /** Time at which sending would begin: now, at `scheduled_at`, or when the sending window opens; null if the campaign cannot be created. */
  readonly begins_at: string | null;
  /** Estimated end of sending within the sending window; null without recipients. */
  readonly ends_at: string | null;
};

export type CampaignCheckResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: CampaignCheck;
};

export type CampaignCounters = {
  /** Recipients that wait to be sent to. */
  readonly pending: number;
  /** Recipients that are being sent to at this moment. */
  readonly claimed: number;
  /** Recipients whose message the provider accepted; no receipt has arrived. */
  readonly accepted: number;
  /** Messages sent by the provider and not delivered yet. */
  readonly sent: number;
  /** Recipients whose device has the message. */
  readonly delivered: number;
  /** Recipients who read the message. */
  readonly read: number;
  /** Recipients whose message was refused or reported as failed. */
  readonly failed: number;
  /** Recipients whose outcome is unknown because the provider did not answer. */
  readonly unknown: number;
  /** Recipients that were still unsent when the campaign was cancelled. */
  readonly cancelled: number;
  /** Recipients that are never sent to; see `skipped_reasons`. */
  readonly skipped: number;
  /** Recipients who wrote to the channel within 30 days after the message. */
  readonly replied: number;
  /** Recipients who asked to receive nothing more, or no marketing, within 30 days after the message. */
  readonly opted_out: number;
  /** Quick-reply buttons that recipients tapped within 30 days after the message. */
  readonly buttons: readonly (CampaignButton)[];
};

export type CampaignDetail = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Note for your own use, at most 1,000 characters; null or omitted if there is none. */
  readonly description: string | null;
  /** Id of the template. */
  readonly template_id: string;
  /** Source of the audience. */
  readonly contact_selection_type: ContactSelectionType;
  /** Number of recipients that can be sent to; 0 until preparation ends. */
  readonly total_contacts: number;
  /** Number of recipients that are skipped. */
  readonly total_contacts_skipped: number;
  /** Whether the recipients are determined. */
  readonly preparation_status: PreparationStatus;
  /** Increases with each preparation; starts at 1. */
  readonly preparation_version: number;
  /** Increases when the set of recipients changes; starts at 1. */
  readonly audience_version: number;
  /** Current status. */
  readonly status: CampaignStatus;
  /** Time of sending: IMMEDIATE, or SCHEDULED at `scheduled_at`. */
  readonly send_type: SendType;
  /** Time at which sending begins, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at: string | null;
  /** Id of the workspace. */
  readonly workspace_id: number;
  /** True for campaigns created through this API. */
  readonly is_auto_trigger: boolean;
  /** Time of creation. */
  readonly created_at: string;
  /** Time of the last change. */
  readonly updated_at: string;
  /** Campaign’s own sending window; null if only the workspace’s applies. */
  readonly sending_window: SendingWindow | null;
  /** True if the workspace’s sending window does not apply. */
  readonly ignore_quiet_hours: boolean;
  /** Earliest start of sending: `scheduled_at`, the creation time, or the next opening of the sending window; null once sending has begun. */
  readonly begins_at: string | null;
  /** Id of the channel. */
  readonly channel_id: string;
  /** Provider’s id of the sending number. */
  readonly phone_number_id: string;
  /** Reason for the pause; null unless status is PAUSED. */
  readonly pause_reason: PauseReason | null;
  /** Failures that paused the campaign; null unless `pause_reason` is FAILURES. */
  readonly pause_evidence: PauseEvidence | null;
  /** What made the messages more expensive; null unless `pause_reason` is PRICE_RAISED. */
  readonly price_change: PriceChange | null;
  /** What sending waits for; null if it does not wait. */
  readonly waiting_for: WaitingReason | null;
  /** Expected end of the wait; null when unknown. */
  readonly waiting_until: string | null;
  /** Reason why preparation failed; null unless it failed. */
  readonly preparation_error: PreparationError | null;
  /** Time at which sending began; null before. */
  readonly started_at: string | null;
  /** Time at which no recipient was left to send to; null before. */
  readonly completed_at: string | null;
  /** Time at which the recipients were deleted because the campaign had ended long ago; null before. */
  readonly archived_at: string | null;
  /** Number of recipients by present state; each recipient counts once. */
  readonly counters: CampaignCounters;
  /** Number of skipped recipients by reason. */
  readonly skipped_reasons: { readonly [key: string]: number };
  /** Number of failed recipients by reason. */
  readonly failed_reasons: { readonly [key: string]: number };
  /** Template that is sent. */
  readonly template: CampaignTemplate;
  /** Id of the API key that created the campaign. */
  readonly created_by: string;
  /** True if the workspace’s frequency cap does not apply. */
  readonly ignore_frequency_cap: boolean;
  /** Most that the campaign may cost, as a decimal string; null without a maximum. It pauses with MAX_COST before it would reserve more. */
  readonly max_cost: string | null;
  /** Cost of the messages so far less refunds, as a decimal string. */
  readonly charged: string;
  /** Most that all recipients could cost at the start of the campaign, as a decimal string; null before, and for campaigns of earlier releases. */
  readonly estimate: string | null;
  /** What was charged and given back for messages that failed later or were not delivered in time, as a decimal string. */
  readonly given_back: string;
  /** Delivered messages that cost nothing. */
  readonly free_messages: number;
  /** `charged` by delivered message, as a decimal string; null before the first is delivered. */
  readonly cost_per_delivered: string | null;
  /** Audience fields of the creation, without inline contacts. */
  readonly audience: { readonly [key: string]: unknown };
  /** Contact field or text for each variable of the template; null if none was given. */
  readonly variable_mapping: { readonly [key: string]: unknown } | null;
  /** Estimated seconds until all recipients are sent to, at the rate that the channel has and the provider allows at present, and within the sending window; null when unknown. */
  readonly eta_seconds: number | null;
};

export type CampaignDetailMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: CampaignDetail;
};

export type CampaignDetailResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: CampaignDetail;
};

export type CampaignEndEvent = {
  /** Always `end`. */
  readonly event: "end";
  /** Empty object. */
  readonly data: { readonly [key: string]: unknown };
};

export type CampaignPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Campaign)[];
  /** Position of this page in the list. */
  readonly pagination: Pagination;
};

export type CampaignProgress = {
  /** Unique id. */
  readonly id: string;
  /** Current status. */
  readonly status: CampaignStatus;
  /** Reason for the pause; null unless status is PAUSED. */
  readonly pause_reason: PauseReason | null;
  /** Whether the recipients are determined. */
  readonly preparation_status: PreparationStatus;
  /** Number of recipients that can be sent to; 0 until preparation ends. */
  readonly total_contacts: number;
  /** Number of recipients that are skipped. */
  readonly total_contacts_skipped: number;
  /** Number of recipients by present state; each recipient counts once. */
  readonly counters: CampaignCounters;
  /** Cost of the campaign so far, as a decimal string. */
  readonly charged: string;
  /** Messages per second at present. */
  readonly rate: number;
  /** Estimated seconds until all recipients are sent to; null when unknown. */
  readonly eta_seconds: number | null;
};

export type CampaignProgressEvent = {
  /** Always `progress`. */
  readonly event: "progress";
  /** Progress of the campaign. */
  readonly data: CampaignProgress;
};

/** DRAFT: the audience is being prepared. SCHEDULED: waits for `scheduled_at`. RUNNING: sends. PAUSED: waits for you; see `pause_reason`. COMPLETED: no recipient is left to send to; receipts still arrive. FAILED: preparation failed; see `preparation_error`. CANCELLED: you cancelled it. */
export type CampaignStatus = "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";

export type CampaignSummary = {
  /** Number of recipients that can be sent to; 0 until preparation ends. */
  readonly total_contacts: number;
  /** True if the template is approved, the channel active and the balance enough for one message. */
  readonly can_send_test: boolean;
};

export type CampaignTemplate = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Language, such as `en_US`. */
  readonly language: string;
  /** Provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
  readonly category: string;
};

export type CappedCategory = "MARKETING" | "UTILITY" | "AUTHENTICATION";

export type CardInForce = {
  /** Currency as ISO 4217. */
  readonly currency: string;
  /** First day on which the card applies, from 00:00 in the time zone of the business account. */
  readonly effective_on: string;
  /** Name of the loaded file; `example` for the prices that came with the service. */
  readonly source: string;
};

export type CardMarket = {
  /** ISO 3166 alpha-2; null for every other country. */
  readonly country: string | null;
  /** Market whose prices the country pays. */
  readonly market: string;
};

export type CardPrice = {
  /** Market as the provider’s file spells it. */
  readonly market: string;
  /** Category as on the card, such as MARKETING or AUTHENTICATION_INTERNATIONAL. */
  readonly category: string;
  /** Price of one message as a decimal string. */
  readonly price: string;
  /** Messages of a month after which the price applies; 0 for the list price. */
  readonly tier_from: number;
  /** Messages of a month up to which the price applies; null without end. */
  readonly tier_to: number | null;
};

export type CarouselCard = {
  /** Values of the card’s header. */
  readonly header?: HeaderValues;
  /** Contact field or text for each variable, by its position (`"1"`) or name. */
  readonly body?: { readonly [key: string]: string };
  /** Values of the card’s buttons. */
  readonly buttons?: ButtonValues;
};

export type ChangeConversationStatus = {
  /** New status of the conversation. */
  readonly status: ConversationStatus;
  /** User who made the change; null if it was automatic. */
  readonly changedBy?: ActorInput | null;
};

export type ChangedTemplate = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Language, such as `en_US`. */
  readonly language: string;
  /** Provider’s id of the template. */
  readonly provider_template_id: string;
  /** Status of the template at the provider, such as `APPROVED`. */
  readonly provider_template_status: string;
};

export type Channel = {
  /** Unique id. */
  readonly id: string;
  /** Provider’s id of the channel’s phone number. */
  readonly phone_number_id: string;
  /** Phone number in the format people read. */
  readonly display_phone_number: string;
  /** Provider’s id of the business account that owns it. */
  readonly business_account_id: string;
  /** Whether the channel can send. */
  readonly status: ChannelStatus;
  /** Reason why the channel is blocked; null while it is not. */
  readonly block_reason: string | null;
  /** Provider’s last refusal that affected the whole channel; null after a new access token. */
  readonly provider_error: ChannelProviderError | null;
  /** Time at which the provider’s restriction ends; null without one. */
  readonly blocked_until: string | null;
  /** Countries the channel never sends to, as ISO 3166-1 alpha-2. */
  readonly blocked_countries: readonly (string)[];
  /** Most messages that the channel sends per second. */
  readonly messages_per_second: number;
  /** Messages per second that throttling allows at present. */
  readonly rate_now: number;
  /** What sending waits for; null if it does not wait. */
  readonly waiting_for: WaitingReason | null;
  /** Time until which the channel sends nothing; null without one. */
  readonly held_until: string | null;
  /** Number of campaigns that are RUNNING on the channel. */
  readonly running_campaigns: number;
  /** Provider’s last rating of the number: LOW: flagged, and its messaging limit may fall; GOOD: no longer flagged; null without a rating. */
  readonly quality: ChannelQuality | null;
  /** Whether the provider lets the number send, as it said within the last hour: AVAILABLE, LIMITED or BLOCKED; null if it does not say. */
  readonly can_send: string | null;
  /** What hinders the number, in the provider’s words; null without anything. */
  readonly can_send_details: string | null;
  /** Most different people the business account may write to in 24 hours, with the other accounts of its portfolio; null without a limit. */
  readonly messaging_limit: number | null;
  /** Number of people written to in the last 24 hours; null without a limit. */
  readonly messaging_used: number | null;
  /** Time from which the business account may write to another person; null while the limit is not reached. */
  readonly messaging_room_at: string | null;
  /** True if MARKETING templates use the provider’s endpoint for marketing messages. */
  readonly marketing_endpoint: boolean;
  /** Provider’s last notice about the business account: `field`, `event`, `at` and its details; null without one. */
  readonly account_notice: { readonly [key: string]: unknown } | null;
};

/** token: access token or permission. payment: payment or terms of the account. policy: the account is blocked for a violation. limit: spam limit of the number. number: not registered, not approved or deleted. address: the provider does not know the address of the request. */
export type ChannelBlockCause = "token" | "payment" | "policy" | "limit" | "number" | "address";

export type ChannelProviderError = {
  /** Provider’s error code. */
  readonly code: number;
  /** Cause of the error. */
  readonly cause: ChannelBlockCause;
  /** Time of the refusal. */
  readonly at: string;
};

/** LOW: the provider has flagged the number. GOOD: the flag is gone. */
export type ChannelQuality = "GOOD" | "LOW";

export type ChannelResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Channel;
};

/** blocked: campaigns of the channel pause, and single sends are refused. */
export type ChannelStatus = "active" | "blocked";

/** manual: people answer. bot: a chatbot answers. assistant: an AI assistant answers. */
export type ChatMode = "manual" | "bot" | "assistant";

export type CheckCampaign = {
  /** Name for people. */
  readonly name: string;
  /** Id of an approved template of the channel’s business account. */
  readonly template_id: string;
  /** Source of the audience. */
  readonly contact_selection_type: ContactSelectionType;
  /** Time of sending: IMMEDIATE, or SCHEDULED at `scheduled_at`. */
  readonly send_type: SendType;
  /** Note for your own use, at most 1,000 characters; default none. */
  readonly description?: string;
  /** Must not be sent: the API key of a channel supplies it. */
  readonly channel_id?: unknown;
  /** Must not be sent: the API key of a channel supplies it. */
  readonly phone_number_id?: unknown;
  /** Further conditions that contacts of `segmented` must meet; without `segments`, they alone choose the contacts. */
  readonly contact_filters?: ContactFilters;
  /** Ids of up to 100 segments, for `segmented`; contacts of any of them are included. May be empty or missing if `contact_filters` has conditions. All conditions together may hold 10,000 values. */
  readonly segments?: readonly (string)[];
  /** Phone numbers in international form, each optionally with values of body variables after `,`, `|` or `;`: `+4915112345678,Ada,12`. */
  readonly quick_contacts?: readonly (string)[];
  /** Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null counts as absent: the workspace’s applies. */
  readonly default_country?: string | null;
  /** CSV text with a header row and at least one data row; for more than 8 MiB upload a file. */
  readonly csv_contacts_string?: string;
  /** Key of an uploaded CSV, for `csv_contacts`, from `POST /api/campaigns/csv-files`. */
  readonly csv_file_key?: string;
  /** `csv_file_url` of an upload, or a public address of a CSV, for `csv_contacts`. */
  readonly csv_file_url?: string;
  /** Columns of the CSV by meaning, counted from 0. */
  readonly csv_mapping?: CsvMapping;
  /** Id of the campaign whose failed recipients form the audience, for `failed_contacts`. */
  readonly failed_campaign_id?: string;
  /** Only recipients that failed for these reasons, for `failed_contacts`; default all reasons but those that would be met again (`NO_CHANCE`). */
  readonly failed_reasons?: readonly (RecipientReason)[];
  /** Contact field or text for each variable of the template. */
  readonly variable_mapping?: VariableMapping;
  /** Time at which sending begins, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at?: string | null;
  /** Hours in which the campaign may send, within the window of the workspace; default any. */
  readonly sending_window?: SendingWindow;
  /** The campaign pauses with MAX_COST before its messages could cost more, as a decimal string in the currency of the wallet; default no maximum. */
  readonly max_cost?: string;
  /** True if the workspace’s sending window does not apply; needs an operator’s key. Default false. */
  readonly ignore_quiet_hours?: boolean;
  /** True if the workspace’s frequency cap does not apply; needs an operator’s key. Default false. */
  readonly ignore_frequency_cap?: boolean;
};

/** active: receives events. inactive: receives none; queued deliveries wait. */
export type ChosenWebhookStatus = "active" | "inactive";

export type ComparedFigures = {
  /** Number of delivered messages. */
  readonly messages: number;
  /** Cost of these messages, as a decimal string. */
  readonly cost: string;
};

export type ComparisonLine = {
  /** Unique id. */
  readonly id: string;
  /** Id of the channel. */
  readonly channel_id: string;
  /** Day of the deliveries in the time zone of the business account, such as 2026-10-31. */
  readonly day: string;
  /** DIFFERENT: the figures differ. NOT_COMPARED: the provider did not give its figures. */
  readonly state: ComparisonState;
  /** Category of the messages; null if not compared. */
  readonly category: string | null;
  /** Country of the recipients (ISO 3166 alpha-2), empty if unknown; null if not compared. */
  readonly country: string | null;
  /** Whether the messages are billed; null if not compared. */
  readonly pricing_type: PricingType | null;
  /** What this service delivered and charged; null if the day was not compared. */
  readonly ours: ComparedFigures | null;
  /** What the provider delivered and billed; null if the day was not compared. */
  readonly theirs: ComparedFigures | null;
  /** What was charged too much, as a decimal string; negative if too little. The workspace’s markup on the provider’s prices is no difference. Null if the day was not compared. */
  readonly difference: string | null;
  /** OTHER_SENDERS: something else sends on the number, too. TIER: a volume tier has lower prices. AUTHENTICATION_INTERNATIONAL: prices of international authentication. MAX_PRICE: a maximum price is set. null: not known. */
  readonly likely_cause: DifferenceCause | null;
  /** Why the day was not compared; null if it was. */
  readonly details: string | null;
  /** Time of the comparison. */
  readonly compared_at: string;
  /** Time at which an operator booked the difference; null before. */
  readonly booked_at: string | null;
};

export type ComparisonLinePage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (ComparisonLine)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type ComparisonState = "DIFFERENT" | "NOT_COMPARED";

export type Consent = {
  /** Unique id. */
  readonly id: string;
  /** False for an opt-out, true for an opt-in. */
  readonly subscribed: boolean;
  /** What the decision is about: `ALL` messages, or those of the category `MARKETING`. */
  readonly category: ConsentCategory;
  /** What the contact agrees to receive after the decision. */
  readonly consent: ContactConsent;
  /** Origin of the decision: `person` by a message or a setting in the app, `api` by a request, `import` by a file. */
  readonly source: ConsentSource;
  /** What the person saw or wrote; null if unknown. */
  readonly text: string | null;
  /** Address of the page or form; null if unknown. */
  readonly url: string | null;
  /** Language of the text; null if unknown. */
  readonly language: string | null;
  /** Id of the API key that recorded it; null if the provider reported it. */
  readonly recorded_by: string | null;
  /** Time of the decision. */
  readonly at: string;
};

export type ConsentCategory = "ALL" | "MARKETING";

export type ConsentFormat = "csv";

export type ConsentInForce = {
  /** What the contact agreed to receive when the message left; null if it did not leave, or nothing had been recorded. */
  readonly consent: ContactConsent | null;
  /** The entry of the register that was in force; null without one. */
  readonly entry: Consent | null;
};

export type ConsentMapping = {
  /** Column of who opted out or opted in, counted from 0. */
  readonly column?: number;
  /** What `yes` in the column means: `opt_out` or `opt_in`; default: what its heading says. In a column of opt-ins `no` is an opt-out. */
  readonly meaning?: ConsentMeaning;
  /** Further cells that mean an opt-out. */
  readonly opted_out?: readonly (string)[];
  /** Further cells that mean an opt-in. */
  readonly opted_in?: readonly (string)[];
  /** What the decisions are about; default: `ALL` for opt-outs, `MARKETING` for opt-ins. */
  readonly category?: ConsentCategory;
  /** What holds for rows about which the column says nothing; default nothing. */
  readonly others?: ConsentMeaning;
  /** What the people saw or wrote, for rows without `text_column`. */
  readonly text?: string;
  /** Address of the page or form. */
  readonly url?: string;
  /** Language of the text, such as `en`. */
  readonly language?: string;
  /** Time of the decisions, for rows without `at_column`; default the time of the import. */
  readonly at?: string;
  /** Column of what the person saw or wrote, counted from 0. */
  readonly text_column?: number;
  /** Column of the address of the page or form, counted from 0. */
  readonly url_column?: number;
  /** Column of the language of the text, counted from 0. */
  readonly language_column?: number;
  /** Column of the time of the decision, counted from 0. */
  readonly at_column?: number;
};

export type ConsentMeaning = "opt_out" | "opt_in";

export type ConsentMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Consent;
};

export type ConsentPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Consent)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type ConsentPolicy = {
  /** Which campaigns to a CSV skip people who are no contacts, with NO_CONSENT. off: none; such people become contacts who agree to everything. marketing: those of category MARKETING. all: all. */
  readonly require_consent: RequireConsent;
};

export type ConsentPolicyMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: ConsentPolicy;
};

export type ConsentPolicyResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: ConsentPolicy;
};

export type ConsentSource = "person" | "api" | "import";

export type Contact = {
  /** Unique id. */
  readonly id: string;
  /** First name; empty if unknown (default). */
  readonly firstName: string;
  /** Last name; empty if unknown (default). */
  readonly lastName: string;
  /** Name the contact shows in the chat. */
  readonly chatName: string;
  /** Name that the contact chose at the provider; empty without one. */
  readonly username: string;
  /** E-mail address; empty if unknown (default). */
  readonly email: string;
  /** Phone number without its country calling code, digits only. */
  readonly phoneNumber: string;
  /** Country calling code without `+`, such as `49`. */
  readonly countryCode: string;
  /** Where the contact came from, such as `api`, `csv_import` or `incoming`. */
  readonly source: string;
  /** True if the contact may receive MARKETING: `consent` is `all`. */
  readonly subscribed: boolean;
  /** What the contact agrees to receive: `all`, `no_marketing` (campaigns of MARKETING skip it), or `none` (all campaigns skip it). */
  readonly consent: ContactConsent;
  /** Custom fields of the contact. */
  readonly customFields: readonly (CustomField)[];
  /** Ids of the contact’s tags. */
  readonly tagsId: readonly (string)[];
  /** Date of birth; null when unknown. */
  readonly dob: string | null;
  /** Time of creation. */
  readonly createdAt: string;
  /** Time of the last change. */
  readonly updatedAt: string;
};

export type ContactConsent = "all" | "no_marketing" | "none";

export type ContactCreatedEvent = {
  /** Always `contact.created`. */
  readonly eventKey: "contact.created";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: ContactData;
};

export type ContactData = {
  /** Contact in its present state. */
  readonly contact: Contact;
};

export type ContactExport = {
  /** Contact in its present state. */
  readonly contact: Contact;
  /** Up to 20 numbers that the contact had before, in digits; others may have them now. */
  readonly formerNumbers: readonly (string)[];
  /** Ids under which the provider knows the person, beside the phone number. */
  readonly providerIds: readonly (string)[];
  /** Opt-outs and opt-ins, oldest first. */
  readonly consents: readonly ({ readonly [key: string]: unknown })[];
  /** Conversations with the person, oldest first. */
  readonly conversations: readonly ({ readonly [key: string]: unknown })[];
  /** Messages outside campaigns, inbound ones included, oldest first. */
  readonly messages: readonly ({ readonly [key: string]: unknown })[];
  /** Recipient records of the person in campaigns, oldest first. */
  readonly campaignMessages: readonly ({ readonly [key: string]: unknown })[];
};

export type ContactExportResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: ContactExport;
};

export type ContactField = {
  /** Name of the field; `custom.` and this name in conditions and mappings. */
  readonly id: string;
  /** How conditions compare the values; guessed when the field is first seen. */
  readonly type: ContactFieldType;
  /** Up to 3 values of the newest contacts, each cut at 100 characters. */
  readonly examples: readonly (string)[];
  /** Contacts that have the field. If the workspace has more than 20,000 contacts, as it was at most an hour ago. */
  readonly count: number;
};

export type ContactFieldMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: ContactField;
};

export type ContactFieldType = "text" | "number" | "date" | "boolean";

export type ContactFilters = {
  /** Conditions on contacts; `match` combines them. */
  readonly conditions: readonly (SegmentCondition)[];
  /** `all` (default, also for null): every condition must hold; `any`: one is enough. */
  readonly match?: FilterMatch | null;
};

export type ContactImport = {
  /** Unique id. */
  readonly id: string;
  /** PENDING: waits for a worker. RUNNING: reads the file. COMPLETED: every row is done. FAILED: the file cannot be read further, see `error`. CANCELLED: you cancelled it. What is done stays in every state. */
  readonly state: ContactImportState;
  /** Key of the file, for another import. */
  readonly csv_file_key: string;
  /** `mapping` of the request, or the guessed one. */
  readonly mapping: ContactImportMapping;
  /** Whether people without a contact get one, and contacts are changed. */
  readonly mode: ContactImportMode;
  /** Country of numbers that name none (ISO 3166 alpha-2), of the request or the workspace; null without one. */
  readonly default_country: string | null;
  /** True if nothing but the counts and rows is written. */
  readonly dry_run: boolean;
  /** Share of the file that is done, from 0 to 1. */
  readonly progress: number;
  /** Rows per second; null before the first rows. */
  readonly rate: number | null;
  /** Rows by what became of them. */
  readonly counts: ContactImportCounts;
  /** Number of skipped rows by reason. */
  readonly reasons: { readonly [key: string]: number };
  /** Why the import failed; null otherwise. */
  readonly error: ContactImportError | null;
  /** Time of creation. */
  readonly created_at: string;
  /** When a worker began; null before. */
  readonly started_at: string | null;
  /** When it ended; null before. */
  readonly ended_at: string | null;
};

export type ContactImportCounts = {
  /** Rows that are done. */
  readonly rows: number;
  /** New contacts. */
  readonly created: number;
  /** Contacts that were changed. */
  readonly updated: number;
  /** Contacts that have everything the row says. */
  readonly unchanged: number;
  /** Rows that were not imported; see `reasons`. */
  readonly skipped: number;
  /** Rows that say that the person opted out, skipped ones included. */
  readonly opted_out: number;
  /** Rows whose opt-in was recorded. */
  readonly opted_in: number;
};

export type ContactImportError = {
  /** Machine-readable cause. */
  readonly code: PreparationErrorCode;
  /** Sentence for people. */
  readonly message: string;
};

export type ContactImportMapping = {
  /** Column of the phone number, counted from 0. */
  readonly phone_column: number;
  /** Column of calling codes or countries; null or absent for numbers that begin with `+`. */
  readonly country_code_column?: number | null;
  /** Column of the name, counted from 0, split at the first space; null or omitted if there is none. */
  readonly name_column?: number | null;
  /** Column of the e-mail address, counted from 0; null or omitted if there is none. */
  readonly email_column?: number | null;
  /** Column of each custom field by the field’s name, counted from 0; null or omitted if there is none. */
  readonly custom_field_mapping?: { readonly [key: string]: number } | null;
  /** Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null counts as absent: the workspace’s applies. */
  readonly default_country?: string | null;
  /** What the file says about consent: the number of a column, or an object; null for nothing. Opt-outs always count; an opt-in never overrides an opt-out. */
  readonly consent?: number | ConsentMapping | null;
  /** Column of the last name, null for none; `name_column` is then the first name. */
  readonly last_name_column?: number | null;
  /** A number is a column of names of tags, several in a cell between commas; a text is the name or id of a tag that every row gets. New names become tags. Null for none. */
  readonly tags?: readonly (number | string)[] | number | string | null;
};

export type ContactImportMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: ContactImport;
};

export type ContactImportMode = "create" | "update" | "both";

export type ContactImportPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (ContactImport)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type ContactImportReason = "INVALID_PHONE" | "MALFORMED_ROW" | "DUPLICATE" | "EXISTS" | "NOT_FOUND" | "CONSENT_UNCLEAR" | "FIELDS_TOO_LARGE";

export type ContactImportResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: ContactImport;
};

export type ContactImportResult = "created" | "updated" | "skipped";

export type ContactImportRow = {
  /** Line of the file on which the row begins; the header is line 1. */
  readonly line: number;
  /** What became of the row. Rows that changed nothing are not listed. */
  readonly result: ContactImportResult;
  /** Why the row was skipped; null otherwise. */
  readonly reason: ContactImportReason | null;
  /** What exactly is wrong, cells masked; null if there is nothing to add. */
  readonly detail: string | null;
  /** Id of the contact; null without one. */
  readonly contact_id: string | null;
  /** Number of the contact, digits with country calling code; null without one and after an erasure. */
  readonly phone_number: string | null;
};

export type ContactImportRowPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (ContactImportRow)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type ContactImportState = "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELLED";

export type ContactMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Contact;
};

export type ContactPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Contact)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type ContactResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Contact;
};

/** all_contacts: every subscribed contact. segmented: the contacts of `segments`. csv_contacts: the rows of a CSV. quick_contacts: the numbers in the request. failed_contacts: the failed recipients of `failed_campaign_id`. */
export type ContactSelectionType = "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";

export type ContactUpdatedEvent = {
  /** Always `contact.updated`. */
  readonly eventKey: "contact.updated";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: ContactData;
};

export type Conversation = {
  /** Unique id. */
  readonly id: string;
  /** Id of the contact. */
  readonly contactId: string;
  /** Id of the channel. */
  readonly channelId: string;
  /** Provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Current status. */
  readonly status: ConversationStatus;
  /** Kind of assignee. */
  readonly assignmentType: AssignmentType;
  /** User, team or bot that is responsible; null if unassigned. */
  readonly assignedTo: Assignee | null;
  /** Who answers. */
  readonly chatMode: ChatMode;
  /** `asks_to_stop`: the contact wrote a sentence that may be an opt-out. Cleared when the conversation is resolved or closed. */
  readonly labels: readonly (ConversationLabel)[];
  /** First and last name of the contact, else its chat name; may be empty. */
  readonly contactName: string;
  /** Phone number of the contact: digits with country calling code; null if unknown. */
  readonly contactPhoneNumber: string | null;
  /** Time of the last message in either direction; null without one. */
  readonly lastMessageAt: string | null;
  /** Time of the contact’s last message; for 24 hours from then it can be answered without a template. Null if it never wrote. */
  readonly lastInboundAt: string | null;
  /** Time at which the conversation was closed; null while it is not. */
  readonly closedAt: string | null;
  /** Time of creation. */
  readonly createdAt: string;
  /** Time of the last change. */
  readonly updatedAt: string;
};

export type ConversationAssignedData = {
  /** Id of the conversation. */
  readonly conversationId: string;
  /** Id of the channel. */
  readonly channelId: string;
  /** Provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Id of the contact. */
  readonly contactId: string;
  /** Kind of assignee. */
  readonly assignmentType: AssignmentType;
  /** User, team or bot that is responsible; null if unassigned. */
  readonly assignedTo: Assignee | null;
  /** User who made the assignment; null if it was made automatically. */
  readonly assignedBy: Actor | null;
  /** Who answers. */
  readonly chatMode: ChatMode;
  /** What made the assignment. */
  readonly source: AssignmentSource;
};

export type ConversationAssignedEvent = {
  /** Always `conversation.assigned`. */
  readonly eventKey: "conversation.assigned";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: ConversationAssignedData;
};

export type ConversationLabel = "asks_to_stop";

export type ConversationMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Conversation;
};

export type ConversationPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Conversation)[];
  /** Position of this page in the list. */
  readonly pagination: Pagination;
};

export type ConversationResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Conversation;
};

/** resolved: answered; closed: ended. A new message of the contact opens a conversation. */
export type ConversationStatus = "open" | "resolved" | "closed";

export type ConversationStatusChangedData = {
  /** Id of the conversation. */
  readonly conversationId: string;
  /** Id of the channel. */
  readonly channelId: string;
  /** Provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Id of the contact. */
  readonly contactId: string;
  /** Status before the change. */
  readonly previousStatus: ConversationStatus;
  /** Status after the change. */
  readonly newStatus: ConversationStatus;
  /** Time at which the conversation was closed; null while it is not. */
  readonly closedAt: string | null;
  /** User who made the change; null if it was automatic. */
  readonly changedBy: Actor | null;
};

export type ConversationStatusChangedEvent = {
  /** Always `conversation.status_changed`. */
  readonly eventKey: "conversation.status_changed";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: ConversationStatusChangedData;
};

export type CountSegment = {
  /** Conditions on contacts, 1 to 50, at most 64 KiB as JSON; `match` combines them. */
  readonly conditions: readonly (SegmentCondition)[];
  /** `all` (default): a contact must meet every condition; `any`: one is enough. */
  readonly match?: FilterMatch;
};

export type CreateCampaign = {
  /** Name for people. */
  readonly name: string;
  /** Id of an approved template of the channel’s business account. */
  readonly template_id: string;
  /** Source of the audience. */
  readonly contact_selection_type: ContactSelectionType;
  /** Time of sending: IMMEDIATE, or SCHEDULED at `scheduled_at`. */
  readonly send_type: SendType;
  /** Note for your own use, at most 1,000 characters; default none. */
  readonly description?: string;
  /** Must not be sent: the API key of a channel supplies it. */
  readonly channel_id?: unknown;
  /** Must not be sent: the API key of a channel supplies it. */
  readonly phone_number_id?: unknown;
  /** Further conditions that contacts of `segmented` must meet; without `segments`, they alone choose the contacts. */
  readonly contact_filters?: ContactFilters;
  /** Ids of up to 100 segments, for `segmented`; contacts of any of them are included. May be empty or missing if `contact_filters` has conditions. All conditions together may hold 10,000 values. */
  readonly segments?: readonly (string)[];
  /** Phone numbers in international form, each optionally with values of body variables after `,`, `|` or `;`: `+4915112345678,Ada,12`. */
  readonly quick_contacts?: readonly (string)[];
  /** Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null counts as absent: the workspace’s applies. */
  readonly default_country?: string | null;
  /** CSV text with a header row and at least one data row; for more than 8 MiB upload a file. */
  readonly csv_contacts_string?: string;
  /** Key of an uploaded CSV, for `csv_contacts`, from `POST /api/campaigns/csv-files`. */
  readonly csv_file_key?: string;
  /** `csv_file_url` of an upload, or a public address of a CSV, for `csv_contacts`. */
  readonly csv_file_url?: string;
  /** Columns of the CSV by meaning, counted from 0. */
  readonly csv_mapping?: CsvMapping;
  /** Id of the campaign whose failed recipients form the audience, for `failed_contacts`. */
  readonly failed_campaign_id?: string;
  /** Only recipients that failed for these reasons, for `failed_contacts`; default all but those that would fail again (`NO_CHANCE`). */
  readonly failed_reasons?: readonly (RecipientReason)[];
  /** Contact field or text for each variable of the template. */
  readonly variable_mapping?: VariableMapping;
  /** Time at which sending begins, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at?: string | null;
  /** Hours in which the campaign may send, within the window of the workspace; default any. */
  readonly sending_window?: SendingWindow;
  /** The campaign pauses with MAX_COST before its messages could cost more, as a decimal string in the currency of the wallet; default no maximum. */
  readonly max_cost?: string;
  /** True if the workspace’s sending window does not apply; needs an operator’s key. Default false. */
  readonly ignore_quiet_hours?: boolean;
  /** True if the workspace’s frequency cap does not apply; needs an operator’s key. Default false. */
  readonly ignore_frequency_cap?: boolean;
};

export type CreateContact = {
  /** Phone number in any spelling: national digits, or international with `+`. */
  readonly phoneNumber: string;
  /** Country calling code, with or without `+`; may be omitted if the number begins with `+`. */
  readonly countryCode?: string;
  /** First name; empty if unknown (default). */
  readonly firstName?: string;
  /** Last name; empty if unknown (default). */
  readonly lastName?: string;
  /** Name to show in the chat; empty if unknown (default). */
  readonly chatName?: string;
  /** E-mail address; empty if unknown (default). */
  readonly email?: string;
  /** False records an opt-out from everything; see `consent`. Default: true, unless the person opted out before. */
  readonly subscribed?: boolean;
  /** What the contact agrees to receive. Takes precedence over `subscribed`. */
  readonly consent?: ContactConsent;
  /** Custom fields, each `fieldId` once; default none. */
  readonly customFields?: readonly (CustomFieldValue)[];
  /** Ids of tags; default none. */
  readonly tagsId?: readonly (string)[];
  /** Date of birth; null when unknown. */
  readonly dob?: string | null;
};

export type CreateContactImport = {
  /** `csv_file_key` of the upload. */
  readonly csv_file_key: string;
  /** Columns by meaning, counted from 0; guessed if it is null or absent. */
  readonly mapping?: ContactImportMapping | null;
  /** `create`: only people without a contact; `update`: only contacts; `both` (default). Values of the file replace those of a contact; blank cells do not. */
  readonly mode?: ContactImportMode;
  /** Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null counts as absent: the workspace’s applies. */
  readonly default_country?: string | null;
  /** `true` changes no contact, and shows what would become of the rows; default `false`. */
  readonly dry_run?: boolean;
};

export type CreatedCampaign = {
  /** Always `success`. */
  readonly status: "success";
  /** Always `201`. */
  readonly code: 201;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: CreatedCampaignData;
  /** Time of this response (ISO 8601, UTC). */
  readonly timestamp: string;
};

export type CreatedCampaignData = {
  /** Created campaign. */
  readonly campaign: InitialCampaign;
  /** Facts known before the audience is prepared. */
  readonly summary: CampaignSummary;
  /** Probable mistakes that do not prevent the campaign: unknown fields of the body; `{{firstname}}`, which is the name of no field and would be sent as it stands; a field with little room left in its text; numbers in ranges that are not known to be in use; digits that are probably national numbers of one country; a start that the sending window delays. */
  readonly warnings: readonly (FieldProblem)[];
};

export type CreateSegment = {
  /** Name for people. */
  readonly name: string;
  /** Conditions on contacts, 1 to 50, at most 64 KiB as JSON; `match` combines them. */
  readonly conditions: readonly (SegmentCondition)[];
  /** `all` (default): every condition must hold; `any`: one is enough. */
  readonly match?: FilterMatch;
};

export type CreateTag = {
  /** Name for people. */
  readonly name: string;
  /** Colour of the tag’s text as `#rrggbb`; default `#1f2937`. */
  readonly text_color?: string;
  /** Colour of the tag’s background as `#rrggbb`; default `#e5e7eb`. */
  readonly background_color?: string;
  /** Id of the user who creates the tag; default the API key’s id. */
  readonly createdBy?: string;
};

export type CreateWebhook = {
  /** Title for people. */
  readonly title: string;
  /** Address that receives deliveries: http or https, public. */
  readonly url: string;
  /** Events that the webhook receives. */
  readonly events: readonly (EventKey)[];
  /** Status of the new webhook; default `active`. */
  readonly status?: ChosenWebhookStatus;
  /** Secret that signs deliveries; null or omitted for none. `whsec_` and the Base64 of 24 to 64 random bytes suits Standard Webhooks libraries; of any other text the UTF-8 bytes are the key. */
  readonly secret?: string | null;
};

export type CsvFile = {
  /** Key of the file, for `csv_file_key` of a campaign. */
  readonly csv_file_key: string;
  /** Address of the file, for `csv_file_url` of a campaign; a download needs an API key. */
  readonly csv_file_url: string;
  /** Size of the file in bytes. */
  readonly size: number;
  /** Number of data rows that were checked, from the beginning of the file. */
  readonly rows_sampled: number;
  /** Cells of the header row. */
  readonly headers: readonly (string)[];
};

export type CsvFileResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: CsvFile;
};

export type CsvMapping = {
  /** Column of the phone number, counted from 0. */
  readonly phone_column: number;
  /** Column of calling codes or countries (`49`, `+49`, `0049`, `DE`), counted from 0. Numbers that begin with `+` ignore it; if all do, repeat `phone_column`. */
  readonly country_code_column: number;
  /** Column of the name, counted from 0; null or omitted if there is none. */
  readonly name_column?: number | null;
  /** Column of the e-mail address, counted from 0; null or omitted if there is none. */
  readonly email_column?: number | null;
  /** Column of each custom field by the field’s name, counted from 0; null or omitted if there is none. */
  readonly custom_field_mapping?: { readonly [key: string]: number } | null;
  /** Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null counts as absent: the workspace’s applies. */
  readonly default_country?: string | null;
  /** What the file says about consent: the number of a column, or an object; null for nothing. Opt-outs always count; an opt-in never overrides an opt-out. */
  readonly consent?: number | ConsentMapping | null;
};

export type CsvPreview = {
  /** Character between the cells: comma, semicolon, tab or vertical bar. */
  readonly delimiter: string;
  /** Line of the file on which the column names begin; titles may come before them. */
  readonly header_line: number;
  /** Names of the first 500 columns, shortened if long. */
  readonly headers: readonly (string)[];
  /** `csv_mapping` of the request, or the guessed one. */
  readonly mapping: CsvMapping;
  /** Confidence of the guess from 0 to 1, by field of the mapping. */
  readonly confidence: { readonly [key: string]: number };
  /** First ten rows, fewer if they are long, each with its first 500 cells. */
  readonly rows: readonly (CsvPreviewRow)[];
  /** Number of rows that would be skipped, by reason. */
  readonly reasons: { readonly [key: string]: number };
  /** Rows that would be skipped, of those that were read; empty unless `with_skipped_rows` is true. */
  readonly skipped_rows: readonly (CsvSkippedRow)[];
  /** Number of data rows that were read, at most 10,000. */
  readonly rows_read: number;
  /** False if the file has more rows than were read. */
  readonly is_whole: boolean;
  /** Numbers in ranges that are not known to be in use, by country (ISO 3166 alpha-2); they are sent to. */
  readonly unverified_numbers: { readonly [key: string]: number };
  /** Probable mistakes: numbers in ranges that are not known to be in use; digits that are probably national numbers of one country. */
  readonly warnings: readonly (FieldProblem)[];
  /** Problems of the variable mapping with the template, by field. */
  readonly problems: readonly (FieldProblem)[];
};

export type CsvPreviewResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: CsvPreview;
};

export type CsvPreviewRow = {
  /** Line of the file on which the row begins; the header is line 1. Null if unknown. */
  readonly line: number | null;
  /** Cells of the row; empty if the row is not valid CSV. */
  readonly cells: readonly (string)[];
  /** Phone number of the row: digits with country calling code; null if it is not valid. */
  readonly phone_number: string | null;
  /** Reason why the row would be skipped; null if it would not. */
  readonly reason: SkipReason | null;
  /** Detail of the reason: the number as given, or the empty variable; null without one. */
  readonly reason_detail: string | null;
  /** Message as the recipient would read it; null without a template and for skipped rows. */
  readonly message: MessagePreview | null;
};

export type CsvSkippedRow = {
  /** Line of the file on which the row begins; the header is line 1. Null if unknown. */
  readonly line: number | null;
  /** Digits with country calling code; null if the number is not valid. */
  readonly phone_number: string | null;
  /** Reason why the row would be skipped. */
  readonly reason: SkipReason;
  /** Detail: the number as given, or the empty variable; null without one. */
  readonly reason_detail: string | null;
};

export type CursorPagination = {
  /** Most records in a page of this list. */
  readonly limit: number;
  /** Value of `cursor` for the next page; null on the last page. */
  readonly nextCursor: string | null;
};

export type CustomField = {
  /** Name of the custom field. */
  readonly fieldId: string;
  /** The value. */
  readonly value: string;
};

export type CustomFieldValue = {
  /** Name of the custom field. */
  readonly fieldId: string;
  /** The value. */
  readonly value: string;
};

export type DefaultCountry = {
  /** Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null counts as absent: the workspace’s applies. */
  readonly default_country: string | null;
};

export type DefaultCountryMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: DefaultCountry;
};

export type DefaultCountryResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: DefaultCountry;
};

export type DeliveredEvent = {
  /** Always `delivered`. */
  readonly eventKey: "delivered";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: MessageStatusData;
};

export type Delivery = {
  /** Unique id. */
  readonly id: string;
  /** Id of the webhook. */
  readonly webhookId: string;
  /** Id of the delivered event; every resend keeps it. */
  readonly eventId: string;
  /** Key of the event. */
  readonly eventKey: string;
  /** Current state. */
  readonly state: DeliveryState;
  /** Reason of the failure; null unless the delivery failed. */
  readonly errorCode: DeliveryErrorCode | null;
  /** HTTP status of the receiver’s response; null without one. */
  readonly responseStatus: number | null;
  /** Beginning of the receiver’s response; null without one. */
  readonly responseExcerpt: string | null;
  /** Duration of the attempt in milliseconds; null before it ends. */
  readonly durationMs: number | null;
  /** Time at which the request was sent; null while it waits. */
  readonly attemptedAt: string | null;
  /** Time of creation. */
  readonly createdAt: string;
};

export type DeliveryDetail = {
  /** Unique id. */
  readonly id: string;
  /** Id of the webhook. */
  readonly webhookId: string;
  /** Id of the delivered event; every resend keeps it. */
  readonly eventId: string;
  /** Key of the event. */
  readonly eventKey: string;
  /** Current state. */
  readonly state: DeliveryState;
  /** Reason of the failure; null unless the delivery failed. */
  readonly errorCode: DeliveryErrorCode | null;
  /** HTTP status of the receiver’s response; null without one. */
  readonly responseStatus: number | null;
  /** Beginning of the receiver’s response; null without one. */
  readonly responseExcerpt: string | null;
  /** Duration of the attempt in milliseconds; null before it ends. */
  readonly durationMs: number | null;
  /** Time at which the request was sent; null while it waits. */
  readonly attemptedAt: string | null;
  /** Time of creation. */
  readonly createdAt: string;
  /** Body of the delivery; null after the event’s retention period. */
  readonly payload: string | null;
};

export type DeliveryDetailResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: DeliveryDetail;
};

/** blocked_address: The address is private, or reserved for the network of this service. Use a public address. dns_error: The host name does not resolve. Correct the URL or the DNS record. dns_timeout: The name servers did not answer in time. Check the name servers of the domain, then resend. connection_refused: Nothing listens at the address and port. Start the receiver or correct the port, then resend. connection_reset: The connection broke before the answer was complete. Look into the log of the receiver and its proxies, then resend. tls_error: The TLS handshake failed or the certificate is not valid. Renew or complete the certificate chain, then resend. timeout: No answer came within five seconds. Answer first and process the event afterwards. redirect: The receiver answered with a redirect. Set the URL to its target. non_2xx: The receiver answered with a status other than 2xx. Look at `responseStatus` and `responseExcerpt`, correct the receiver, then resend. protocol_error: The answer is not valid HTTP. Check that the port serves HTTP, or HTTPS for an https URL. payload_too_large: The event is larger than 256 KB and was not sent. Read the record by its id over the API. endpoint_inactive: The webhook was deleted before the delivery was due. Create the webhook again, or read the event feed. disabled: The webhook was disabled because it had only failed for days. Repair the receiver, set the webhook to active, then resend. interrupted: The service stopped during the attempt: the receiver may have got the event. Resend it; `webhook-id` lets the receiver recognise a repetition. expired: The delivery waited too long for its attempt. Make the receiver faster, then resend. erased: The person of the event was erased before the delivery. Nothing: the event no longer exists. */
export type DeliveryErrorCode = "blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "disabled" | "interrupted" | "expired" | "erased";

export type DeliveryMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Delivery;
};

export type DeliveryPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Delivery)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

/** pending: waits to be sent. sending: the attempt is under way. delivered: the receiver answered 2xx within five seconds. failed: anything else; you can resend it. */
export type DeliveryState = "pending" | "sending" | "delivered" | "failed";

/** STATUS is the summary of the others; PACE: other campaigns, throttling and the provider. */
export type DiagnosisCheck = "STATUS" | "PREPARATION" | "SCHEDULE" | "SENDING_WINDOW" | "QUOTA" | "TEMPLATE" | "CHANNEL" | "PACE" | "WALLET" | "WORKER";

export type DiagnosisEntry = {
  /** Name of the check. */
  readonly check: DiagnosisCheck;
  /** False if this check keeps the campaign from sending. */
  readonly ok: boolean;
  /** Result of the check as a sentence. */
  readonly detail: string;
  /** What you can do about it; null if nothing. */
  readonly action: string | null;
  /** Amount the wallet lacks to send to all waiting recipients, as a decimal string; absent if nothing is missing. */
  readonly missing?: string;
};

export type DifferenceCause = "OTHER_SENDERS" | "TIER" | "AUTHENTICATION_INTERNATIONAL" | "MAX_PRICE";

/** Machine-readable cause of the error. Stable: codes may be added, and none changes its meaning. */
export type ErrorCode = "unauthorized" | "jwt_not_allowed" | "forbidden" | "validation_failed" | "malformed_request" | "name_required" | "channel_required" | "schedule_in_past" | "feature_unavailable" | "quota_exhausted" | "insufficient_balance" | "provider_rejected" | "template_not_found" | "template_not_approved" | "not_found" | "method_not_allowed" | "cursor_expired" | "request_timeout" | "conflict" | "idempotency_conflict" | "idempotency_mismatch" | "too_large" | "unsupported_media_type" | "expectation_failed" | "rate_limited" | "messaging_limit" | "provider_unreachable" | "outcome_unknown" | "unavailable" | "internal_error";

export type EventDescription = {
  /** Key of the event. */
  readonly eventKey: EventKey;
  /** When the event occurs. */
  readonly description: string;
  /** JSON Schema 2020-12 of the request body. */
  readonly schema: { readonly [key: string]: unknown };
  /** Example of a request body. */
  readonly example: WebhookEvent;
};

export type EventFeed = {
  /** True if every event is stored, whether or not a webhook wants it. */
  readonly enabled: boolean;
  /** Cursor before the oldest event that is kept. */
  readonly oldestCursor: string;
  /** Cursor after the latest event: a reader that begins here gets what comes from now on. */
  readonly latestCursor: string;
};

export type EventFeedMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: EventFeed;
};

export type EventFeedResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: EventFeed;
};

/** Key of an event; `GET /api/external-webhooks/events` describes each. */
export type EventKey = "incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed";

export type EventPage = {
  /** Always `success`. */
  readonly status: "success";
  /** This page of the list. */
  readonly data: readonly (FeedEvent)[];
  /** Position of this page in the list. */
  readonly pagination: EventPagination;
};

export type EventPagination = {
  /** Most records in a page of this list. */
  readonly limit: number;
  /** Always set, at the end of the feed too: pass it as `after` to continue. */
  readonly nextCursor: string;
  /** False at the end of the feed. */
  readonly hasMore: boolean;
};

export type EventWithoutData = {
  /** Key of the event. */
  readonly eventKey: FeedKey;
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** Result of the request. */
  readonly data: NoEventData;
};

export type ExplainedCampaign = {
  /** Unique id. */
  readonly id: string;
  /** Name of the campaign. */
  readonly name: string;
};

export type ExplainedPrice = {
  /** Amount as a decimal string in the wallet’s currency, up to six decimal places. */
  readonly amount: string;
  /** ISO 4217; null without a wallet. */
  readonly currency: string | null;
  /** none: nothing was charged. reserved: it may be charged. charged. refunded. */
  readonly settlement: Settlement;
};

export type ExplainedReceipts = {
  /** When the provider took it; null if unknown. */
  readonly accepted_at: string | null;
  /** When it was sent; null if unknown. */
  readonly sent_at: string | null;
  /** When it was delivered; null if unknown. */
  readonly delivered_at: string | null;
  /** When it was read; null if unknown. */
  readonly read_at: string | null;
};

export type ExplainedTemplate = {
  /** Unique id. */
  readonly id: string;
  /** Name of the template. */
  readonly name: string;
  /** Language, such as `en_US`. */
  readonly language: string;
  /** Provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
  readonly category: string;
};

export type FailedEvent = {
  /** Always `failed`. */
  readonly eventKey: "failed";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: MessageStatusData;
};

export type FailureBrake = {
  /** off: campaigns neither pause because their messages fail nor wait for their first statuses. default: as the rules of `pause_evidence` say. strict: with half of their numbers. */
  readonly failure_brake: FailureBrakeSetting;
};

export type FailureBrakeMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: FailureBrake;
};

export type FailureBrakeResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: FailureBrake;
};

export type FailureBrakeSetting = "off" | "default" | "strict";

export type FailureSource = "answer" | "status";

export type FeedEvent = {
  /** Id of the event: the header `webhook-id` of its deliveries. */
  readonly id: string;
  /** Place of the event in the feed; as `after` it continues with the next event. */
  readonly cursor: string;
  /** The body as webhooks carry it, byte for byte. */
  readonly body: WebhookEvent | NoticeEvent | EventWithoutData;
};

export type FeedKey = "incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed" | "notice";

export type FieldProblem = {
  /** Path of the field, such as `variable_mapping.body.1`. */
  readonly field: string;
  /** What is wrong with the field and how to correct it. */
  readonly message: string;
};

export type FilterMatch = "all" | "any";

/** eq, neq: equal or not. contains, not_contains, starts_with: parts of a text. in, not_in: one of a list. gt, gte, lt, lte: later or earlier, for times. exists, not_exists: the field has a value or none. */
export type FilterOperator = "eq" | "neq" | "contains" | "not_contains" | "starts_with" | "in" | "not_in" | "gt" | "gte" | "lt" | "lte" | "before" | "after" | "within_days" | "not_within_days" | "exists" | "not_exists";

export type FrequencyCap = {
  /** Messages that a contact gets at most in `days`. */
  readonly messages: number;
  /** Days before the present, of 24 hours each. */
  readonly days: number;
  /** Categories of templates: messages of these are counted, and only messages of these are left out. */
  readonly categories: readonly (CappedCategory)[];
};

export type GetCampaignDiagnosisEnvelope = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (DiagnosisEntry)[];
};

export type GetCampaignTimelineEnvelope = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (TimelinePart)[];
};

export type GetFrequencyCapEnvelope = {
  readonly status: SuccessStatus;
  /** Frequency cap of the workspace; null if there is no limit. */
  readonly data: FrequencyCap | null;
};

export type GetHealthEnvelope = {
  /** Always `ok`. */
  readonly status: "ok";
};

export type GetNoticeTargetEnvelope = {
  readonly status: SuccessStatus;
  /** Address to which notices are posted; null if they are not posted. */
  readonly data: NoticeTarget | null;
};

export type GetReadinessEnvelope = {
  /** Always `ready`. */
  readonly status: "ready";
};

export type GetSendingWindowEnvelope = {
  readonly status: SuccessStatus;
  /** Sending window of the workspace; null if none is set. */
  readonly data: SendingWindow | null;
};

/** Text variables by position or name; `link` or `id` of a media file, with `filename` for a document; `latitude`, `longitude`, `name` and `address` of a location; `product` of a product header. */
export type HeaderValues = {
  /** Public address of the header’s media file. */
  readonly link?: string;
  /** Provider’s id of an uploaded media file; alternative to `link`. */
  readonly id?: string;
  /** File name that a document header shows. */
  readonly filename?: string;
  /** Latitude of a location header in degrees. */
  readonly latitude?: string;
  /** Longitude of a location header in degrees. */
  readonly longitude?: string;
  /** Name of a location header. */
  readonly name?: string;
  /** Address of a location header. */
  readonly address?: string;
  /** Product that the header shows. */
  readonly product?: {
    /** Product id in the catalogue. */
    readonly product_retailer_id?: string;
    /** Provider’s id of the catalogue. */
    readonly catalog_id?: string;
  };
};

export type HistoryCampaign = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
};

export type HistoryItem = {
  /** Unique id. */
  readonly id: string;
  /** Time at which the message was accepted, received or refused. */
  readonly at: string;
  /** Direction: `inbound` from the contact, `outbound` to it. */
  readonly direction: MessageDirection;
  /** Provider’s kind of message: `template`, `text`, `image` and so on. */
  readonly type: string;
  /** State of the recipient, or `RECEIVED` for an inbound message. */
  readonly state: string;
  /** Reason why an outbound message failed; null otherwise. */
  readonly reason: RecipientReason | null;
  /** Text of an inbound message; null if it has none. */
  readonly text: string | null;
  /** Template of an outbound message; null otherwise. */
  readonly template: HistoryTemplate | null;
  /** Campaign of an outbound message; null without one. */
  readonly campaign: HistoryCampaign | null;
};

export type HistoryItemPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (HistoryItem)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type HistoryTemplate = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
};

export type InboundMessage = {
  /** Provider’s id of the inbound message. */
  readonly id: string;
  /** Phone number of the sender, digits with country calling code. */
  readonly from: string;
  /** Time of the message in seconds since 1970 (UTC), as a string. */
  readonly timestamp: string;
  /** Provider’s kind of message, such as `text` or `image`. */
  readonly type: string;
  /** Text, for messages of type `text`. */
  readonly text?: MessageText;
};

export type IncomingData = {
  /** Message as the provider delivered it. */
  readonly message: InboundMessage;
  /** Provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Id of the message in this service. */
  readonly messageId: string;
  /** Id of the campaign whose message the contact answered; null without one. */
  readonly campaignId: string | null;
  /** Id of the sender’s contact; null when unknown. */
  readonly contactId: string | null;
  /** Id of the conversation; null when unknown. */
  readonly conversationId: string | null;
  /** Provider’s notification, unchanged. */
  readonly providerEvent: ProviderNotification;
  /** True if another app on the same number answers this conversation; absent otherwise. */
  readonly standby?: boolean;
};

export type IncomingEvent = {
  /** Always `incoming`. */
  readonly eventKey: "incoming";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: IncomingData;
};

export type InitialCampaign = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Note for your own use, at most 1,000 characters; null or omitted if there is none. */
  readonly description: string | null;
  /** Id of the template. */
  readonly template_id: string;
  /** Source of the audience. */
  readonly contact_selection_type: ContactSelectionType;
  /** Number of recipients that can be sent to; 0 until preparation ends. */
  readonly total_contacts: number;
  /** Number of recipients that are skipped. */
  readonly total_contacts_skipped: number;
  /** Whether the recipients are determined. */
  readonly preparation_status: PreparationStatus;
  /** Increases with each preparation; starts at 1. */
  readonly preparation_version: number;
  /** Increases when the set of recipients changes; starts at 1. */
  readonly audience_version: number;
  /** Current status. */
  readonly status: CampaignStatus;
  /** Time of sending: IMMEDIATE, or SCHEDULED at `scheduled_at`. */
  readonly send_type: SendType;
  /** Time at which sending begins, with a time zone; null for IMMEDIATE. */
  readonly scheduled_at: string | null;
  /** Id of the workspace. */
  readonly workspace_id: number;
  /** True for campaigns created through this API. */
  readonly is_auto_trigger: boolean;
  /** Time of creation. */
  readonly created_at: string;
  /** Time of the last change. */
  readonly updated_at: string;
  /** Campaign’s own sending window; null if only the workspace’s applies. */
  readonly sending_window?: SendingWindow | null;
  /** True if the workspace’s sending window does not apply. */
  readonly ignore_quiet_hours?: boolean;
  /** Earliest start of sending: `scheduled_at`, the creation time, or the next opening of the sending window; null once sending has begun. */
  readonly begins_at?: string | null;
};

export type LedgerEntry = {
  /** Unique id. */
  readonly id: string;
  /** Id of the channel. */
  readonly channel_id: string;
  /** Reason why the balance changed. */
  readonly kind: LedgerEntryKind;
  /** Change of the balance as a decimal string; negative for a charge. */
  readonly amount: string;
  /** Id of the campaign the entry belongs to; null without one. */
  readonly campaign_id: string | null;
  /** Id of the message the entry pays for; null without one. */
  readonly message_id: string | null;
  /** Number of messages the entry pays for; null for a recharge or a correction. */
  readonly message_count: number | null;
  /** Note of the operator; null without one. */
  readonly reason: string | null;
  /** Time of creation. */
  readonly created_at: string;
};

/** recharge: money was added. charge: messages were accepted. refund: messages failed afterwards. correction: a charge was set right. adjustment: the operator changed the balance. */
export type LedgerEntryKind = "recharge" | "adjustment" | "charge" | "refund" | "correction";

export type LedgerEntryPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (LedgerEntry)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type LimitedTimeOffer = {
  /** End of the offer in milliseconds since 1970 (UTC), in the future. */
  readonly expiration_time_ms?: number;
};

export type ListChannelsEnvelope = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Channel)[];
};

export type ListContactFieldsEnvelope = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (ContactField)[];
};

export type ListPriceCardsEnvelope = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (PriceCard)[];
};

export type ListWebhookEventsEnvelope = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (EventDescription)[];
};

export type LoadedPrices = {
  /** Loaded card; null after a dry run. */
  readonly card: PriceCard | null;
  /** False if nothing was loaded: a dry run, or the same file again. */
  readonly loaded: boolean;
  /** What rises, falls, comes or goes, compared with the card before. */
  readonly differences: readonly (PriceDifference)[];
  /** What is unusual about the card, although it can be loaded. */
  readonly warnings: readonly (string)[];
};

export type LoadedPricesResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: LoadedPrices;
};

export type LoggedRequest = {
  /** Unique id. */
  readonly id: string;
  /** Time at which the request began. */
  readonly at: string;
  /** Id of the API key. */
  readonly key_id: string;
  /** HTTP method. */
  readonly method: string;
  /** Declared path with ids filled in; other parameters stay names, such as `:key`. No query string. */
  readonly path: string;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Code of the error; null for a success. */
  readonly error_code: string | null;
  /** X-Request-Id of the answer. */
  readonly request_id: string;
  /** Time until the answer was sent, in milliseconds. */
  readonly duration_ms: number;
};

export type LoggedRequestPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (LoggedRequest)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type Media = {
  /** Unique id. */
  readonly id: string;
  /** Media type of the file, such as `image/png`. */
  readonly mime_type: string;
  /** Size of the file in bytes. */
  readonly size: number;
};

export type MediaResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Media;
};

export type Message = {
  /** Id of the message in this service; its events call it `messageId`. */
  readonly id: string;
  /** `inbound`: from the contact; `outbound`: to it. */
  readonly direction: MessageDirection;
  /** Sender of the message; `contact` for inbound messages. */
  readonly source: MessageOrigin;
  /** Current state. */
  readonly state: MessageState;
  /** Reason of a failure or an unknown outcome; null otherwise. */
  readonly reason: RecipientReason | null;
  /** Provider’s explanation of the reason; null without one. */
  readonly reasonDetail: string | null;
  /** Id of the channel. */
  readonly channelId: string;
  /** Provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Number of the contact: digits with country calling code; null if the provider hides it. */
  readonly phoneNumber: string | null;
  /** Id of the contact; null if the number belongs to none. */
  readonly contactId: string | null;
  /** Id of the message’s conversation; null without one. */
  readonly conversationId: string | null;
  /** Id of the campaign that sent the message, that it tests, or that it answers; null without one. */
  readonly campaignId: string | null;
  /** Id of the template that was sent; null for other messages. */
  readonly templateId: string | null;
  /** Provider’s kind of message, such as `template`, `text` or `image`. */
  readonly type: string;
  /** Text or caption; null for templates and for media without a caption. */
  readonly text: string | null;
  /** Provider’s id of the message; null until the provider accepts it. */
  readonly providerMessageId: string | null;
  /** Time of creation. */
  readonly createdAt: string;
  /** Time of the last change. */
  readonly updatedAt: string;
};

/** outbound: to the contact. inbound: from it. */
export type MessageDirection = "outbound" | "inbound";

export type MessageExplanation = {
  /** The message itself. */
  readonly message: Message;
  /** Consent in force when the message left. */
  readonly consent: ConsentInForce;
  /** The campaign that sent it; null for a single send and a message of the person. */
  readonly campaign: ExplainedCampaign | null;
  /** The template; null without one. */
  readonly template: ExplainedTemplate | null;
  /** What it cost. */
  readonly price: ExplainedPrice;
  /** Times of a campaign’s message; of a single send its events tell. */
  readonly receipts: ExplainedReceipts;
};

export type MessageExplanationResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: MessageExplanation;
};

/** contact: an inbound message. campaign, api (single send), inbox, chatbot, assistant: sent through this service. app: sent in the provider’s app. unknown: sent by another system. */
export type MessageOrigin = "campaign" | "api" | "inbox" | "chatbot" | "assistant" | "app" | "unknown" | "contact";

export type MessagePage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Message)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type MessagePreview = {
  /** `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT` or another format of the provider; null without a header. */
  readonly headerFormat: string | null;
  /** Header text, media address, or product id; null without a header. */
  readonly header: string | null;
  /** Text of the message; null if the template has none. */
  readonly body: string | null;
  /** Buttons of the message, in order. */
  readonly buttons: readonly (PreviewButton)[];
  /** Text below the message; null if the template has none. */
  readonly footer: string | null;
  /** Cards of a carousel, in order. */
  readonly cards: readonly (PreviewCard)[];
};

export type MessagePrice = {
  /** Category of the messages the price is for. */
  readonly category: string;
  /** Country as ISO 3166-1 alpha-2; null for every country without a price of its own. */
  readonly country: string | null;
  /** Price of one message as a decimal string. */
  readonly price: string;
};

export type MessagePricing = unknown;

export type MessageResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Message;
};

/** Sender of the message that the status is about; `unknown` if this service did not send it. */
export type MessageSource = "campaign" | "api" | "inbox" | "chatbot" | "assistant" | "app" | "unknown";

/** RECEIVED: an inbound message. The other states are those of `RecipientState`. */
export type MessageState = "PENDING" | "CLAIMED" | "ACCEPTED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | "CANCELLED" | "SKIPPED" | "RECEIVED";

export type MessageStatus = {
  /** Provider’s id of the message. */
  readonly id: string;
  /** `sent`, `delivered`, `read` or `failed`. */
  readonly status: string;
  /** Time of the status in seconds since 1970 (UTC), as a string. */
  readonly timestamp: string;
  /** Phone number of the recipient: digits with country calling code. */
  readonly recipient_id: string;
  /** Provider’s price of the message; only with some statuses. */
  readonly pricing?: MessagePricing;
  /** Provider’s errors; only with status `failed`. */
  readonly errors?: readonly ({ readonly [key: string]: unknown })[];
  /** Id of the message in this service, if the provider returned it. */
  readonly biz_opaque_callback_data?: string;
};

export type MessageStatusData = {
  /** Current status. */
  readonly status: MessageStatus;
  /** Provider’s id of the sending number. */
  readonly phoneNumberId: string;
  /** Sender of the message. */
  readonly messageSource: MessageSource;
  /** Id of the message in this service; null if another system sent it. */
  readonly messageId: string | null;
  /** Id of the message’s campaign; null for single sends and test messages. */
  readonly campaignId: string | null;
  /** Id of the recipient’s contact; null when unknown. */
  readonly contactId: string | null;
  /** Provider’s notification, unchanged. */
  readonly providerEvent: ProviderStatuses;
};

export type MessageText = {
  /** Text of the message. */
  readonly body: string;
};

export type NoEventData = {
  /** Set if the person of the event was erased. */
  readonly erased?: true;
  /** Set if the event is larger than 256 KB. */
  readonly too_large?: true;
};

export type Notice = {
  /** Unique id. */
  readonly id: string;
  /** Kind of the notice. */
  readonly kind: NoticeKind;
  /** Record that the notice is about. */
  readonly subject: NoticeSubject;
  /** Text for people. */
  readonly message: string;
  /** Time of creation. */
  readonly createdAt: string;
  /** Time at which the notice was marked as read; null while unread. */
  readonly readAt: string | null;
};

export type NoticeData = {
  /** Kind of the notice. */
  readonly kind: "template_status" | "template_category" | "channel_blocked" | "channel_quality" | "messaging_limit" | "webhook_disabled" | "campaign_paused" | "campaign_failed" | "unlisted_code" | "low_balance" | "price_card" | "asks_to_stop" | "price_difference";
  /** Record that the notice is about. */
  readonly subject: NoticeEventSubject;
  /** Text for people. */
  readonly message: string;
};

export type NoticeEvent = {
  /** Always `notice`. */
  readonly eventKey: "notice";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: NoticeData;
};

export type NoticeEventSubject = {
  /** Kind. */
  readonly type: NoticeSubjectType;
  /** Unique id. */
  readonly id: string;
  /** Name of the subject at the time of the notice. */
  readonly name: string;
};

/** What the notice is about; `message` says it in a sentence. */
export type NoticeKind = "template_status" | "template_category" | "channel_blocked" | "channel_quality" | "messaging_limit" | "webhook_disabled" | "campaign_paused" | "campaign_failed" | "unlisted_code" | "low_balance" | "price_card" | "asks_to_stop" | "price_difference";

export type NoticePage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Notice)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type NoticeSubject = {
  /** Kind. */
  readonly type: NoticeSubjectType;
  /** Unique id. */
  readonly id: string;
  /** Name of the subject at the time of the notice. */
  readonly name: string;
};

export type NoticeSubjectType = "template" | "channel" | "business_account" | "webhook" | "campaign" | "conversation";

export type NoticeTarget = {
  /** Address to which notices are posted. */
  readonly url: string;
  /** True if the requests are signed. */
  readonly hasSecret: boolean;
  /** Time of the last request; null before the first. */
  readonly attemptedAt: string | null;
  /** Why the last request failed; null if it did not. */
  readonly errorCode: DeliveryErrorCode | null;
  /** HTTP status of the last response; null without one. */
  readonly responseStatus: number | null;
};

export type NoticeTargetMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: NoticeTarget;
};

export type OfferExpiry = {
  /** End of the offer in milliseconds since 1970 (UTC), in the future. */
  readonly expiration_time_ms: number;
};

export type OldestCursor = {
  /** The first cursor that works, as `after`. */
  readonly oldestCursor: string;
};

export type Overview = {
  /** Intervals in which something happened. */
  readonly points: readonly (OverviewPoint)[];
  /** Totals of the period. */
  readonly totals: OverviewTotals;
  /** Totals of each campaign, most messages first. */
  readonly campaigns: readonly (OverviewCampaign)[];
};

export type OverviewCampaign = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Number of messages that the provider accepted. */
  readonly accepted: number;
  /** Number of messages that reached a device. */
  readonly delivered: number;
  /** Number of messages that were read. */
  readonly read: number;
  /** Recipients who wrote within 30 days after the message. */
  readonly replied: number;
  /** Recipients who asked to receive nothing more, or no marketing, within 30 days after the message. */
  readonly opted_out: number;
  /** Number of messages that the provider refused or reported as failed. */
  readonly failed: number;
  /** Amount charged less refunds, as a decimal string. */
  readonly charged: string;
};

export type OverviewInterval = "day" | "hour";

export type OverviewPoint = {
  /** Beginning of the hour or day (UTC). */
  readonly at: string;
  /** Number of messages that the provider accepted. */
  readonly accepted: number;
  /** Number of messages that reached a device. */
  readonly delivered: number;
  /** Number of messages that were read. */
  readonly read: number;
  /** Recipients who wrote within 30 days after the message. */
  readonly replied: number;
  /** Recipients who asked to receive nothing more, or no marketing, within 30 days after the message. */
  readonly opted_out: number;
  /** Number of messages that the provider refused or reported as failed. */
  readonly failed: number;
  /** Amount charged less refunds, as a decimal string. */
  readonly charged: string;
};

export type OverviewResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Overview;
};

export type OverviewTotals = {
  /** Number of messages that the provider accepted. */
  readonly accepted: number;
  /** Number of messages that reached a device. */
  readonly delivered: number;
  /** Number of messages that were read. */
  readonly read: number;
  /** Recipients who wrote within 30 days after the message. */
  readonly replied: number;
  /** Recipients who asked to receive nothing more, or no marketing, within 30 days after the message. */
  readonly opted_out: number;
  /** Number of messages that the provider refused or reported as failed. */
  readonly failed: number;
  /** Amount charged less refunds, as a decimal string. */
  readonly charged: string;
};

export type Pagination = {
  /** Number of this page, from 1. */
  readonly page: number;
  /** Most records in a page of this list. */
  readonly limit: number;
  /** Number of records in the list; counted up to 10,000, tags and webhooks completely. */
  readonly total: number;
  /** Number of pages; 0 for an empty list. */
  readonly totalPages: number;
};

export type PauseEvidence = {
  /** first: the first outcomes were failures for one reason. run: failures for one reason in a row. share: at least half of the last 200 outcomes failed for one reason. people: at least 60 % of the last 500 outcomes failed because of the recipients. */
  readonly rule: BrakeRule;
  /** Reason of the failures, as in `failed_reasons`; under `people` the most frequent one. */
  readonly reason: string;
  /** How the last of them became known: in the answer to the request, or by a later status. */
  readonly source: FailureSource;
  /** Failed messages. */
  readonly failed: number;
  /** Known outcomes among which they were counted. */
  readonly of: number;
  /** Time at which the first of these failures became known. */
  readonly first_at: string;
  /** Time at which the last of them became known. */
  readonly last_at: string;
  /** At most three different texts of the provider, with their digits masked. */
  readonly details: readonly (string)[];
  /** Ids of at most three of the recipients. */
  readonly recipient_ids: readonly (string)[];
};

/** INSUFFICIENT_BALANCE: The wallet of the channel does not cover the next message. Recharge the wallet, then start the campaign. BROADCAST_QUOTA: The broadcasts of this month are used up. Start the campaign next month, or ask the operator for a larger quota. TEMPLATE_UNAVAILABLE: The template is no longer approved, the provider refuses it, or its offer has ended. Have the template approved again, then start the campaign. If its offer has ended, create another campaign with a later end. CHANNEL_BLOCKED: The channel is blocked, or the provider refuses its number or access token. Have the operator unblock the channel, then start the campaign. MESSAGE_REJECTED: The provider rejected a hundred messages in a row as malformed. Releases from 1.1.0 on pause with FAILURES instead. Correct the mapping in a new campaign; `start` with `{"force": true}` continues without changes. RECORD_RESTORED: The database was restored from a backup, and messages sent since the backup may be missing from the record. Have the operator settle the restore with the doctor, then start the campaign. OPERATOR: A user or an operator paused the campaign. Start the campaign to continue. FAILURES: Too many messages failed for one reason, by answer or by status; `pause_evidence` says which. Remove the cause, then try some recipients with `start` and `{"probe": 50}`; `{"force": true}` continues and ignores this reason. MAX_COST: The next message would cost more than `max_cost` leaves. Raise or remove `max_cost` with PATCH, then start the campaign. PRICE_RAISED: The provider changed the category of the template, and a message costs more than when the campaign began; `price_change` has both prices. Start the campaign to send the rest at the new price, or cancel it. */
export type PauseReason = "INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "MESSAGE_REJECTED" | "RECORD_RESTORED" | "OPERATOR" | "FAILURES" | "MAX_COST" | "PRICE_RAISED";

export type PayloadSkeleton = {
  /** Id of the template. */
  readonly templateId: string;
  /** Placeholder: digits with country calling code, without `+`. */
  readonly recipientPhoneNumber: string;
  /** Placeholder: country calling code with `+`. */
  readonly countryCode: string;
  /** Values by section of the template; alternative to `variables`. */
  readonly variableMapping: SkeletonMapping;
};

export type PayloadSkeletonResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: PayloadSkeleton;
};

export type PreparationError = {
  /** Reason why the audience could not be prepared. */
  readonly code: PreparationErrorCode;
  /** Reason as a sentence, with the number of skipped recipients by reason. */
  readonly message: string;
};

/** AUDIENCE_EMPTY: No recipient is left that can be sent to. Look at `skipped_reasons`, and create the campaign with another audience. CSV_UNREADABLE: The CSV, or another audience, cannot be read. Correct what the message names, and upload the file again. CSV_COLUMN_OUT_OF_RANGE: The mapping names a column that the CSV does not have. Correct the mapping; columns count from 0. TEMPLATE_NOT_FOUND: The template no longer exists. Choose a template of GET /api/templates. FILE_NOT_FOUND: The file of `csv_file_key` or `csv_file_url` does not exist. Upload the file again. FILE_TOO_LARGE: The file is larger than the service reads. Split the file over several campaigns. FILE_FETCH_REFUSED: The address of `csv_file_url` may not be fetched, or it redirects. Use a public address without a redirect, or upload the file. MEDIA_UNREACHABLE: The file of a media link cannot be fetched; the message says why. Nobody was written to. Use a public address that answers 200 without a redirect, or upload the file with POST /api/media. MEDIA_TYPE: The file of a media link has a type that the header does not take. Link to a JPEG or PNG image, an MP4 or 3GPP video, or a document such as a PDF. MEDIA_TOO_LARGE: The file of a media link is larger than the provider takes. Use an image of up to 5 MiB, a video of up to 16 MiB, or a document of up to 100 MiB. */
export type PreparationErrorCode = "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED" | "MEDIA_UNREACHABLE" | "MEDIA_TYPE" | "MEDIA_TOO_LARGE";

/** PREPARING: the recipients are being determined. READY: they are. FAILED: see `preparation_error`. */
export type PreparationStatus = "PREPARING" | "READY" | "FAILED";

export type PreviewButton = {
  /** Provider’s kind of button, such as `URL`. */
  readonly type: string;
  /** Label of the button. */
  readonly text: string;
  /** Filled-in URL or phone number the button opens; null for other buttons. */
  readonly target: string | null;
};

export type PreviewCampaignCsv = {
  /** Columns of the CSV by meaning, counted from 0. */
  readonly csv_mapping?: CsvMapping;
  /** Id of a template whose messages to render for the first rows. */
  readonly template_id?: string;
  /** Contact field or text for each variable of the template. */
  readonly variable_mapping?: VariableMapping;
  /** `true` returns `skipped_rows`; default `false`. */
  readonly with_skipped_rows?: boolean;
};

export type PreviewCard = {
  /** `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT` or another format of the provider; null without a header. */
  readonly headerFormat: string | null;
  /** Header text, media address, or product id; null without a header. */
  readonly header: string | null;
  /** Text of the card; null if it has none. */
  readonly body: string | null;
  /** Buttons of the card, in order. */
  readonly buttons: readonly (PreviewButton)[];
};

export type PreviewTemplate = {
  /** Contact field or text for each variable of the template. */
  readonly variable_mapping?: VariableMapping;
  /** Id of the contact whose fields fill the variables; default none. */
  readonly contact_id?: string;
};

export type PriceCard = {
  /** Unique id. */
  readonly id: string;
  /** `example` for the prices that came with the service; null for loaded ones. */
  readonly name: string | null;
  /** Currency as ISO 4217. */
  readonly currency: string;
  /** First day on which the card applies, from 00:00 in the time zone of the business account. */
  readonly effective_on: string;
  /** Name of the loaded file. */
  readonly source: string;
  /** SHA-256 of the loaded files, in hex. */
  readonly sha256: string;
  /** Time at which the card was loaded. */
  readonly loaded_at: string;
  /** Id of the key that loaded it; `admin` for the command. */
  readonly loaded_by: string;
};

export type PriceCardDetail = {
  /** Unique id. */
  readonly id: string;
  /** `example` for the prices that came with the service; null for loaded ones. */
  readonly name: string | null;
  /** Currency as ISO 4217. */
  readonly currency: string;
  /** First day on which the card applies, from 00:00 in the time zone of the business account. */
  readonly effective_on: string;
  /** Name of the loaded file. */
  readonly source: string;
  /** SHA-256 of the loaded files, in hex. */
  readonly sha256: string;
  /** Time at which the card was loaded. */
  readonly loaded_at: string;
  /** Id of the key that loaded it; `admin` for the command. */
  readonly loaded_by: string;
  /** Prices by market and category; a category that a market lacks has the price of `Other`. */
  readonly prices: readonly (CardPrice)[];
  /** Market whose prices each country pays. */
  readonly markets: readonly (CardMarket)[];
};

export type PriceCardDetailResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: PriceCardDetail;
};

export type PriceChange = {
  /** Category of the template when the campaign began. */
  readonly category_before: string;
  /** Present category of the template. */
  readonly category: string;
  /** Country (ISO 3166 alpha-2) of the prices: the next recipient’s if its price rose, else the one whose price rose most; empty for every country without a price of its own. */
  readonly country: string;
  /** Price of a message before, as a decimal string. */
  readonly price_before: string;
  /** Price of a message now, as a decimal string. */
  readonly price: string;
};

export type PriceDifference = {
  /** Market as the provider’s file spells it. */
  readonly market: string;
  /** Category as on the card. */
  readonly category: string;
  /** Price on the card before; null if it had none. */
  readonly before: string | null;
  /** Price on this card; null if it has none. */
  readonly after: string | null;
};

export type PricingType = "REGULAR" | "FREE";

export type ProviderChange = {
  /** Subject of the notification, such as `messages`. */
  readonly field: string;
  /** Provider’s data about the change. */
  readonly value: { readonly [key: string]: unknown };
};

export type ProviderEntry = {
  /** Unique id. */
  readonly id: string;
  /** Changes as the provider reported them. */
  readonly changes: readonly (ProviderChange)[];
};

export type ProviderNotification = {
  /** Kind of object the notification is about. */
  readonly object: string;
  /** Entries of the notification, one per business account. */
  readonly entry: readonly (ProviderEntry)[];
};

export type ProviderRefusal = {
  /** Provider’s error code. */
  readonly providerCode: number;
  /** Provider’s explanation. */
  readonly details: string;
};

export type ProviderStatuses = {
  /** Provider’s status, as a list of one. */
  readonly statuses: readonly (MessageStatus)[];
};

export type PutConsentPolicy = {
  /** Which campaigns to a CSV skip people who are no contacts, with NO_CONSENT. off: none; such people become contacts who agree to everything. marketing: those of category MARKETING. all: all. */
  readonly require_consent: RequireConsent;
};

export type PutDefaultCountry = {
  /** Country (ISO 3166 alpha-2, such as `DE`) of numbers that name none: digits that are a mobile number there are read as one, others as international. Null counts as absent: the workspace’s applies. */
  readonly default_country: string | null;
};

export type PutEventFeed = {
  /** True to switch it on, false to switch it off. */
  readonly enabled: boolean;
};

export type PutFailureBrake = {
  /** off: campaigns neither pause because their messages fail nor wait for their first statuses. default: as the rules of `pause_evidence` say. strict: with half of their numbers. */
  readonly failure_brake: FailureBrakeSetting;
};

export type PutFrequencyCap = FrequencyCap | null;

export type PutFrequencyCapEnvelope = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Frequency cap after the change; null if it was removed. */
  readonly data: FrequencyCap | null;
};

export type PutLowBalance = {
  /** Amount as a decimal string; null for none. */
  readonly threshold: string | null;
  /** Id of the channel. */
  readonly channel_id?: string;
};

export type PutNoticeTarget = {
  /** Address to which notices are posted. */
  readonly url: string;
  /** Secret that signs the requests; null or absent: they are not signed. */
  readonly secret?: string | null;
};

/** Messages leave from `from` until before `to` by the wall clock of `timezone`, on each of `days` (default: all). A `to` before `from` is on the next day. */
export type PutSendingWindow = {
  /** IANA time zone, such as `Europe/Berlin`; follows daylight saving time. */
  readonly timezone: string;
  /** Local time at which sending may begin, `HH:MM`. */
  readonly from: string;
  /** Local time at which sending stops, `HH:MM`; earlier than `from` means on the next day. */
  readonly to: string;
  /** Weekdays on which the window opens; default all seven. */
  readonly days?: readonly (WeekDay)[];
};

export type ReadEvent = {
  /** Always `read`. */
  readonly eventKey: "read";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: MessageStatusData;
};

export type ReadNotices = {
  /** `createdAt` of the newest notice that was read. */
  readonly until: string;
};

export type ReceiveProviderCallbackEnvelope = {
  /** Always `success`. */
  readonly status: "success";
};

export type RechargeWallet = {
  /** Id of the channel. */
  readonly channel_id: string;
  /** Amount to add as a decimal string, more than 0, at most six decimal places, such as `50` or `0.25`. */
  readonly amount: string;
};

export type Recipient = {
  /** Unique id. */
  readonly id: string;
  /** Digits with country calling code; null if the row has no valid number or the person was erased. */
  readonly phone_number: string | null;
  /** Id of the recipient’s contact; null if the row has no valid number. */
  readonly contact_id: string | null;
  /** Current state. */
  readonly state: RecipientState;
  /** Reason for the state; null if it needs none. */
  readonly reason: RecipientReason | null;
  /** Detail of the reason: the number as given, the empty variable, or the provider’s explanation; null without one. */
  readonly reason_detail: string | null;
  /** Line of the CSV on which the row begins, the header being line 1; null without a CSV. */
  readonly line_number: number | null;
  /** Id of the message in this service; null before one is made. */
  readonly message_id: string | null;
  /** Provider’s id of the recipient’s message; null until the provider accepts it. */
  readonly provider_message_id: string | null;
  /** Time of the last change of the recipient’s state. */
  readonly updated_at: string;
};

export type RecipientDetail = {
  /** Unique id. */
  readonly id: string;
  /** Digits with country calling code; null if the row has no valid number or the person was erased. */
  readonly phone_number: string | null;
  /** Id of the recipient’s contact; null if the row has no valid number. */
  readonly contact_id: string | null;
  /** Current state. */
  readonly state: RecipientState;
  /** Reason for the state; null if it needs none. */
  readonly reason: RecipientReason | null;
  /** Detail of the reason: the number as given, the empty variable, or the provider’s explanation; null without one. */
  readonly reason_detail: string | null;
  /** Line of the CSV on which the row begins, the header being line 1; null without a CSV. */
  readonly line_number: number | null;
  /** Id of the message in this service; null before one is made. */
  readonly message_id: string | null;
  /** Provider’s id of the recipient’s message; null until the provider accepts it. */
  readonly provider_message_id: string | null;
  /** Time of the last change. */
  readonly updated_at: string;
  /** Message that was or will be sent; null before preparation and for skipped recipients. */
  readonly message: MessagePreview | null;
  /** Each status with the time it was first reported. */
  readonly history: readonly (RecipientStatusTime)[];
};

export type RecipientDetailResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: RecipientDetail;
};

export type RecipientFormat = "csv";

export type RecipientPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Recipient)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

/** Reason why a message was skipped, failed or has an unknown outcome. PROVIDER_<code>: The provider refused the message, or failed to deliver it, with this code. Look up the code at the provider; `reason_detail` holds its words. PROVIDER_UNREACHABLE: The provider could not be reached; nothing was sent. Send to the recipient again, with `failed_contacts` or another request. OUTCOME_UNKNOWN: The provider did not answer: the message may have been sent. Wait for a receipt. Send again only if a second message does no harm. RATE_LIMITED: Too many single sends waited for the channel. Send the request again later. NO_CONSENT: The person is no contact, and the workspace requires recorded consent for such a campaign. Import the people with their consent first: POST /api/contacts/imports. INVALID_PHONE: The text holds no phone number that can be sent to; `reason_detail` says what is wrong with it. Correct the number as `reason_detail` says, or write it in international form, such as +4915112345678. For numbers without a calling code give their country, or `default_country`. DUPLICATE: The audience contains the number more than once. None: the first entry is sent to. UNSUBSCRIBED: The contact has opted out. Do not send to the contact until it opts in again. CONTACT_DELETED: The contact was deleted or erased. Create the contact again to send to it. MISSING_VARIABLE: A variable of the template has no value for the contact, or one that it cannot take. Fill or correct the field of `reason_detail`, or give a value in `default_values`. TEXT_TOO_LONG: The values of the recipient make a text of the message longer than the provider takes. Shorten the value; `reason_detail` names the text, its length and the limit. MALFORMED_ROW: The row of the CSV cannot be read. Correct the row of `line_number`. BLOCKED_COUNTRY: The channel does not send to the country of the number. Ask the operator to allow the country, or use another channel. MARKETING_NOT_DELIVERED_TO_COUNTRY: The provider delivers no MARKETING messages to the country of the number, and the operator has listed it. Use a UTILITY template, or another way to reach the person. RESTED_24H: The recipient failed with PROVIDER_131049 less than 24 hours ago. Another message so soon would fail again, and the provider limits accounts that retry too much. Send to the failed recipients again a day after they failed. NO_CHANCE: The recipient failed for a reason that another message would meet again, such as PROVIDER_131026; `reason_detail` names it. To send to these people anyway, name the reason in `failed_reasons`. FREQUENCY_CAP: The contact has got as many messages in the last days as the frequency cap of the workspace allows. Send later. An operator can raise the cap (PUT /api/workspace/frequency-cap) or exempt a campaign (`ignore_frequency_cap`). */
export type RecipientReason = "PROVIDER_UNREACHABLE" | "OUTCOME_UNKNOWN" | "RATE_LIMITED" | "INVALID_PHONE" | "DUPLICATE" | "UNSUBSCRIBED" | "CONTACT_DELETED" | "MISSING_VARIABLE" | "TEXT_TOO_LONG" | "MALFORMED_ROW" | "BLOCKED_COUNTRY" | "MARKETING_NOT_DELIVERED_TO_COUNTRY" | "RESTED_24H" | "NO_CHANCE" | "NO_CONSENT" | "FREQUENCY_CAP" | (string & {});

/** PENDING: waits to be sent to. CLAIMED: is being sent to. ACCEPTED: the provider accepted the message. SENT, DELIVERED, READ: reported by receipts. FAILED: refused, or failed later. UNKNOWN: the provider did not answer; a receipt decides, and the message is not sent again. CANCELLED, SKIPPED: never sent to. */
export type RecipientState = "PENDING" | "CLAIMED" | "ACCEPTED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | "CANCELLED" | "SKIPPED";

/** Time of one status of a recipient. */
export type RecipientStatusTime = {
  /** Status the recipient reached. */
  readonly status: "accepted" | "sent" | "delivered" | "read" | "failed";
  /** Time the status was first reported; null if it is not recorded. */
  readonly at: string | null;
};

export type RecordContactConsent = {
  /** True (default) for an opt-in, false for an opt-out. */
  readonly subscribed?: boolean;
  /** What the decision is about; default `MARKETING`. */
  readonly category?: ConsentCategory;
  /** Origin of the decision; default `api`. */
  readonly source?: ConsentSource;
  /** What the person saw or wrote; null if unknown. */
  readonly text?: string | null;
  /** Address of the page or form; null if unknown. */
  readonly url?: string | null;
  /** Language of the text, such as `en`; null if unknown. */
  readonly language?: string | null;
  /** Time of the decision; now if it is null or absent. */
  readonly at?: string | null;
};

export type RegisteredConsent = {
  /** Unique id. */
  readonly id: string;
  /** False for an opt-out, true for an opt-in. */
  readonly subscribed: boolean;
  /** What the decision is about: `ALL` messages, or those of the category `MARKETING`. */
  readonly category: ConsentCategory;
  /** What the contact agrees to receive after the decision. */
  readonly consent: ContactConsent;
  /** Origin of the decision: `person` by a message or a setting in the app, `api` by a request, `import` by a file. */
  readonly source: ConsentSource;
  /** What the person saw or wrote; null if unknown. */
  readonly text: string | null;
  /** Address of the page or form; null if unknown. */
  readonly url: string | null;
  /** Language of the text; null if unknown. */
  readonly language: string | null;
  /** Id of the API key that recorded it; null if the provider reported it. */
  readonly recorded_by: string | null;
  /** Time of the decision. */
  readonly at: string;
  /** Id of the contact. */
  readonly contact_id: string;
  /** Phone number of the contact: digits with country calling code; null without one and after an erasure. */
  readonly phone_number: string | null;
};

export type RegisteredConsentPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (RegisteredConsent)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type RequireConsent = "off" | "marketing" | "all";

export type Resend = {
  /** Unique id. */
  readonly id: string;
  /** Id of the webhook. */
  readonly webhookId: string;
  /** Only deliveries created at this time or later. */
  readonly since: string;
  /** Only deliveries created before this time. */
  readonly until: string;
  /** running: deliveries are being made; waits while the webhook is not active. completed: all were made. cancelled: you cancelled it. */
  readonly state: ResendState;
  /** Failed deliveries of the period at the start; null above 100,000. */
  readonly total: number | null;
  /** Failed deliveries that were looked at so far. */
  readonly seen: number;
  /** New deliveries so far: `seen` without those whose event was delivered after all or is no longer kept. */
  readonly resent: number;
  /** Time of creation. */
  readonly createdAt: string;
  /** Time at which it ended; null while it runs. */
  readonly endedAt: string | null;
};

export type ResendFailedDeliveries = {
  /** Only deliveries created at this time or later. */
  readonly since: string;
  /** Only deliveries created before this time. */
  readonly until: string;
};

export type ResendMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Resend;
};

export type ResendMissed = {
  /** Start of the period. */
  readonly since: string;
  /** End of the period, exclusive; default now. */
  readonly until?: string;
};

export type ResendPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Resend)[];
  /** Position of this page in the list. */
  readonly pagination: CursorPagination;
};

export type ResendResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Resend;
};

export type ResendState = "running" | "completed" | "cancelled";

export type ResentDeliveries = {
  /** Number of deliveries that were created. */
  readonly count: number;
};

export type ResentDeliveriesMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: ResentDeliveries;
};

export type Segment = {
  /** Unique id. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** `all`: every condition must hold; `any`: one is enough. */
  readonly match: FilterMatch;
  /** Conditions on contacts; `match` combines them. */
  readonly conditions: readonly (SegmentCondition)[];
  /** Time of creation. */
  readonly created_at: string;
  /** Time of the last change. */
  readonly updated_at: string;
};

export type SegmentCondition = {
  /** Field of the contact, `custom.<fieldId>`, or `tag`, whose value is a tag’s id. */
  readonly field: string;
  /** Comparison; `exists` and `not_exists` take no value, `in` and `not_in` take a list. */
  readonly operator: FilterOperator;
  /** Text, boolean (`subscribed`), ISO 8601 time, or an array for `in` and `not_in`. Null with `eq` and `neq` means an empty field; omit it for `exists` and `not_exists`. */
  readonly value?: unknown;
};

export type SegmentCount = {
  /** Number of contacts that match. */
  readonly count: number;
  /** Number of matching contacts that campaigns may send to. */
  readonly subscribed: number;
};

export type SegmentCountResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: SegmentCount;
};

export type SegmentMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Segment;
};

export type SegmentPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Segment)[];
  /** Position of this page in the list. */
  readonly pagination: Pagination;
};

export type SegmentResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Segment;
};

/** Messages leave from `from` until before `to` by the wall clock of `timezone`, on each of `days` (default: all). A `to` before `from` is on the next day. */
export type SendingWindow = {
  /** IANA time zone, such as `Europe/Berlin`; follows daylight saving time. */
  readonly timezone: string;
  /** Local time at which sending may begin, `HH:MM`. */
  readonly from: string;
  /** Local time at which sending stops, `HH:MM`; earlier than `from` means on the next day. */
  readonly to: string;
  /** Weekdays on which the window opens; default all seven. */
  readonly days?: readonly (WeekDay)[];
};

export type SendingWindowMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: SendingWindow;
};

/** Addresses a phone number, or a contact by the provider’s user id. */
export type SendTemplateMessage = SendToPhoneNumber | SendToUserId;

export type SendToPhoneNumber = {
  /** Id of the template. */
  readonly templateId: string;
  /** Phone number in any spelling; digits alone begin with the country calling code, such as `4915112345678`. */
  readonly recipientPhoneNumber: string;
  /** Country calling code with `+`, such as `+49`: that of the phone number. */
  readonly countryCode: string;
  /** Values in the order header, body, buttons; alternative to `variableMapping`. */
  readonly variables?: readonly (string)[];
  /** Values by section of the template; alternative to `variables`. */
  readonly variableMapping?: VariableMapping;
};

export type SendToUserId = {
  /** Id of the template. */
  readonly templateId: string;
  /** Provider’s id of the user, for contacts whose number it hides. */
  readonly recipientUserId: string;
  /** Values in the order header, body, buttons; alternative to `variableMapping`. */
  readonly variables?: readonly (string)[];
  /** Values by section of the template; alternative to `variables`. */
  readonly variableMapping?: VariableMapping;
};

/** IMMEDIATE: sends once prepared. SCHEDULED: sends at `scheduled_at`. */
export type SendType = "IMMEDIATE" | "SCHEDULED";

export type SentEvent = {
  /** Always `sent`. */
  readonly eventKey: "sent";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: MessageStatusData;
};

export type SentMessage = {
  /** Id of the message in this service; events report it, `GET /api/messages/{id}` takes it. */
  readonly messageId: string;
  /** Provider’s id of the message; null until the provider accepts it. */
  readonly providerMessageId: string | null;
  /** `accepted`: the provider took the message; events report what follows. */
  readonly status: string;
  /** Digits with country calling code; null for a person addressed by user id. */
  readonly recipientPhoneNumber: string | null;
  /** Provider’s id of the sending number. */
  readonly phoneNumberId: string;
};

export type SentMessageMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: SentMessage;
};

export type Settlement = "none" | "reserved" | "charged" | "refunded";

export type SkeletonMapping = {
  /** Values of the template’s header. */
  readonly header: { readonly [key: string]: unknown };
  /** Variables of the body with placeholder text. */
  readonly body: { readonly [key: string]: string };
  /** Values of the template’s buttons. */
  readonly buttons: readonly ({ readonly [key: string]: unknown })[];
  /** End of the template’s limited-time offer. */
  readonly limited_time_offer?: OfferExpiry;
  /** Values of the cards, in the template’s order. */
  readonly carousel?: readonly ({ readonly [key: string]: unknown })[];
};

/** NO_CONSENT: The person is no contact, and the workspace requires recorded consent for such a campaign. Import the people with their consent first: POST /api/contacts/imports. INVALID_PHONE: The text holds no phone number that can be sent to; `reason_detail` says what is wrong with it. Correct the number as `reason_detail` says, or write it in international form, such as +4915112345678. For numbers without a calling code give their country, or `default_country`. DUPLICATE: The audience contains the number more than once. None: the first entry is sent to. UNSUBSCRIBED: The contact has opted out. Do not send to the contact until it opts in again. CONTACT_DELETED: The contact was deleted or erased. Create the contact again to send to it. MISSING_VARIABLE: A variable of the template has no value for the contact, or one that it cannot take. Fill or correct the field of `reason_detail`, or give a value in `default_values`. TEXT_TOO_LONG: The values of the recipient make a text of the message longer than the provider takes. Shorten the value; `reason_detail` names the text, its length and the limit. MALFORMED_ROW: The row of the CSV cannot be read. Correct the row of `line_number`. BLOCKED_COUNTRY: The channel does not send to the country of the number. Ask the operator to allow the country, or use another channel. MARKETING_NOT_DELIVERED_TO_COUNTRY: The provider delivers no MARKETING messages to the country of the number, and the operator has listed it. Use a UTILITY template, or another way to reach the person. RESTED_24H: The recipient failed with PROVIDER_131049 less than 24 hours ago. Another message so soon would fail again, and the provider limits accounts that retry too much. Send to the failed recipients again a day after they failed. NO_CHANCE: The recipient failed for a reason that another message would meet again, such as PROVIDER_131026; `reason_detail` names it. To send to these people anyway, name the reason in `failed_reasons`. FREQUENCY_CAP: The contact has got as many messages in the last days as the frequency cap of the workspace allows. Send later. An operator can raise the cap (PUT /api/workspace/frequency-cap) or exempt a campaign (`ignore_frequency_cap`). */
export type SkipReason = "INVALID_PHONE" | "DUPLICATE" | "UNSUBSCRIBED" | "CONTACT_DELETED" | "MISSING_VARIABLE" | "TEXT_TOO_LONG" | "MALFORMED_ROW" | "BLOCKED_COUNTRY" | "MARKETING_NOT_DELIVERED_TO_COUNTRY" | "RESTED_24H" | "NO_CHANCE" | "NO_CONSENT" | "FREQUENCY_CAP";

export type StartCampaign = {
  /** `true` resumes a campaign paused with FAILURES although nothing was corrected: the reason in `pause_evidence` no longer pauses it. Default `false`. */
  readonly force?: boolean;
  /** Sends to this many recipients, waits until 80 % of their statuses are known (at most 60 s), and pauses again if most of them failed. */
  readonly probe?: number;
};

export type StatementFormat = "csv";

export type StatementLine = {
  /** Kind of the entries. */
  readonly kind: LedgerEntryKind;
  /** Category of the messages; null for other entries, and if it is not known. */
  readonly category: string | null;
  /** Market of the recipients on the price card that applies at the end of the month; null for other entries, without a published card, and if it is not known. */
  readonly market: string | null;
  /** Country of the recipients (ISO 3166 alpha-2); null if the market has several, for other entries, and if it is not known. */
  readonly country: string | null;
  /** Amount as a decimal string in the wallet’s currency, up to six decimal places. */
  readonly amount: string;
};

/** `success` in every successful response. */
export type SuccessStatus = "success";

export type Tag = {
  /** Id of the tag. */
  readonly tagId: string;
  /** Name for people. */
  readonly name: string;
  /** Colour of the tag’s text as `#rrggbb`. */
  readonly text_color: string;
  /** Colour of the tag’s background as `#rrggbb`. */
  readonly background_color: string;
};

export type TagMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Tag;
};

export type TagPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Tag)[];
  /** Position of this page in the list. */
  readonly pagination: Pagination;
};

export type TagResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Tag;
};

export type Template = {
  /** Unique id. */
  readonly id: string;
  /** Provider’s id of the business account that owns the template. */
  readonly businessAccountId: string;
  /** Name for people. */
  readonly name: string;
  /** Language, such as `en_US`. */
  readonly language: string;
  /** Provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
  readonly category: string;
  /** Current status. */
  readonly status: string;
  /** Provider’s id of the template. */
  readonly providerTemplateId: string;
  /** Provider’s quality rating; null until the provider reports one. */
  readonly quality: string | null;
  /** Category the provider has announced for the template; null without an announcement. */
  readonly upcomingCategory: string | null;
  /** Time at which the announced category takes effect; null without an announcement. */
  readonly upcomingCategoryAt: string | null;
  /** Provider’s definition of the template. */
  readonly components: readonly (unknown)[];
  /** Provider’s reason for rejecting the template; null without one. */
  readonly rejectedReason: string | null;
  /** Who made the template, in the provider’s words; null if it does not say. */
  readonly source: string | null;
  /** Seconds for which the provider tries to deliver a message; null for the default of the category. */
  readonly sendTtlSeconds: number | null;
  /** Time of the last change. */
  readonly updatedAt: string;
};

export type TemplateChange = "STATUS" | "CATEGORY";

export type TemplateData = {
  /** What changed about the template. */
  readonly type: TemplateChange;
  /** Provider’s id of the template. */
  readonly providerTemplateId: string;
  /** Status after the change. */
  readonly newStatus: string;
  /** Name for people. */
  readonly name: string;
  /** Language, such as `en_US`. */
  readonly language: string;
  /** Provider’s reason for the decision; null without one. */
  readonly reason: string | null;
  /** Template after the change. */
  readonly template: ChangedTemplate;
  /** Further remarks of the provider; absent without any. */
  readonly otherInfo?: TemplateRemark;
  /** Provider’s reason for the rejection, with advice; absent unless rejected. */
  readonly rejectionInfo?: TemplateRemark;
};

export type TemplateEvent = {
  /** Always `template`. */
  readonly eventKey: "template";
  /** Id of the workspace. */
  readonly workspaceId: number;
  /** Time of the event (ISO 8601, UTC). */
  readonly timestamp: string;
  /** What happened. */
  readonly data: TemplateData;
};

export type TemplatePage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Template)[];
  /** Position of this page in the list. */
  readonly pagination: Pagination;
};

export type TemplatePreview = {
  /** Message as the recipient would read it. */
  readonly message: MessagePreview;
  /** Reasons why the template rejects the mapping, by field; empty if it accepts it. */
  readonly problems: readonly (FieldProblem)[];
};

export type TemplatePreviewResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: TemplatePreview;
};

export type TemplateRemark = {
  /** Title of the remark. */
  readonly title?: string;
  /** Text of the remark. */
  readonly description?: string;
  /** Provider’s reason. */
  readonly reason?: string;
  /** Provider’s advice. */
  readonly recommendation?: string;
};

export type TemplateResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Template;
};

export type TemplateSyncSummary = {
  /** Number of templates the provider listed. */
  readonly synced: number;
  /** Number of templates that are new. */
  readonly added: number;
  /** Number of templates whose status, category or components changed. */
  readonly changed: number;
};

export type TemplateSyncSummaryMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: TemplateSyncSummary;
};

export type TemplateVariables = {
  /** Variables of the header by position or name; `image`, `video` or `document` means that `header.link` is required. */
  readonly header: readonly (string)[];
  /** Variables of the body by position or name. */
  readonly body: readonly (string)[];
  /** Indexes of the buttons that require a value, from 0. */
  readonly buttons: readonly (string)[];
};

export type TemplateVariablesResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: TemplateVariables;
};

export type TestCampaign = {
  /** Phone number in international form, such as `+4915112345678`. */
  readonly phone_number: string;
  /** Values in the order header, body, buttons; default those of the first prepared recipient. */
  readonly variables?: readonly (string)[];
};

export type TestWebhook = {
  /** Key of the event. */
  readonly eventKey: EventKey;
};

export type TimelineInterval = "minute" | "hour";

export type TimelinePart = {
  /** Beginning of the interval. */
  readonly at: string;
  /** Number of messages that the provider accepted. */
  readonly accepted: number;
  /** Number of messages that reached a device. */
  readonly delivered: number;
  /** Number of messages that were read. */
  readonly read: number;
  /** Number of messages that the provider refused or reported as failed. */
  readonly failed: number;
};

export type UpdateCampaign = {
  /** Name for people. */
  readonly name?: string;
  /** New note, at most 1,000 characters; null removes it. */
  readonly description?: string | null;
  /** Hours in which the campaign may send, within the window of the workspace; null removes them. */
  readonly sending_window?: SendingWindow | null;
  /** True if the workspace’s sending window does not apply; setting it needs an operator’s key. */
  readonly ignore_quiet_hours?: boolean;
  /** True if the workspace’s frequency cap does not apply; setting it needs an operator’s key. */
  readonly ignore_frequency_cap?: boolean;
  /** New time of sending, in the future, with a time zone; for SCHEDULED campaigns. */
  readonly scheduled_at?: string;
  /** New maximum of the cost; null removes it. */
  readonly max_cost?: string | null;
};

export type UpdateContact = {
  /** Phone number in any spelling: national digits, or international with `+`. */
  readonly phoneNumber?: string;
  /** Country calling code, with or without `+`; may be omitted if the number begins with `+`. */
  readonly countryCode?: string;
  /** First name; empty if unknown (default). */
  readonly firstName?: string;
  /** Last name; empty if unknown (default). */
  readonly lastName?: string;
  /** Name the contact shows in the chat. */
  readonly chatName?: string;
  /** E-mail address; empty if unknown (default). */
  readonly email?: string;
  /** False records an opt-out from everything, true an opt-in; the present value changes nothing. See `consent`. */
  readonly subscribed?: boolean;
  /** What the contact agrees to receive. Takes precedence over `subscribed`. */
  readonly consent?: ContactConsent;
  /** Custom fields, each `fieldId` once; they replace all stored ones. */
  readonly customFields?: readonly (CustomFieldValue)[];
  /** Ids of tags; they replace all stored ones. */
  readonly tagsId?: readonly (string)[];
  /** Date of birth; null when unknown. */
  readonly dob?: string | null;
};

export type UpdateContactField = {
  /** How conditions compare the values; guessed when the field is first seen. */
  readonly type: ContactFieldType;
};

export type UpdateSegment = {
  /** Name for people. */
  readonly name?: string;
  /** `all`: every condition must hold; `any`: one is enough. */
  readonly match?: FilterMatch;
  /** Conditions on contacts, 1 to 50, at most 64 KiB as JSON; `match` combines them. */
  readonly conditions?: readonly (SegmentCondition)[];
};

export type UpdateTag = {
  /** Name for people. */
  readonly name?: string;
  /** Colour of the tag’s text as `#rrggbb`. */
  readonly text_color?: string;
  /** Colour of the tag’s background as `#rrggbb`. */
  readonly background_color?: string;
};

export type UpdateWebhook = {
  /** Address that receives deliveries: http or https, public. */
  readonly url?: string;
  /** Current status. */
  readonly status?: ChosenWebhookStatus;
  /** Events that the webhook receives. */
  readonly events?: readonly (EventKey)[];
  /** New secret, in the form of the creation; null removes both secrets. */
  readonly secret?: string | null;
};

export type VariableDefaults = {
  /** Texts of the header by position or name of the variable. */
  readonly header?: { readonly [key: string]: string };
  /** Texts of the body by position or name of the variable. */
  readonly body?: { readonly [key: string]: string };
  /** Main value of each button by its index, from 0. */
  readonly buttons?: { readonly [key: string]: string };
  /** Ignored: footers have no variables. */
  readonly footer?: { readonly [key: string]: string };
  /** Default values of the cards, in the template’s order. */
  readonly carousel?: readonly (CarouselCard)[];
};

export type VariableMapping = {
  /** Values of the header; which ones depends on its format. */
  readonly header?: HeaderValues;
  /** Contact field or text for each variable, by its position (`"1"`) or name. */
  readonly body?: { readonly [key: string]: string };
  /** Values of the buttons. */
  readonly buttons?: ButtonValues;
  /** End of the template’s limited-time offer. */
  readonly limited_time_offer?: LimitedTimeOffer;
  /** Ignored: footers have no variables. */
  readonly footer?: { readonly [key: string]: unknown };
  /** Values of the cards, in the template’s order. */
  readonly carousel?: readonly (CarouselCard)[];
  /** Values for variables whose mapped field is empty. */
  readonly default_values?: VariableDefaults;
};

/** TURN: Other campaigns of the channel are sending. Wait: the campaigns of a channel share its rate. CHANNEL_TROUBLE: The provider fails, so the channel pauses between probes until `waiting_until`; or, without a time, it answers so slowly that the channel sends less than it may. Wait: sending speeds up again as soon as the provider answers. CHANNEL_THROTTLE: The provider asked the channel to send more slowly. Wait until `waiting_until`. MESSAGING_LIMIT: The business account has sent to as many different people in 24 hours as it may. Wait until `waiting_until`, or ask the provider for a higher limit. SENDING_WINDOW: It is outside the hours in which the campaign may send. Wait until `waiting_until`, or change the sending window. PREPARATION: The recipients are being prepared. Wait: sending begins when they are ready. QUEUED: All workers are busy with other campaigns. Wait, or have the operator add workers. WORKFLOW_STUCK: The workflow of the campaign cannot continue, or no worker takes its tasks. Have the operator look at the workers and the workflow. FIRST_STATUSES: The first messages have left, and the rest follows when 80 % of their statuses are known, or after 60 s. Wait: it protects the list if the messages do not arrive. */
export type WaitingReason = "TURN" | "CHANNEL_TROUBLE" | "CHANNEL_THROTTLE" | "MESSAGING_LIMIT" | "SENDING_WINDOW" | "PREPARATION" | "QUEUED" | "WORKFLOW_STUCK" | "FIRST_STATUSES";

export type Wallet = {
  /** Id of the channel. */
  readonly channel_id: string;
  /** Sum of the ledger as a decimal string; `balance` − `reserved` can be spent. */
  readonly balance: string;
  /** Amount held for messages that are being sent, as a decimal string. */
  readonly reserved: string;
  /** What messages that arrived late cost more than the balance had, as a decimal string; the next recharge pays it first. */
  readonly uncollected: string;
  /** Amount below which `balance` − `reserved` counts as low and a notice says so, as a decimal string; null without one. */
  readonly low_balance_threshold: string | null;
  /** Currency as ISO 4217. */
  readonly currency: string;
  /** Price card in force; null without one. */
  readonly card: CardInForce | null;
  /** Price card that follows; null if none is loaded. */
  readonly next_card: CardInForce | null;
  /** Price of one message by category and country. */
  readonly message_prices: readonly (MessagePrice)[];
};

export type WalletMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Wallet;
};

export type WalletResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Wallet;
};

export type WalletStatement = {
  /** Id of the channel. */
  readonly channel_id: string;
  /** The month, such as 2026-10. */
  readonly month: string;
  /** Time zone of the business account, at whose midnight the month begins. */
  readonly time_zone: string;
  /** Currency as ISO 4217. */
  readonly currency: string;
  /** Balance at the start of the month, as a decimal string. */
  readonly opening_balance: string;
  /** Balance at the end of the month, or now, as a decimal string. */
  readonly closing_balance: string;
  /** Sums of the month’s entries by kind, category and market, or country without a published card. */
  readonly lines: readonly (StatementLine)[];
};

export type WalletStatementResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: WalletStatement;
};

export type Webhook = {
  /** Unique id. */
  readonly id: string;
  /** Title for people. */
  readonly title: string;
  /** Address that receives deliveries: http or https, public. */
  readonly url: string;
  /** Current status. */
  readonly status: WebhookStatus;
  /** Reason why the service disabled the webhook; null while it is not disabled. */
  readonly disabled_reason: WebhookDisabledReason | null;
  /** Health over the last 20 attempts: `healthy` without failures, `degraded` with some, `failing` without a success, or `disabled`. */
  readonly health: WebhookHealthState;
  /** Number of attempts that `health` is derived from, at most 20; 0 before the first one to this address. */
  readonly recentAttempts: number;
  /** Events that the webhook receives. */
  readonly events: readonly (EventKey)[];
  /** True if deliveries are signed; the secret itself is never returned. */
  readonly hasSecret: boolean;
  /** Time of creation. */
  readonly createdAt: string;
  /** Time of the last change. */
  readonly updatedAt: string;
};

/** failing: it only failed for three days, at least ten times. */
export type WebhookDisabledReason = "failing";

/** blocked_address: The address is private, or reserved for the network of this service. Use a public address. dns_error: The host name does not resolve. Correct the URL or the DNS record. dns_timeout: The name servers did not answer in time. Check the name servers of the domain, then resend. connection_refused: Nothing listens at the address and port. Start the receiver or correct the port, then resend. connection_reset: The connection broke before the answer was complete. Look into the log of the receiver and its proxies, then resend. tls_error: The TLS handshake failed or the certificate is not valid. Renew or complete the certificate chain, then resend. timeout: No answer came within five seconds. Answer first and process the event afterwards. redirect: The receiver answered with a redirect. Set the URL to its target. non_2xx: The receiver answered with a status other than 2xx. Look at `responseStatus` and `responseExcerpt`, correct the receiver, then resend. protocol_error: The answer is not valid HTTP. Check that the port serves HTTP, or HTTPS for an https URL. payload_too_large: The event is larger than 256 KB and was not sent. Read the record by its id over the API. endpoint_inactive: The webhook was deleted before the delivery was due. Create the webhook again, or read the event feed. disabled: The webhook was disabled because it had only failed for days. Repair the receiver, set the webhook to active, then resend. interrupted: The service stopped during the attempt: the receiver may have got the event. Resend it; `webhook-id` lets the receiver recognise a repetition. expired: The delivery waited too long for its attempt. Make the receiver faster, then resend. erased: The person of the event was erased before the delivery. Nothing: the event no longer exists. */
export type WebhookErrorCode = "blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "disabled" | "interrupted" | "expired" | "erased";

/** Body of a request to a webhook; `eventKey` says which event it is. */
export type WebhookEvent = IncomingEvent | SentEvent | DeliveredEvent | ReadEvent | FailedEvent | TemplateEvent | ContactCreatedEvent | ContactUpdatedEvent | ConversationAssignedEvent | ConversationStatusChangedEvent;

export type WebhookHealth = {
  /** Id of the webhook. */
  readonly webhookId: string;
  /** Health over the last 20 attempts: `healthy` without failures, `degraded` with some, `failing` without a success, or `disabled`. */
  readonly health: WebhookHealthState;
  /** Time of the first failure since the last success; null without one. */
  readonly failingSince: string | null;
  /** Number of failed deliveries since the last success. */
  readonly consecutiveFailures: number;
  /** Number of deliveries that wait to be sent; counted up to 10,000. */
  readonly waiting: number;
};

export type WebhookHealthResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: WebhookHealth;
};

/** State of a webhook’s receiver, by the last 20 attempts. */
export type WebhookHealthState = "healthy" | "degraded" | "failing" | "disabled";

export type WebhookMessageResponse = {
  readonly status: SuccessStatus;
  /** Sentence for people. */
  readonly message: string;
  /** Result of the request. */
  readonly data: Webhook;
};

export type WebhookPage = {
  readonly status: SuccessStatus;
  /** This page of the list. */
  readonly data: readonly (Webhook)[];
  /** Position of this page in the list. */
  readonly pagination: Pagination;
};

export type WebhookResponse = {
  readonly status: SuccessStatus;
  /** Result of the request. */
  readonly data: Webhook;
};

/** active: receives events. inactive: you paused it; queued deliveries wait until it is active, others are not made. disabled: the service stopped it; see `disabled_reason`. */
export type WebhookStatus = "active" | "inactive" | "disabled";

export type WeekDay = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";
