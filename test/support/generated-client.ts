// @ts-nocheck
/**
 * Messaging campaigns
 * 1.0.0
 * DO NOT MODIFY - This file has been generated using oazapfts.
 * See https://www.npmjs.com/package/oazapfts
 */
import * as Oazapfts from "@oazapfts/runtime";
import * as QS from "@oazapfts/runtime/query";
export const defaults: Oazapfts.Defaults<Oazapfts.CustomHeaders> = {
    headers: {},
    baseUrl: "/"
};
const oazapfts = Oazapfts.runtime(defaults);
export const servers = {
    server1: "/"
};
export type ContactSelectionType = "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";
export type SendType = "IMMEDIATE" | "SCHEDULED";
export type FilterMatch = "all" | "any";
export type SegmentCondition = {
    field: string;
    operator: string;
    value?: any;
};
export type ContactFilters = {
    match: FilterMatch;
    conditions: SegmentCondition[];
};
export type CsvMapping = {
    /** 0-based index of the column */
    phone_column: number;
    /** 0-based index of the column */
    country_code_column: number;
    /** 0-based index of the column */
    name_column?: number | null;
    /** 0-based index of the column */
    email_column?: number | null;
    custom_field_mapping?: {
        [key: string]: number;
    } | {
        [key: string]: number;
    };
};
export type CarouselCard = {
    /** Text variables by position or name; `link` or `id` of a media file, with `filename` for a document; `latitude`, `longitude`, `name` and `address` of a location; `product` of a product header. */
    header?: {
        link?: string;
        id?: string;
        filename?: string;
        product?: {
            product_retailer_id?: string;
            catalog_id?: string;
        };
    };
    /** Values by the position or the name of the variable. */
    body?: {
        [key: string]: string;
    };
    /** In the order of the template’s buttons (null skips one), or keyed by the index of the button. */
    buttons?: ({
        "type"?: string;
        url_suffix?: string;
        coupon_code?: string;
        otp?: string;
        payload?: string;
        flow_token?: string;
        flow_action_data?: object;
        thumbnail_product_retailer_id?: string;
        sections?: object[];
    } | string | null)[] | {
        [key: string]: {
            "type"?: string;
            url_suffix?: string;
            coupon_code?: string;
            otp?: string;
            payload?: string;
            flow_token?: string;
            flow_action_data?: object;
            thumbnail_product_retailer_id?: string;
            sections?: object[];
        } | string;
    };
};
export type VariableDefaults = {
    header?: {
        [key: string]: string;
    };
    body?: {
        [key: string]: string;
    };
    /** The main value of a button by the index of the button. */
    buttons?: {
        [key: string]: string;
    };
    footer?: {
        [key: string]: string;
    };
    carousel?: CarouselCard[];
};
export type VariableMapping = {
    /** Text variables by position or name; `link` or `id` of a media file, with `filename` for a document; `latitude`, `longitude`, `name` and `address` of a location; `product` of a product header. */
    header?: {
        link?: string;
        id?: string;
        filename?: string;
        product?: {
            product_retailer_id?: string;
            catalog_id?: string;
        };
    };
    /** Values by the position or the name of the variable. */
    body?: {
        [key: string]: string;
    };
    /** In the order of the template’s buttons (null skips one), or keyed by the index of the button. */
    buttons?: ({
        "type"?: string;
        url_suffix?: string;
        coupon_code?: string;
        otp?: string;
        payload?: string;
        flow_token?: string;
        flow_action_data?: object;
        thumbnail_product_retailer_id?: string;
        sections?: object[];
    } | string | null)[] | {
        [key: string]: {
            "type"?: string;
            url_suffix?: string;
            coupon_code?: string;
            otp?: string;
            payload?: string;
            flow_token?: string;
            flow_action_data?: object;
            thumbnail_product_retailer_id?: string;
            sections?: object[];
        } | string;
    };
    limited_time_offer?: {
        /** Milliseconds since 1970, in the future. */
        expiration_time_ms?: number;
    };
    /** Accepted and not sent: footers take no values. */
    footer?: object;
    carousel?: CarouselCard[];
    default_values?: VariableDefaults;
};
export type CreateCampaign = {
    name: string;
    template_id: string;
    contact_selection_type: ContactSelectionType;
    send_type: SendType;
    description?: string;
    /** Must not be sent: the API key supplies it. */
    channel_id?: any;
    /** Must not be sent: the API key supplies it. */
    phone_number_id?: any;
    contact_filters?: ContactFilters;
    segments?: string[];
    quick_contacts?: string[];
    csv_contacts_string?: string;
    csv_file_key?: string;
    csv_file_url?: string;
    csv_mapping?: CsvMapping;
    failed_campaign_id?: string;
    failed_reasons?: string[];
    variable_mapping?: VariableMapping;
    scheduled_at?: string | null;
};
export type PreparationStatus = "PREPARING" | "READY" | "FAILED";
export type CampaignStatus = "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
export type CreatedCampaign = {
    status: "success";
    code: 201;
    message: string;
    data: {
        campaign: {
            id: string;
            name: string;
            description: string | null;
            template_id: string;
            contact_selection_type: ContactSelectionType;
            total_contacts: number;
            total_contacts_skipped: number;
            preparation_status: PreparationStatus;
            preparation_version: number;
            audience_version: number;
            status: CampaignStatus;
            send_type: SendType;
            scheduled_at: string | null;
            workspace_id: number;
            is_auto_trigger: boolean;
            created_at: string;
            updated_at: string;
        };
        summary: {
            total_contacts: number;
            can_send_test: boolean;
        };
    };
    timestamp: string;
};
export type FieldProblem = {
    field: string;
    message: string;
};
export type ProviderRefusal = {
    providerCode: number;
    details: string;
};
export type ApiError = {
    status: "error";
    code: number;
    message: string;
    timestamp: string;
    error?: FieldProblem[] | ProviderRefusal;
};
export type CsvFile = {
    csv_file_key: string;
    csv_file_url: string;
    size: number;
    rows_sampled: number;
    headers: string[];
};
export type CsvFileResponse = {
    status: "success";
    data: CsvFile;
};
export type PauseReason = "INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "OPERATOR";
export type PreparationErrorCode = "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED";
export type CampaignCounters = {
    pending: number;
    claimed: number;
    accepted: number;
    sent: number;
    delivered: number;
    read: number;
    failed: number;
    "unknown": number;
    cancelled: number;
    skipped: number;
};
export type Campaign = {
    id: string;
    name: string;
    description: string | null;
    template_id: string;
    contact_selection_type: ContactSelectionType;
    total_contacts: number;
    total_contacts_skipped: number;
    preparation_status: PreparationStatus;
    preparation_version: number;
    audience_version: number;
    status: CampaignStatus;
    send_type: SendType;
    scheduled_at: string | null;
    workspace_id: number;
    is_auto_trigger: boolean;
    created_at: string;
    updated_at: string;
    channel_id: string;
    phone_number_id: string;
    pause_reason: PauseReason | null;
    preparation_error: {
        code: PreparationErrorCode;
        message: string;
    } | null;
    started_at: string | null;
    completed_at: string | null;
    counters: CampaignCounters;
    skipped_reasons: {
        [key: string]: number;
    };
    failed_reasons: {
        [key: string]: number;
    };
};
export type Pagination = {
    page: number;
    limit: number;
    total: number;
    totalPages: number;
};
export type CampaignPage = {
    status: "success";
    data: Campaign[];
    pagination: Pagination;
};
export type CampaignResponse = {
    status: "success";
    data: Campaign;
};
export type RecipientState = "PENDING" | "CLAIMED" | "ACCEPTED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | "CANCELLED" | "SKIPPED";
export type Recipient = {
    id: string;
    phone_number: string | null;
    contact_id: string | null;
    state: RecipientState;
    reason: string | null;
    reason_detail: string | null;
    line_number: number | null;
    message_id: string | null;
    provider_message_id: string | null;
    updated_at: string;
};
export type CursorPagination = {
    limit: number;
    nextCursor: string | null;
};
export type RecipientPage = {
    status: "success";
    data: Recipient[];
    pagination: CursorPagination;
};
export type TestCampaign = {
    phone_number: string;
    variables?: string[];
};
export type SentMessage = {
    messageId: string;
    providerMessageId: string | null;
    status: string;
    recipientPhoneNumber: string;
    phoneNumberId: string;
};
export type SentMessageMessageResponse = {
    status: "success";
    message: string;
    data: SentMessage;
};
export type Template = {
    id: string;
    name: string;
    language: string;
    category: string;
    status: string;
    providerTemplateId: string;
    quality: string | null;
    upcomingCategory: string | null;
    upcomingCategoryAt: string | null;
    /** The definition as the provider gives it. */
    components: any[];
    updatedAt: string;
};
export type TemplatePage = {
    status: "success";
    data: Template[];
    pagination: Pagination;
};
export type TemplateSyncSummary = {
    synced: number;
    added: number;
    changed: number;
};
export type TemplateSyncSummaryMessageResponse = {
    status: "success";
    message: string;
    data: TemplateSyncSummary;
};
export type TemplateVariables = {
    header: string[];
    body: string[];
    buttons: string[];
};
export type TemplateVariablesResponse = {
    status: "success";
    data: TemplateVariables;
};
export type PayloadSkeleton = {
    templateId: string;
    recipientPhoneNumber: string;
    countryCode: string;
    variableMapping: {
        header: object;
        body: {
            [key: string]: string;
        };
        buttons: object[];
        limited_time_offer?: {
            expiration_time_ms: number;
        };
        carousel?: object[];
    };
};
export type PayloadSkeletonResponse = {
    status: "success";
    data: PayloadSkeleton;
};
export type SendTemplateMessage = {
    templateId: string;
    recipientPhoneNumber: string;
    countryCode: string;
    variables?: string[];
    variableMapping?: VariableMapping;
};
export type Tag = {
    tagId: string;
    name: string;
    text_color: string;
    background_color: string;
};
export type TagPage = {
    status: "success";
    data: Tag[];
    pagination: Pagination;
};
export type CreateTag = {
    name: string;
    text_color?: string;
    background_color?: string;
    createdBy?: string;
};
export type TagMessageResponse = {
    status: "success";
    message: string;
    data: Tag;
};
export type TagResponse = {
    status: "success";
    data: Tag;
};
export type UpdateTag = {
    name?: string;
    text_color?: string;
    background_color?: string;
};
export type Acknowledgement = {
    status: "success";
    message: string;
};
export type Contact = {
    id: string;
    firstName: string;
    lastName: string;
    chatName: string;
    email: string;
    phoneNumber: string;
    countryCode: string;
    source: string;
    subscribed: boolean;
    customFields: {
        fieldId: string;
        value: string;
    }[];
    tagsId: string[];
    dob: string | null;
    createdAt: string;
    updatedAt: string;
};
export type ContactPage = {
    status: "success";
    data: Contact[];
    pagination: CursorPagination;
};
export type CreateContact = {
    /** National digits, or international ones with a plus sign. */
    phoneNumber: string;
    /** A calling code, with or without a plus sign. */
    countryCode?: string;
    firstName?: string;
    lastName?: string;
    chatName?: string;
    email?: string;
    subscribed?: boolean;
    customFields?: {
        fieldId: string;
        value: string;
    }[];
    tagsId?: string[];
    dob?: string | null;
};
export type ContactMessageResponse = {
    status: "success";
    message: string;
    data: Contact;
};
export type ContactResponse = {
    status: "success";
    data: Contact;
};
export type UpdateContact = {
    /** National digits, or international ones with a plus sign. */
    phoneNumber?: string;
    /** A calling code, with or without a plus sign. */
    countryCode?: string;
    firstName?: string;
    lastName?: string;
    chatName?: string;
    email?: string;
    subscribed?: boolean;
    customFields?: {
        fieldId: string;
        value: string;
    }[];
    tagsId?: string[];
    dob?: string | null;
};
export type Segment = {
    id: string;
    name: string;
    match: FilterMatch;
    conditions: SegmentCondition[];
    created_at: string;
    updated_at: string;
};
export type SegmentPage = {
    status: "success";
    data: Segment[];
    pagination: Pagination;
};
export type CreateSegment = {
    name: string;
    conditions: SegmentCondition[];
    match?: FilterMatch;
};
export type SegmentMessageResponse = {
    status: "success";
    message: string;
    data: Segment;
};
export type SegmentResponse = {
    status: "success";
    data: Segment;
};
export type UpdateSegment = {
    name?: string;
    match?: FilterMatch;
    conditions?: SegmentCondition[];
};
export type ConversationStatus = "open" | "resolved" | "closed";
export type AssignmentType = "user" | "team" | "bot" | "none";
export type Assignee = {
    id: string | null;
    name: string | null;
    firstName: string | null;
    lastName: string | null;
    email: string | null;
};
export type ChatMode = "manual" | "bot" | "assistant";
export type Conversation = {
    id: string;
    contactId: string;
    channelId: string;
    phoneNumberId: string;
    status: ConversationStatus;
    assignmentType: AssignmentType;
    assignedTo: Assignee | null;
    chatMode: ChatMode;
    closedAt: string | null;
    createdAt: string;
    updatedAt: string;
};
export type ConversationPage = {
    status: "success";
    data: Conversation[];
    pagination: Pagination;
};
export type ConversationResponse = {
    status: "success";
    data: Conversation;
};
export type AssigneeInput = {
    id: string;
    name?: string | null;
    firstName?: string | null;
    lastName?: string | null;
    email?: string | null;
};
export type ActorInput = {
    id?: string | null;
    name?: string | null;
    email?: string | null;
};
export type AssignmentSource = "manual" | "chatbot" | "assistant" | "api" | "auto";
export type AssignConversation = {
    assignmentType: AssignmentType;
    assignedTo?: AssigneeInput | null;
    assignedBy?: ActorInput | null;
    chatMode?: ChatMode;
    source?: AssignmentSource;
};
export type ConversationMessageResponse = {
    status: "success";
    message: string;
    data: Conversation;
};
export type ChangeConversationStatus = {
    status: ConversationStatus;
    changedBy?: ActorInput | null;
};
export type Wallet = {
    channel_id: string;
    balance: string;
    reserved: string;
    currency: string;
    message_prices: {
        category: string;
        country: string | null;
        price: string;
    }[];
};
export type WalletResponse = {
    status: "success";
    data: Wallet;
};
export type RechargeWallet = {
    channel_id: string;
    amount: string;
};
export type WalletMessageResponse = {
    status: "success";
    message: string;
    data: Wallet;
};
export type EventKey = "incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed";
export type WebhookStatus = "active" | "inactive";
export type CreateWebhook = {
    title: string;
    url: string;
    events: EventKey[];
    status?: WebhookStatus;
    secret?: string | null;
};
export type Webhook = {
    id: string;
    title: string;
    url: string;
    status: WebhookStatus;
    events: EventKey[];
    hasSecret: boolean;
    createdAt: string;
    updatedAt: string;
};
export type WebhookMessageResponse = {
    status: "success";
    message: string;
    data: Webhook;
};
export type WebhookPage = {
    status: "success";
    data: Webhook[];
    pagination: Pagination;
};
export type EventDescription = {
    eventKey: EventKey;
    description: string;
    schema: object;
    example: object;
};
export type WebhookResponse = {
    status: "success";
    data: Webhook;
};
export type UpdateWebhook = {
    url?: string;
    status?: WebhookStatus;
    events?: EventKey[];
    secret?: string | null;
};
export type WebhookHealthState = "unknown" | "healthy" | "failing";
export type WebhookHealth = {
    webhookId: string;
    health: WebhookHealthState;
    failingSince: string | null;
    consecutiveFailures: number;
    waiting: number;
};
export type WebhookHealthResponse = {
    status: "success";
    data: WebhookHealth;
};
export type TestWebhook = {
    eventKey: EventKey;
};
export type DeliveryState = "pending" | "sending" | "delivered" | "failed";
export type DeliveryErrorCode = "blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "interrupted" | "expired";
export type Delivery = {
    id: string;
    webhookId: string;
    eventId: string;
    eventKey: string;
    state: DeliveryState;
    errorCode: DeliveryErrorCode | null;
    responseStatus: number | null;
    responseExcerpt: string | null;
    durationMs: number | null;
    attemptedAt: string | null;
    createdAt: string;
};
export type DeliveryMessageResponse = {
    status: "success";
    message: string;
    data: Delivery;
};
export type DeliveryPage = {
    status: "success";
    data: Delivery[];
    pagination: CursorPagination;
};
export type DeliveryResponse = {
    status: "success";
    data: Delivery;
};
/**
 * Create a campaign that prepares its audience and sends itself
 */
export function createCampaign(createCampaign: CreateCampaign, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: CreatedCampaign;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 422;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/campaigns/auto-trigger", oazapfts.json({
        ...opts,
        method: "POST",
        body: createCampaign,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Upload a CSV for a campaign: field `file` of a multipart form, up to 256 MiB
 */
export function uploadCampaignCsv(body: {
    file: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: CsvFileResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/campaigns/csv-files", oazapfts.multipart({
        ...opts,
        method: "POST",
        body
    }));
}
/**
 * An uploaded CSV, as it was uploaded
 */
export function getCampaignCsv(key: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: string;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/campaigns/csv-files/${encodeURIComponent(key)}`, {
        ...opts
    });
}
/**
 * List the campaigns of the workspace, newest first
 */
export function listCampaigns({ page, limit, status }: {
    page?: number;
    limit?: number;
    status?: CampaignStatus;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: CampaignPage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/campaigns${QS.query(QS.explode({
        page,
        limit,
        status
    }))}`, {
        ...opts
    });
}
/**
 * A campaign with its counters by recipient state
 */
export function getCampaign(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: CampaignResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/campaigns/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * The recipients of a campaign; with `Accept: text/csv` all of them as a file
 */
export function listCampaignRecipients(id: string, { state, reason, cursor, limit }: {
    state?: RecipientState[];
    reason?: string[];
    cursor?: string;
    limit?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: RecipientPage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/campaigns/${encodeURIComponent(id)}/recipients${QS.query(QS.explode({
        state,
        reason,
        cursor,
        limit
    }))}`, {
        ...opts
    });
}
/**
 * Start a paused campaign again, where it stopped
 */
export function startCampaign(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 202;
        data: CampaignResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/campaigns/${encodeURIComponent(id)}/start`, {
        ...opts,
        method: "POST"
    });
}
/**
 * Pause a campaign
 */
export function pauseCampaign(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 202;
        data: CampaignResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/campaigns/${encodeURIComponent(id)}/pause`, {
        ...opts,
        method: "POST"
    });
}
/**
 * Cancel a campaign: who was not sent to, never will be
 */
export function cancelCampaign(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 202;
        data: CampaignResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/campaigns/${encodeURIComponent(id)}/cancel`, {
        ...opts,
        method: "POST"
    });
}
/**
 * Send one message of the campaign to a number of your own
 */
export function testCampaign(id: string, testCampaign: TestCampaign, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: SentMessageMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 502;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/campaigns/${encodeURIComponent(id)}/test`, oazapfts.json({
        ...opts,
        method: "POST",
        body: testCampaign
    }));
}
/**
 * List the templates of the workspace
 */
export function listTemplates({ page, limit, search, status }: {
    page?: number;
    limit?: number;
    search?: string;
    status?: string[];
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TemplatePage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/templates${QS.query(QS.explode({
        page,
        limit,
        search,
        status
    }))}`, {
        ...opts
    });
}
/**
 * Pull the templates of the workspace from the provider
 */
export function syncTemplates(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TemplateSyncSummaryMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 502;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/templates/sync", {
        ...opts,
        method: "POST"
    });
}
/**
 * Name the variables a template requires
 */
export function getTemplateVariables(templateId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TemplateVariablesResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/templates/${encodeURIComponent(templateId)}/variables`, {
        ...opts
    });
}
/**
 * Give a body for sending a template, with placeholder values
 */
export function getPayloadSkeleton(templateId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: PayloadSkeletonResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/templates/${encodeURIComponent(templateId)}/payload-skeleton`, {
        ...opts
    });
}
/**
 * Send a template message to one recipient
 */
export function sendTemplateMessage(sendTemplateMessage: SendTemplateMessage, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: SentMessageMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 422;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 502;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/templates/external/message/send", oazapfts.json({
        ...opts,
        method: "POST",
        body: sendTemplateMessage,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * List the tags of the workspace
 */
export function listTags({ page, limit, search, createdBy }: {
    page?: number;
    limit?: number;
    search?: string;
    createdBy?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TagPage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/tags${QS.query(QS.explode({
        page,
        limit,
        search,
        createdBy
    }))}`, {
        ...opts
    });
}
/**
 * Create a tag
 */
export function createTag(createTag: CreateTag, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: TagMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/tags", oazapfts.json({
        ...opts,
        method: "POST",
        body: createTag
    }));
}
/**
 * Read a tag
 */
export function getTag(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TagResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/tags/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Change a tag
 */
export function updateTag(id: string, updateTag: UpdateTag, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TagMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/tags/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body: updateTag
    }));
}
/**
 * Delete a tag
 */
export function deleteTag(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Acknowledgement;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/tags/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE"
    });
}
/**
 * List or search the contacts of the workspace
 */
export function listContacts({ cursor, limit, search }: {
    cursor?: string;
    limit?: number;
    search?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ContactPage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/contacts${QS.query(QS.explode({
        cursor,
        limit,
        search
    }))}`, {
        ...opts
    });
}
/**
 * Register a contact
 */
export function createContact(createContact: CreateContact, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ContactMessageResponse;
    } | {
        status: 201;
        data: ContactMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/contacts", oazapfts.json({
        ...opts,
        method: "POST",
        body: createContact
    }));
}
/**
 * Read a contact
 */
export function getContact(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ContactResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/contacts/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Change a contact and its tags
 */
export function updateContact(id: string, updateContact: UpdateContact, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ContactMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/contacts/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body: updateContact
    }));
}
/**
 * Delete a contact
 */
export function deleteContact(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Acknowledgement;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/contacts/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE"
    });
}
/**
 * List the segments of the workspace
 */
export function listSegments({ page, limit }: {
    page?: number;
    limit?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: SegmentPage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/segments${QS.query(QS.explode({
        page,
        limit
    }))}`, {
        ...opts
    });
}
/**
 * Create a segment
 */
export function createSegment(createSegment: CreateSegment, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: SegmentMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/segments", oazapfts.json({
        ...opts,
        method: "POST",
        body: createSegment
    }));
}
/**
 * Read a segment
 */
export function getSegment(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: SegmentResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/segments/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Change a segment
 */
export function updateSegment(id: string, updateSegment: UpdateSegment, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: SegmentMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/segments/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body: updateSegment
    }));
}
/**
 * Delete a segment
 */
export function deleteSegment(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Acknowledgement;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/segments/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE"
    });
}
/**
 * List the conversations of the workspace
 */
export function listConversations({ page, limit, status, assignedTo, contactId }: {
    page?: number;
    limit?: number;
    status?: ConversationStatus;
    assignedTo?: string;
    contactId?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ConversationPage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/conversations${QS.query(QS.explode({
        page,
        limit,
        status,
        assignedTo,
        contactId
    }))}`, {
        ...opts
    });
}
/**
 * Read a conversation
 */
export function getConversation(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ConversationResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/conversations/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Assign a conversation
 */
export function assignConversation(id: string, assignConversation: AssignConversation, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ConversationMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/conversations/${encodeURIComponent(id)}/assign`, oazapfts.json({
        ...opts,
        method: "POST",
        body: assignConversation
    }));
}
/**
 * Open, resolve or close a conversation
 */
export function changeConversationStatus(id: string, changeConversationStatus: ChangeConversationStatus, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ConversationMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 409;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/conversations/${encodeURIComponent(id)}/status`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body: changeConversationStatus
    }));
}
/**
 * Read the wallet of a channel
 */
export function getWallet({ channelId }: {
    channelId?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WalletResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/wallet${QS.query(QS.explode({
        channel_id: channelId
    }))}`, {
        ...opts
    });
}
/**
 * Add money to the wallet of a channel
 */
export function rechargeWallet(rechargeWallet: RechargeWallet, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WalletMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/wallet/recharge", oazapfts.json({
        ...opts,
        method: "POST",
        body: rechargeWallet
    }));
}
/**
 * Answer the provider’s verification request
 */
export function verifyProviderWebhook({ hubMode, hubVerifyToken, hubChallenge }: {
    hubMode?: string;
    hubVerifyToken?: string;
    hubChallenge?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: string;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 403;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/provider/webhook${QS.query(QS.explode({
        "hub.mode": hubMode,
        "hub.verify_token": hubVerifyToken,
        "hub.challenge": hubChallenge
    }))}`, {
        ...opts
    });
}
/**
 * Take a notification of the provider
 */
export function receiveProviderCallback(body: object, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
        };
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/provider/webhook", oazapfts.json({
        ...opts,
        method: "POST",
        body
    }));
}
/**
 * Create a webhook configuration
 */
export function createWebhook(createWebhook: CreateWebhook, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: WebhookMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/external-webhooks", oazapfts.json({
        ...opts,
        method: "POST",
        body: createWebhook
    }));
}
/**
 * List the webhook configurations of the workspace
 */
export function listWebhooks({ page, limit }: {
    page?: number;
    limit?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookPage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks${QS.query(QS.explode({
        page,
        limit
    }))}`, {
        ...opts
    });
}
/**
 * List the events a webhook can subscribe to
 */
export function listWebhookEvents(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            data: EventDescription[];
        };
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/api/external-webhooks/events", {
        ...opts
    });
}
/**
 * Read a webhook configuration
 */
export function getWebhook(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Change a webhook configuration
 */
export function updateWebhook(id: string, updateWebhook: UpdateWebhook, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body: updateWebhook
    }));
}
/**
 * Delete a webhook configuration
 */
export function deleteWebhook(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Acknowledgement;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE"
    });
}
/**
 * Read how the receiver of a webhook configuration is doing
 */
export function getWebhookHealth(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: WebhookHealthResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}/health`, {
        ...opts
    });
}
/**
 * Deliver the example of an event
 */
export function testWebhook(id: string, testWebhook: TestWebhook, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 202;
        data: DeliveryMessageResponse;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 408;
        data: ApiError;
    } | {
        status: 413;
        data: ApiError;
    } | {
        status: 415;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}/test`, oazapfts.json({
        ...opts,
        method: "POST",
        body: testWebhook
    }));
}
/**
 * List the deliveries of a webhook configuration
 */
export function listWebhookDeliveries(id: string, { state, eventKey, cursor, limit }: {
    state?: DeliveryState[];
    eventKey?: EventKey[];
    cursor?: string;
    limit?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: DeliveryPage;
    } | {
        status: 400;
        data: ApiError;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}/deliveries${QS.query(QS.explode({
        state,
        eventKey,
        cursor,
        limit
    }))}`, {
        ...opts
    });
}
/**
 * Read one delivery
 */
export function getWebhookDelivery(id: string, deliveryId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: DeliveryResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(deliveryId)}`, {
        ...opts
    });
}
/**
 * Deliver an event once more
 */
export function resendWebhookDelivery(id: string, deliveryId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 202;
        data: DeliveryMessageResponse;
    } | {
        status: 401;
        data: ApiError;
    } | {
        status: 404;
        data: ApiError;
    } | {
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(deliveryId)}/resend`, {
        ...opts,
        method: "POST"
    });
}
/**
 * Whether the process lives
 */
export function getHealth(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "ok";
        };
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/healthz", {
        ...opts
    });
}
/**
 * Whether the process can do its work: Postgres, Temporal and the migrations are all right
 */
export function getReadiness(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "ready";
        };
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/readyz", {
        ...opts
    });
}
/**
 * Metrics of this process in the Prometheus text format
 */
export function getMetrics(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: string;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/metrics", {
        ...opts
    });
}
/**
 * This description
 */
export function getDescription(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: object;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>("/openapi.json", {
        ...opts
    });
}
