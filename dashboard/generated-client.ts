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
    /** A contact field, `tag`, `custom.<name>`, `createdAt` or `subscribed`. */
    field: string;
    /** One of eq, neq, contains, not_contains, starts_with, in, not_in, gt, gte, lt, lte, exists, not_exists. */
    operator: string;
    /** What the field is compared with; absent for exists and not_exists. */
    value?: any;
};
export type ContactFilters = {
    /** `all` conditions, or `any` of them. */
    match: FilterMatch;
    /** Conditions on contacts; see `match`. */
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
    /** Custom field name to 0-based column. */
    custom_field_mapping?: {
        [key: string]: number;
    } | {
        [key: string]: number;
    };
};
export type HeaderValues = {
    /** The public address of a media file. */
    link?: string;
    /** The provider’s id of an uploaded media file, instead of `link`. */
    id?: string;
    /** The name that a document is shown with. */
    filename?: string;
    /** The product that the header shows. */
    product?: {
        /** The product’s id in the catalogue. */
        product_retailer_id?: string;
        /** The provider’s id of the catalogue. */
        catalog_id?: string;
    };
};
export type ButtonValues = any;
export type CarouselCard = {
    /** Values, or names of variables, of the template’s header. */
    header?: HeaderValues;
    /** Values by the position or the name of the variable. */
    body?: {
        [key: string]: string;
    };
    /** Values, or names of variables, of the template’s buttons. */
    buttons?: ButtonValues;
};
export type VariableDefaults = {
    /** Values, or names of variables, of the template’s header. */
    header?: {
        [key: string]: string;
    };
    /** Values, or names of variables, of the template’s body. */
    body?: {
        [key: string]: string;
    };
    /** The main value of a button by the index of the button. */
    buttons?: {
        [key: string]: string;
    };
    /** Accepted and not sent: footers take no values. */
    footer?: {
        [key: string]: string;
    };
    /** One entry a card, in the template’s order. */
    carousel?: CarouselCard[];
};
export type VariableMapping = {
    /** Values, or names of variables, of the template’s header. */
    header?: HeaderValues;
    /** Values by the position or the name of the variable. */
    body?: {
        [key: string]: string;
    };
    /** Values, or names of variables, of the template’s buttons. */
    buttons?: ButtonValues;
    /** When the offer of the template ends. */
    limited_time_offer?: {
        /** Milliseconds since 1970, in the future. */
        expiration_time_ms?: number;
    };
    /** Accepted and not sent: footers take no values. */
    footer?: object;
    /** One entry a card, in the template’s order. */
    carousel?: CarouselCard[];
    /** Used where a mapped field is empty. */
    default_values?: VariableDefaults;
};
export type CreateCampaign = {
    /** The name. */
    name: string;
    /** An approved template of the channel’s business account. */
    template_id: string;
    /** Where the audience comes from. */
    contact_selection_type: ContactSelectionType;
    /** Now, or at `scheduled_at`. */
    send_type: SendType;
    /** A note of the sender’s own. */
    description?: string;
    /** Must not be sent: the API key supplies it. */
    channel_id?: any;
    /** Must not be sent: the API key supplies it. */
    phone_number_id?: any;
    /** Narrows `segmented`: only contacts that meet these conditions, too. */
    contact_filters?: ContactFilters;
    /** Segment ids; contacts of any of them are included. */
    segments?: string[];
    /** Phone numbers in international form, each with values of the body’s variables after `,`, `|` or `;` where wanted: `+4915112345678,Ada,12`. */
    quick_contacts?: string[];
    /** The CSV itself: a header row and at least one data row. */
    csv_contacts_string?: string;
    /** What an upload answered. */
    csv_file_key?: string;
    /** The address that an upload answered, or a public one. */
    csv_file_url?: string;
    /** Which column holds what. */
    csv_mapping?: CsvMapping;
    /** For `failed_contacts`: the campaign whose failed recipients are the audience. */
    failed_campaign_id?: string;
    /** For `failed_contacts`: only recipients that failed for these reasons. */
    failed_reasons?: string[];
    /** Which field or text fills which variable. */
    variable_mapping?: VariableMapping;
    /** When to send, with a time zone; null for IMMEDIATE. */
    scheduled_at?: string | null;
};
export type PreparationStatus = "PREPARING" | "READY" | "FAILED";
export type CampaignStatus = "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
export type CreatedCampaign = {
    /** Where it stands. */
    status: "success";
    /** The same as the HTTP status. */
    code: 201;
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: {
        /** The campaign as it was created. */
        campaign: {
            /** Identifies the record. */
            id: string;
            /** The name. */
            name: string;
            /** A note of the sender’s own. */
            description: string | null;
            /** An approved template of the channel’s business account. */
            template_id: string;
            /** Where the audience comes from. */
            contact_selection_type: ContactSelectionType;
            /** Recipients that can be sent to; 0 until they are prepared. */
            total_contacts: number;
            /** Rows that were skipped. */
            total_contacts_skipped: number;
            /** Whether the list of recipients is ready. */
            preparation_status: PreparationStatus;
            /** Rises with each preparation; 1 at creation. */
            preparation_version: number;
            /** Rises when the set of recipients changes; 1 at creation. */
            audience_version: number;
            /** Where it stands. */
            status: CampaignStatus;
            /** Now, or at `scheduled_at`. */
            send_type: SendType;
            /** When to send, with a time zone; null for IMMEDIATE. */
            scheduled_at: string | null;
            /** The workspace. */
            workspace_id: number;
            /** True for campaigns created by this API. */
            is_auto_trigger: boolean;
            /** When it was created. */
            created_at: string;
            /** When it last changed. */
            updated_at: string;
        };
        /** What can be said before the audience is prepared. */
        summary: {
            /** Recipients that can be sent to; 0 until they are prepared. */
            total_contacts: number;
            /** True when the template is approved, the channel active and the wallet covers one message. */
            can_send_test: boolean;
        };
    };
    /** When it was answered. */
    timestamp: string;
};
export type ApiError = {
    /** Always `error`. */
    status: "error";
    /** The same as the HTTP status. */
    code: number;
    /** What happened, in words. */
    message: string;
    /** When it was answered. */
    timestamp: string;
    /** On validation failures `{field, message}` for each field; on a refusal `{providerCode, details}`. */
    error?: any;
};
export type CheckCampaign = {
    /** The name. */
    name: string;
    /** An approved template of the channel’s business account. */
    template_id: string;
    /** Where the audience comes from. */
    contact_selection_type: ContactSelectionType;
    /** Now, or at `scheduled_at`. */
    send_type: SendType;
    /** A note of the sender’s own. */
    description?: string;
    /** Must not be sent: the API key supplies it. */
    channel_id?: any;
    /** Must not be sent: the API key supplies it. */
    phone_number_id?: any;
    /** Narrows `segmented`: only contacts that meet these conditions, too. */
    contact_filters?: ContactFilters;
    /** Segment ids; contacts of any of them are included. */
    segments?: string[];
    /** Phone numbers in international form, each with values of the body’s variables after `,`, `|` or `;` where wanted: `+4915112345678,Ada,12`. */
    quick_contacts?: string[];
    /** The CSV itself: a header row and at least one data row. */
    csv_contacts_string?: string;
    /** What an upload answered. */
    csv_file_key?: string;
    /** The address that an upload answered, or a public one. */
    csv_file_url?: string;
    /** Which column holds what. */
    csv_mapping?: CsvMapping;
    /** For `failed_contacts`: the campaign whose failed recipients are the audience. */
    failed_campaign_id?: string;
    /** Failed recipients by reason. */
    failed_reasons?: string[];
    /** Which field or text fills which variable. */
    variable_mapping?: VariableMapping;
    /** When to send, with a time zone; null for IMMEDIATE. */
    scheduled_at?: string | null;
};
export type FieldProblem = {
    /** The field, in dot form, such as `variable_mapping.body.1`. */
    field: string;
    /** What is wrong and how to mend it. */
    message: string;
};
export type CampaignCheck = {
    /** Empty when the campaign can be created */
    problems: FieldProblem[];
    /** Who would be sent to */
    total_contacts: number;
    /** Skipped recipients by reason. */
    skipped_reasons: {
        [key: string]: number;
    };
    /** True: the audience is so large that only its beginning was counted */
    is_estimate: boolean;
    /** What sending to all of them would cost, as decimal text. */
    cost: string;
    /** What the wallet can spend */
    available: string;
    /** ISO 4217. */
    currency: string;
    /** At the present rate of the channel, sent to alone */
    duration_seconds: number;
};
export type CampaignCheckResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: CampaignCheck;
};
export type CsvFile = {
    /** What an upload answered. */
    csv_file_key: string;
    /** The address that an upload answered, or a public one. */
    csv_file_url: string;
    /** In bytes. */
    size: number;
    /** Data rows that were looked at, of the beginning of the file. */
    rows_sampled: number;
    /** The cells of the header row. */
    headers: string[];
};
export type CsvFileResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: CsvFile;
};
export type PreviewCampaignCsv = {
    /** Which column holds what. */
    csv_mapping?: CsvMapping;
    /** An approved template of the channel’s business account. */
    template_id?: string;
    /** Which field or text fills which variable. */
    variable_mapping?: VariableMapping;
};
export type CsvDelimiter = "," | ";" | "\t" | "|";
export type SkipReason = "INVALID_PHONE" | "DUPLICATE" | "UNSUBSCRIBED" | "CONTACT_DELETED" | "MISSING_VARIABLE" | "MALFORMED_ROW" | "BLOCKED_COUNTRY";
export type PreviewButton = {
    /** Which kind. */
    "type": string;
    /** The text of a message of type `text`. */
    text: string;
    /** Where it leads: the filled URL, or the number; null for others. */
    target: string | null;
};
export type PreviewCard = {
    /** `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT`, … */
    headerFormat: string | null;
    /** The text, or the address of the media */
    header: string | null;
    /** Values, or names of variables, of the template’s body. */
    body: string | null;
    /** Values, or names of variables, of the template’s buttons. */
    buttons: PreviewButton[];
};
export type MessagePreview = {
    /** `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT`, … */
    headerFormat: string | null;
    /** The text, or the address of the media */
    header: string | null;
    /** Values, or names of variables, of the template’s body. */
    body: string | null;
    /** Values, or names of variables, of the template’s buttons. */
    buttons: PreviewButton[];
    /** Accepted and not sent: footers take no values. */
    footer: string | null;
    /** The cards of a carousel, in order. */
    cards: PreviewCard[];
};
export type CsvPreviewRow = {
    /** The line of the file that the row begins on. */
    line: number | null;
    /** The cells of the row; empty for a row that cannot be read. */
    cells: string[];
    /** Digits with calling code. */
    phone_number: string | null;
    /** Why it is in this state; null where it needs no reason. */
    reason: SkipReason | null;
    /** The reason in words, the provider’s where it spoke; null without one. */
    reason_detail: string | null;
    /** What happened, in words. */
    message: MessagePreview | null;
};
export type CsvPreview = {
    /** What stands between the cells of a row. */
    delimiter: CsvDelimiter;
    /** The cells of the header row. */
    headers: string[];
    /** The `csv_mapping` of the request, else the guessed one */
    mapping: CsvMapping;
    /** How sure the guess is, 0 to 1, by the field of the mapping */
    confidence: {
        [key: string]: number;
    };
    /** The first ten */
    rows: CsvPreviewRow[];
    /** How many rows would be skipped, by reason */
    reasons: {
        [key: string]: number;
    };
    /** How many data rows were read. */
    rows_read: number;
    /** False: the file has more rows than were read */
    is_whole: boolean;
    /** Why the template does not take the variable mapping */
    problems: FieldProblem[];
};
export type CsvPreviewResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: CsvPreview;
};
export type PauseReason = "INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "OPERATOR";
export type WaitingReason = "TURN" | "CHANNEL_TROUBLE" | "CHANNEL_THROTTLE" | "MESSAGING_LIMIT" | "WORKFLOW_STUCK";
export type PreparationErrorCode = "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED";
export type CampaignCounters = {
    /** Waiting to be sent. */
    pending: number;
    /** On the way: claimed by a page that is being sent. */
    claimed: number;
    /** Accepted by the provider; no receipt has come yet. */
    accepted: number;
    /** Sent by the provider, not delivered yet. */
    sent: number;
    /** Delivered to the person’s device. */
    delivered: number;
    /** Read by the person. */
    read: number;
    /** Refused, or reported as failed by a receipt. */
    failed: number;
    /** Nobody knows whether it was sent: the provider did not answer. */
    "unknown": number;
    /** Not claimed before the campaign was cancelled. */
    cancelled: number;
    /** Never to be sent to; see `skipped_reasons`. */
    skipped: number;
};
export type Campaign = {
    /** Identifies the record. */
    id: string;
    /** The name. */
    name: string;
    /** A note of the sender’s own. */
    description: string | null;
    /** An approved template of the channel’s business account. */
    template_id: string;
    /** Where the audience comes from. */
    contact_selection_type: ContactSelectionType;
    /** Recipients that can be sent to; 0 until they are prepared. */
    total_contacts: number;
    /** Rows that were skipped. */
    total_contacts_skipped: number;
    /** Whether the list of recipients is ready. */
    preparation_status: PreparationStatus;
    /** Rises with each preparation; 1 at creation. */
    preparation_version: number;
    /** Rises when the set of recipients changes; 1 at creation. */
    audience_version: number;
    /** Where it stands. */
    status: CampaignStatus;
    /** Now, or at `scheduled_at`. */
    send_type: SendType;
    /** When to send, with a time zone; null for IMMEDIATE. */
    scheduled_at: string | null;
    /** The workspace. */
    workspace_id: number;
    /** True for campaigns created by this API. */
    is_auto_trigger: boolean;
    /** When it was created. */
    created_at: string;
    /** When it last changed. */
    updated_at: string;
    /** The sending number’s channel. */
    channel_id: string;
    /** The provider’s id of the sending number. */
    phone_number_id: string;
    /** Why it is paused; null unless it is. */
    pause_reason: PauseReason | null;
    /** What keeps it from moving; WORKFLOW_STUCK is for an operator to mend; null unless it waits. */
    waiting_for: WaitingReason | null;
    /** When that is expected to be over; null when it is not known. */
    waiting_until: string | null;
    /** Why the preparation failed; null unless it did. */
    preparation_error: {
        /** Why the preparation failed. */
        code: PreparationErrorCode;
        /** What happened, in words. */
        message: string;
    } | null;
    /** When sending began; null before. */
    started_at: string | null;
    /** When nobody was left to be sent to; null before. */
    completed_at: string | null;
    /** Recipients by their present state; each is counted once. */
    counters: CampaignCounters;
    /** Skipped recipients by reason. */
    skipped_reasons: {
        [key: string]: number;
    };
    /** Failed recipients by reason. */
    failed_reasons: {
        [key: string]: number;
    };
    /** The template after the change. */
    template: {
        /** Identifies the record. */
        id: string;
        /** The name. */
        name: string;
        /** The template’s language, such as `en_US`. */
        language: string;
        /** The provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
        category: string;
    };
    /** The id of the API key that created it */
    created_by: string;
};
export type Pagination = {
    /** Which page, from 1. */
    page: number;
    /** How many a page holds at most. */
    limit: number;
    /** How many there are in all. */
    total: number;
    /** Pages in all; 0 where there is nothing. */
    totalPages: number;
};
export type CampaignPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Campaign[];
    /** Where this page stands in the list. */
    pagination: Pagination;
};
export type CampaignDetail = {
    /** Identifies the record. */
    id: string;
    /** The name. */
    name: string;
    /** A note of the sender’s own. */
    description: string | null;
    /** An approved template of the channel’s business account. */
    template_id: string;
    /** Where the audience comes from. */
    contact_selection_type: ContactSelectionType;
    /** Recipients that can be sent to; 0 until they are prepared. */
    total_contacts: number;
    /** Rows that were skipped. */
    total_contacts_skipped: number;
    /** Whether the list of recipients is ready. */
    preparation_status: PreparationStatus;
    /** Rises with each preparation; 1 at creation. */
    preparation_version: number;
    /** Rises when the set of recipients changes; 1 at creation. */
    audience_version: number;
    /** Where it stands. */
    status: CampaignStatus;
    /** Now, or at `scheduled_at`. */
    send_type: SendType;
    /** When to send, with a time zone; null for IMMEDIATE. */
    scheduled_at: string | null;
    /** The workspace. */
    workspace_id: number;
    /** True for campaigns created by this API. */
    is_auto_trigger: boolean;
    /** When it was created. */
    created_at: string;
    /** When it last changed. */
    updated_at: string;
    /** The sending number’s channel. */
    channel_id: string;
    /** The provider’s id of the sending number. */
    phone_number_id: string;
    /** Why it is paused; null unless it is. */
    pause_reason: PauseReason | null;
    /** What keeps it from moving; WORKFLOW_STUCK is for an operator to mend; null unless it waits. */
    waiting_for: WaitingReason | null;
    /** When that is expected to be over; null when it is not known. */
    waiting_until: string | null;
    /** Why the preparation failed; null unless it did. */
    preparation_error: {
        /** The same as the HTTP status. */
        code: PreparationErrorCode;
        /** What happened, in words. */
        message: string;
    } | null;
    /** When sending began; null before. */
    started_at: string | null;
    /** When nobody was left to be sent to; null before. */
    completed_at: string | null;
    /** Recipients by their present state; each is counted once. */
    counters: CampaignCounters;
    /** Skipped recipients by reason. */
    skipped_reasons: {
        [key: string]: number;
    };
    /** Failed recipients by reason. */
    failed_reasons: {
        [key: string]: number;
    };
    /** The template after the change. */
    template: {
        /** Identifies the record. */
        id: string;
        /** The name. */
        name: string;
        /** The template’s language, such as `en_US`. */
        language: string;
        /** The provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
        category: string;
    };
    /** The id of the API key that created it */
    created_by: string;
    /** The audience input, without inline contacts */
    audience: object;
    /** Which field or text fills which variable. */
    variable_mapping: object | null;
    /** What its messages cost so far, less what was given back */
    charged: string;
};
export type CampaignDetailResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: CampaignDetail;
};
export type TimelineInterval = "minute" | "hour";
export type TimelinePart = {
    /** When: the beginning of the part, or the instant at which the status was first told; null where that was not kept. */
    at: string;
    /** Accepted by the provider; no receipt has come yet. */
    accepted: number;
    /** Delivered to the person’s device. */
    delivered: number;
    /** Read by the person. */
    read: number;
    /** Refused, or reported as failed by a receipt. */
    failed: number;
};
export type GetCampaignTimelineResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: TimelinePart[];
};
export type DiagnosisCheck = "STATUS" | "PREPARATION" | "SCHEDULE" | "QUOTA" | "TEMPLATE" | "CHANNEL" | "PACE" | "WALLET" | "WORKER";
export type DiagnosisEntry = {
    /** What was looked at. */
    check: DiagnosisCheck;
    /** False where it stands in the way of sending. */
    ok: boolean;
    /** What is so, in a sentence. */
    detail: string;
    /** What would change it; null where there is nothing to do. */
    action: string | null;
};
export type GetCampaignDiagnosisResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: DiagnosisEntry[];
};
export type RecipientState = "PENDING" | "CLAIMED" | "ACCEPTED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | "CANCELLED" | "SKIPPED";
export type Recipient = {
    /** Identifies the record. */
    id: string;
    /** Digits with calling code. */
    phone_number: string | null;
    /** The contact; null where the row names nobody that is known. */
    contact_id: string | null;
    /** Where it stands. */
    state: RecipientState;
    /** Why it is in this state; null where it needs no reason. */
    reason: string | null;
    /** The reason in words, the provider’s where it spoke; null without one. */
    reason_detail: string | null;
    /** The line of the CSV on which the row begins, the header being 1; null without a CSV. */
    line_number: number | null;
    /** Our id of the message; null where none was made. */
    message_id: string | null;
    /** The provider’s id of the message; null before it accepted. */
    provider_message_id: string | null;
    /** When it last changed. */
    updated_at: string;
};
export type CursorPagination = {
    /** How many a page holds at most. */
    limit: number;
    /** What the next page is asked for with; null at the end. */
    nextCursor: string | null;
};
export type RecipientPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Recipient[];
    /** Where this page stands in the list. */
    pagination: CursorPagination;
};
export type RecipientDetail = {
    /** Identifies the record. */
    id: string;
    /** Digits with calling code. */
    phone_number: string | null;
    /** The contact; null where the row names nobody that is known. */
    contact_id: string | null;
    /** Where it stands. */
    state: RecipientState;
    /** Why it is in this state; null where it needs no reason. */
    reason: string | null;
    /** The reason in words, the provider’s where it spoke; null without one. */
    reason_detail: string | null;
    /** The line of the CSV on which the row begins, the header being 1; null without a CSV. */
    line_number: number | null;
    /** Our id of the message; null where none was made. */
    message_id: string | null;
    /** The provider’s id of the message; null before it accepted. */
    provider_message_id: string | null;
    /** When it last changed. */
    updated_at: string;
    /** What was sent, or will be; null before the audience is prepared, and for who is skipped */
    message: MessagePreview | null;
    /** Each status with the time it was first told; null where that was not kept */
    history: {
        /** Where it stands. */
        status: "accepted" | "sent" | "delivered" | "read" | "failed";
        /** When: the beginning of the part, or the instant at which the status was first told; null where that was not kept. */
        at: string | null;
    }[];
};
export type RecipientDetailResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: RecipientDetail;
};
export type TestCampaign = {
    /** Digits with calling code. */
    phone_number: string;
    /** Values in the order header, body, buttons; not beside `variableMapping`. */
    variables?: string[];
};
export type SentMessage = {
    /** Our id of the message; it travels to the provider and comes back in receipts. */
    messageId: string;
    /** The provider’s id of the message; null when it gave none. */
    providerMessageId: string | null;
    /** Where it stands. */
    status: string;
    /** Digits with calling code, without `+` and spaces. */
    recipientPhoneNumber: string;
    /** The provider’s id of the sending number. */
    phoneNumberId: string;
};
export type SentMessageMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: SentMessage;
};
export type Template = {
    /** Identifies the record. */
    id: string;
    /** The name. */
    name: string;
    /** The template’s language, such as `en_US`. */
    language: string;
    /** The provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
    category: string;
    /** Where it stands. */
    status: string;
    /** The provider’s id of the template. */
    providerTemplateId: string;
    /** The provider’s rating of the template; null when it has told none. */
    quality: string | null;
    /** The category that the provider has announced; null when none is. */
    upcomingCategory: string | null;
    /** When the announced category takes effect; null when none is announced. */
    upcomingCategoryAt: string | null;
    /** The definition as the provider gives it. */
    components: any[];
    /** Why the provider refused it */
    rejectedReason: string | null;
    /** When it last changed. */
    updatedAt: string;
};
export type TemplatePage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Template[];
    /** Where this page stands in the list. */
    pagination: Pagination;
};
export type TemplateSyncSummary = {
    /** Templates that the provider listed. */
    synced: number;
    /** Templates that were not known before. */
    added: number;
    /** Templates whose status, category or components changed. */
    changed: number;
};
export type TemplateSyncSummaryMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: TemplateSyncSummary;
};
export type TemplateResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Template;
};
export type PreviewTemplate = {
    /** Which field or text fills which variable. */
    variable_mapping?: VariableMapping;
    /** The contact; null where the row names nobody that is known. */
    contact_id?: string;
};
export type PreviewTemplateResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: {
        /** What happened, in words. */
        message: MessagePreview;
        /** Why the template does not take the mapping, field by field; empty where it does. */
        problems: FieldProblem[];
    };
};
export type TemplateVariables = {
    /** Values, or names of variables, of the template’s header. */
    header: string[];
    /** Values, or names of variables, of the template’s body. */
    body: string[];
    /** Values, or names of variables, of the template’s buttons. */
    buttons: string[];
};
export type TemplateVariablesResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: TemplateVariables;
};
export type PayloadSkeleton = {
    /** The template. */
    templateId: string;
    /** Digits with calling code, without `+` and spaces. */
    recipientPhoneNumber: string;
    /** Calling code: digits in records and events, `+<digits>` in single sends. */
    countryCode: string;
    /** Values by section, for every kind of template; not beside `variables`. */
    variableMapping: {
        /** Values, or names of variables, of the template’s header. */
        header: object;
        /** Values, or names of variables, of the template’s body. */
        body: {
            [key: string]: string;
        };
        /** Values, or names of variables, of the template’s buttons. */
        buttons: object[];
        /** When the offer of the template ends. */
        limited_time_offer?: {
            /** When the offer ends, in milliseconds since 1970. */
            expiration_time_ms: number;
        };
        /** One entry a card, in the template’s order. */
        carousel?: object[];
    };
};
export type PayloadSkeletonResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: PayloadSkeleton;
};
export type SendTemplateMessage = {
    /** The template. */
    templateId: string;
    /** Digits with calling code, without `+` and spaces. */
    recipientPhoneNumber: string;
    /** Calling code: digits in records and events, `+<digits>` in single sends. */
    countryCode: string;
    /** Values in the order header, body, buttons; not beside `variableMapping`. */
    variables?: string[];
    /** Values by section, for every kind of template; not beside `variables`. */
    variableMapping?: VariableMapping;
};
export type Tag = {
    /** Identifies the tag. */
    tagId: string;
    /** The name. */
    name: string;
    /** Hex colour of the name. */
    text_color: string;
    /** Hex colour behind the name. */
    background_color: string;
};
export type TagPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Tag[];
    /** Where this page stands in the list. */
    pagination: Pagination;
};
export type CreateTag = {
    /** The name. */
    name: string;
    /** Hex colour of the name. */
    text_color?: string;
    /** Hex colour behind the name. */
    background_color?: string;
    /** The id of the user who creates it; the key’s id where absent. */
    createdBy?: string;
};
export type TagMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: Tag;
};
export type TagResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Tag;
};
export type UpdateTag = {
    /** The name. */
    name?: string;
    /** Hex colour of the name. */
    text_color?: string;
    /** Hex colour behind the name. */
    background_color?: string;
};
export type Acknowledgement = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
};
export type CustomField = {
    /** The name of the custom field. */
    fieldId: string;
    /** The value. */
    value: string;
};
export type Contact = {
    /** Identifies the record. */
    id: string;
    /** First name; empty or null when unknown. */
    firstName: string;
    /** Last name; empty or null when unknown. */
    lastName: string;
    /** The name that the person shows in the chat. */
    chatName: string;
    /** E-mail address; empty or null when unknown. */
    email: string;
    /** National digits. */
    phoneNumber: string;
    /** Calling code: digits in records and events, `+<digits>` in single sends. */
    countryCode: string;
    /** Where it comes from. */
    source: string;
    /** False after an opt-out: campaigns skip the contact. */
    subscribed: boolean;
    /** Fields of the workspace’s own; the list replaces the one before. */
    customFields: CustomField[];
    /** Tag ids; the list replaces the one before. */
    tagsId: string[];
    /** Date of birth; null when unknown. */
    dob: string | null;
    /** When it was created. */
    createdAt: string;
    /** When it last changed. */
    updatedAt: string;
};
export type ContactPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Contact[];
    /** Where this page stands in the list. */
    pagination: CursorPagination;
};
export type CustomFieldValue = {
    /** The name of the custom field. */
    fieldId: string;
    /** The value. */
    value: string;
};
export type CreateContact = {
    /** National digits, or international ones with a plus sign. */
    phoneNumber: string;
    /** A calling code, with or without a plus sign. */
    countryCode?: string;
    /** First name; empty or null when unknown. */
    firstName?: string;
    /** Last name; empty or null when unknown. */
    lastName?: string;
    /** The name that the person shows in the chat. */
    chatName?: string;
    /** E-mail address; empty or null when unknown. */
    email?: string;
    /** False after an opt-out: campaigns skip the contact. */
    subscribed?: boolean;
    /** Fields of the workspace’s own; the list replaces the one before. */
    customFields?: CustomFieldValue[];
    /** Tag ids; the list replaces the one before. */
    tagsId?: string[];
    /** Date of birth; null when unknown. */
    dob?: string | null;
};
export type ContactMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: Contact;
};
export type ContactResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Contact;
};
export type UpdateContact = {
    /** National digits, or international ones with a plus sign. */
    phoneNumber?: string;
    /** A calling code, with or without a plus sign. */
    countryCode?: string;
    /** First name; empty or null when unknown. */
    firstName?: string;
    /** Last name; empty or null when unknown. */
    lastName?: string;
    /** The name that the person shows in the chat. */
    chatName?: string;
    /** E-mail address; empty or null when unknown. */
    email?: string;
    /** False after an opt-out: campaigns skip the contact. */
    subscribed?: boolean;
    /** Fields of the workspace’s own; the list replaces the one before. */
    customFields?: CustomFieldValue[];
    /** Tag ids; the list replaces the one before. */
    tagsId?: string[];
    /** Date of birth; null when unknown. */
    dob?: string | null;
};
export type ContactExport = {
    /** The contact as it is after the change. */
    contact: Contact;
    /** The ids by which the provider knows the person, beside the number. */
    providerIds: string[];
    /** The conversations with the person, oldest first. */
    conversations: object[];
    /** The messages outside campaigns, inbound ones included, oldest first. */
    messages: object[];
    /** The person’s places in campaigns, oldest first. */
    campaignMessages: object[];
};
export type ContactExportResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: ContactExport;
};
export type Segment = {
    /** Identifies the record. */
    id: string;
    /** The name. */
    name: string;
    /** `all` conditions, or `any` of them. */
    match: FilterMatch;
    /** Conditions on contacts; see `match`. */
    conditions: SegmentCondition[];
    /** When it was created. */
    created_at: string;
    /** When it last changed. */
    updated_at: string;
};
export type SegmentPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Segment[];
    /** Where this page stands in the list. */
    pagination: Pagination;
};
export type CreateSegment = {
    /** The name. */
    name: string;
    /** At most 65536 bytes as JSON. */
    conditions: SegmentCondition[];
    /** `all` conditions, or `any` of them. */
    match?: FilterMatch;
};
export type SegmentMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: Segment;
};
export type SegmentResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Segment;
};
export type UpdateSegment = {
    /** The name. */
    name?: string;
    /** `all` conditions, or `any` of them. */
    match?: FilterMatch;
    /** At most 65536 bytes as JSON. */
    conditions?: SegmentCondition[];
};
export type ConversationStatus = "open" | "resolved" | "closed";
export type AssignmentType = "user" | "team" | "bot" | "none";
export type Assignee = {
    /** Identifies the record. */
    id: string | null;
    /** The name. */
    name: string | null;
    /** First name; empty or null when unknown. */
    firstName: string | null;
    /** Last name; empty or null when unknown. */
    lastName: string | null;
    /** E-mail address; empty or null when unknown. */
    email: string | null;
};
export type ChatMode = "manual" | "bot" | "assistant";
export type Conversation = {
    /** Identifies the record. */
    id: string;
    /** The contact. */
    contactId: string;
    /** The sending number’s channel. */
    channelId: string;
    /** The provider’s id of the sending number. */
    phoneNumberId: string;
    /** Where it stands. */
    status: ConversationStatus;
    /** What it is assigned to. */
    assignmentType: AssignmentType;
    /** The user, team or bot it is assigned to; null for nobody. */
    assignedTo: Assignee | null;
    /** Who answers in the conversation. */
    chatMode: ChatMode;
    /** When it was closed; null unless it is. */
    closedAt: string | null;
    /** When it was created. */
    createdAt: string;
    /** When it last changed. */
    updatedAt: string;
};
export type ConversationPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Conversation[];
    /** Where this page stands in the list. */
    pagination: Pagination;
};
export type ConversationResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Conversation;
};
export type AssigneeInput = {
    /** Identifies the record. */
    id: string;
    /** The name. */
    name?: string | null;
    /** First name; empty or null when unknown. */
    firstName?: string | null;
    /** Last name; empty or null when unknown. */
    lastName?: string | null;
    /** E-mail address; empty or null when unknown. */
    email?: string | null;
};
export type ActorInput = {
    /** Identifies the record. */
    id?: string | null;
    /** The name. */
    name?: string | null;
    /** E-mail address; empty or null when unknown. */
    email?: string | null;
};
export type AssignmentSource = "manual" | "chatbot" | "assistant" | "api" | "auto";
export type AssignConversation = {
    /** What it is assigned to. */
    assignmentType: AssignmentType;
    /** The user, team or bot it is assigned to; null for nobody. */
    assignedTo?: AssigneeInput | null;
    /** Who assigned it; null when nobody did by hand. */
    assignedBy?: ActorInput | null;
    /** Who answers in the conversation. */
    chatMode?: ChatMode;
    /** Where it comes from. */
    source?: AssignmentSource;
};
export type ConversationMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: Conversation;
};
export type ChangeConversationStatus = {
    /** Where it stands. */
    status: ConversationStatus;
    /** Who changed it; null when nobody did by hand. */
    changedBy?: ActorInput | null;
};
export type ChannelStatus = "active" | "blocked";
export type Channel = {
    /** Identifies the record. */
    id: string;
    /** The provider’s id of the sending number. */
    phone_number_id: string;
    /** The number as people read it. */
    display_phone_number: string;
    /** The provider’s id of the business account. */
    business_account_id: string;
    /** Where it stands. */
    status: ChannelStatus;
    /** Why it is blocked */
    block_reason: string | null;
    /** When a restriction of the provider’s ends by itself */
    blocked_until: string | null;
    /** ISO 3166 alpha-2 codes it never sends to */
    blocked_countries: string[];
    /** Its limit */
    messages_per_second: number;
    /** What throttling leaves of the limit at this moment */
    rate_now: number;
    /** The provider asked for silence until then */
    held_until: string | null;
    /** How many campaigns of the channel are being sent. */
    running_campaigns: number;
    /** Different people the business account may write to in 24 hours; null: no limit */
    messaging_limit: number | null;
    /** What the provider said last of the business account: `field`, `event`, `at` and its details */
    account_notice: object | null;
};
export type ListChannelsResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Channel[];
};
export type ChannelResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Channel;
};
export type MessagePrice = {
    /** The provider’s category: MARKETING, UTILITY or AUTHENTICATION. */
    category: string;
    /** ISO 3166 alpha-2; null is every other country. */
    country: string | null;
    /** Of one message, as decimal text. */
    price: string;
};
export type Wallet = {
    /** The sending number’s channel. */
    channel_id: string;
    /** The sum of the ledger, as decimal text. What can be spent is balance − reserved. */
    balance: string;
    /** Held for messages on the way, as decimal text. */
    reserved: string;
    /** ISO 4217. */
    currency: string;
    /** What a message costs by category and country. */
    message_prices: MessagePrice[];
};
export type WalletResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Wallet;
};
export type RechargeWallet = {
    /** The sending number’s channel. */
    channel_id: string;
    /** Decimal text in the wallet’s currency, with up to six places. */
    amount: string;
};
export type WalletMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: Wallet;
};
export type LedgerEntryKind = "recharge" | "adjustment" | "charge" | "refund" | "correction";
export type LedgerEntry = {
    /** Identifies the record. */
    id: string;
    /** The sending number’s channel. */
    channel_id: string;
    /** Why the balance moved. */
    kind: LedgerEntryKind;
    /** Decimal text in the wallet’s currency, with up to six places. */
    amount: string;
    /** The campaign it was for; null where it was for none. */
    campaign_id: string | null;
    /** Our id of the message; null where none was made. */
    message_id: string | null;
    /** How many messages it was for; null where it was for none. */
    message_count: number | null;
    /** Why it is in this state; null where it needs no reason. */
    reason: string | null;
    /** When it was created. */
    created_at: string;
};
export type LedgerEntryPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: LedgerEntry[];
    /** Where this page stands in the list. */
    pagination: CursorPagination;
};
export type AuditEntry = {
    /** Identifies the record. */
    id: string;
    /** When it was done. */
    at: string;
    /** The API key that did it; null where it was no key. */
    key_id: string | null;
    /** The operator’s command that did it; null where it was none. */
    command: string | null;
    /** What was done, by its object: `campaign.pause`, `wallet.recharge`, … */
    action: string;
    /** What it was done to. */
    object_id: string;
    /** The X-Request-Id of the request; null where it was none. */
    request_id: string | null;
};
export type AuditEntryPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: AuditEntry[];
    /** Where this page stands in the list. */
    pagination: CursorPagination;
};
export type ReceiveProviderCallbackResponse = {
    /** Where it stands. */
    status: "success";
};
export type EventKey = "incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed";
export type WebhookStatus = "active" | "inactive";
export type CreateWebhook = {
    /** A name for people. */
    title: string;
    /** Where deliveries go: http or https. */
    url: string;
    /** The events that are delivered to the URL. */
    events: EventKey[];
    /** Where it stands. */
    status?: WebhookStatus;
    /** Signs deliveries; `whsec_…` (base64) is recommended. Null removes it. */
    secret?: string | null;
};
export type Webhook = {
    /** Identifies the record. */
    id: string;
    /** A name for people. */
    title: string;
    /** Where deliveries go: http or https. */
    url: string;
    /** Where it stands. */
    status: WebhookStatus;
    /** The events that are delivered to the URL. */
    events: EventKey[];
    /** True when deliveries are signed; the secret itself is never shown. */
    hasSecret: boolean;
    /** When it was created. */
    createdAt: string;
    /** When it last changed. */
    updatedAt: string;
};
export type WebhookMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: Webhook;
};
export type WebhookPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Webhook[];
    /** Where this page stands in the list. */
    pagination: Pagination;
};
export type EventDescription = {
    /** What happened. */
    eventKey: EventKey;
    /** When the event is emitted. */
    description: string;
    /** JSON Schema 2020-12 of the request body. */
    schema: object;
    /** A request body as it is delivered. */
    example: object;
};
export type ListWebhookEventsResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: EventDescription[];
};
export type WebhookResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Webhook;
};
export type UpdateWebhook = {
    /** Where deliveries go: http or https. */
    url?: string;
    /** Where it stands. */
    status?: WebhookStatus;
    /** The events that are delivered to the URL. */
    events?: EventKey[];
    /** Signs deliveries; `whsec_…` (base64) is recommended. Null removes it. */
    secret?: string | null;
};
export type WebhookHealthState = "unknown" | "healthy" | "failing";
export type WebhookHealth = {
    /** The webhook configuration. */
    webhookId: string;
    /** Whether deliveries arrive. */
    health: WebhookHealthState;
    /** The first failure that no success has followed; null when there is none. */
    failingSince: string | null;
    /** Failed deliveries since the last that succeeded. */
    consecutiveFailures: number;
    /** Deliveries whose turn has not come; counted up to 10,000. */
    waiting: number;
};
export type WebhookHealthResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: WebhookHealth;
};
export type TestWebhook = {
    /** What happened. */
    eventKey: EventKey;
};
export type DeliveryState = "pending" | "sending" | "delivered" | "failed";
export type DeliveryErrorCode = "blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "interrupted" | "expired";
export type Delivery = {
    /** Identifies the record. */
    id: string;
    /** The webhook configuration. */
    webhookId: string;
    /** The event that is delivered. */
    eventId: string;
    /** What happened. */
    eventKey: string;
    /** Where it stands. */
    state: DeliveryState;
    /** Why it failed; null unless it did. */
    errorCode: DeliveryErrorCode | null;
    /** The receiver’s HTTP status; null without one. */
    responseStatus: number | null;
    /** The beginning of the receiver’s answer; null without one. */
    responseExcerpt: string | null;
    /** Milliseconds from dialling to the answer’s end; null before the attempt. */
    durationMs: number | null;
    /** When the request left; null while it has not. */
    attemptedAt: string | null;
    /** When it was created. */
    createdAt: string;
};
export type DeliveryMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: Delivery;
};
export type DeliveryPage = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Delivery[];
    /** Where this page stands in the list. */
    pagination: CursorPagination;
};
export type WebhookErrorCode = "blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "interrupted" | "expired";
export type DeliveryResponse = {
    /** Where it stands. */
    status: "success";
    /** What was asked for. */
    data: Delivery;
};
export type ResendFailedDeliveries = {
    /** From when on. */
    since: string;
    /** Until before when. */
    until: string;
};
export type ResentDeliveries = {
    /** How many. */
    count: number;
};
export type ResentDeliveriesMessageResponse = {
    /** Where it stands. */
    status: "success";
    /** What happened, in words. */
    message: string;
    /** What was asked for. */
    data: ResentDeliveries;
};
export type GetHealthResponse = {
    /** Where it stands. */
    status: "ok";
};
export type GetReadinessResponse = {
    /** Where it stands. */
    status: "ready";
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
 * Check the body of a creation without creating anything
 */
export function checkCampaign(checkCampaign: CheckCampaign, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: CampaignCheckResponse;
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
    }>("/api/campaigns/check", oazapfts.json({
        ...opts,
        method: "POST",
        body: checkCampaign
    }));
}
/**
 * Upload a CSV for a campaign: field `file` of a multipart form, up to 256 MiB
 */
export function uploadCampaignCsv(body: {
    /** The CSV, up to 256 MiB. */
    file: Blob;
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
 * Show how a campaign would read an uploaded CSV
 */
export function previewCampaignCsv(key: string, previewCampaignCsv: PreviewCampaignCsv, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: CsvPreviewResponse;
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
    }>(`/api/campaigns/csv-files/${encodeURIComponent(key)}/preview`, oazapfts.json({
        ...opts,
        method: "POST",
        body: previewCampaignCsv
    }));
}
/**
 * List the campaigns of the workspace, newest first
 */
export function listCampaigns({ page, limit, status, search, templateId, $from, to }: {
    page?: number;
    limit?: number;
    status?: CampaignStatus[];
    search?: string;
    templateId?: string;
    $from?: string;
    to?: string;
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
        status,
        search,
        template_id: templateId,
        "from": $from,
        to
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
        data: CampaignDetailResponse;
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
 * What became of a campaign minute by minute, or hour by hour
 */
export function getCampaignTimeline(id: string, { interval }: {
    interval?: TimelineInterval;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: GetCampaignTimelineResponse;
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
    }>(`/api/campaigns/${encodeURIComponent(id)}/timeline${QS.query(QS.explode({
        interval
    }))}`, {
        ...opts
    });
}
/**
 * Why a campaign sends, or does not, and what would change it
 */
export function getCampaignDiagnosis(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: GetCampaignDiagnosisResponse;
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
    }>(`/api/campaigns/${encodeURIComponent(id)}/diagnosis`, {
        ...opts
    });
}
/**
 * Follow a campaign: server-sent events until it has ended
 */
export function streamCampaign(id: string, opts?: Oazapfts.RequestOpts) {
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
    }>(`/api/campaigns/${encodeURIComponent(id)}/stream`, {
        ...opts
    });
}
/**
 * The recipients of a campaign; with `Accept: text/csv` all of them as a file
 */
export function listCampaignRecipients(id: string, { state, reason, phoneNumber, cursor, limit }: {
    state?: RecipientState[];
    reason?: string[];
    phoneNumber?: string;
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
        phone_number: phoneNumber,
        cursor,
        limit
    }))}`, {
        ...opts
    });
}
/**
 * One recipient: the text of the message and the time of each status
 */
export function getCampaignRecipient(id: string, recipientId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: RecipientDetailResponse;
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
    }>(`/api/campaigns/${encodeURIComponent(id)}/recipients/${encodeURIComponent(recipientId)}`, {
        ...opts
    });
}
/**
 * Start a paused campaign again, where it stopped
 */
export function startCampaign(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 202;
        data: CampaignDetailResponse;
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
        data: CampaignDetailResponse;
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
        data: CampaignDetailResponse;
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
 * Read a template
 */
export function getTemplate(templateId: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TemplateResponse;
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
    }>(`/api/templates/${encodeURIComponent(templateId)}`, {
        ...opts
    });
}
/**
 * Show the message of a template as its reader will see it
 */
export function previewTemplate(templateId: string, previewTemplate: PreviewTemplate, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: PreviewTemplateResponse;
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
    }>(`/api/templates/${encodeURIComponent(templateId)}/preview`, oazapfts.json({
        ...opts,
        method: "POST",
        body: previewTemplate
    }));
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
export function deleteContact(id: string, { erase }: {
    erase?: "true" | "false";
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Acknowledgement;
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
    }>(`/api/contacts/${encodeURIComponent(id)}${QS.query(QS.explode({
        erase
    }))}`, {
        ...opts,
        method: "DELETE"
    });
}
/**
 * Export everything that is held of a person
 */
export function exportContact(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ContactExportResponse;
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
    }>(`/api/contacts/${encodeURIComponent(id)}/export`, {
        ...opts
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
 * List the channels of the workspace as they stand
 */
export function listChannels(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ListChannelsResponse;
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
    }>("/api/channels", {
        ...opts
    });
}
/**
 * A channel as it stands
 */
export function getChannel(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: ChannelResponse;
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
    }>(`/api/channels/${encodeURIComponent(id)}`, {
        ...opts
    });
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
 * List the ledger of a channel
 */
export function listWalletEntries({ channelId, cursor, limit }: {
    channelId?: string;
    cursor?: string;
    limit?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: LedgerEntryPage;
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
    }>(`/api/wallet/entries${QS.query(QS.explode({
        channel_id: channelId,
        cursor,
        limit
    }))}`, {
        ...opts
    });
}
/**
 * List who did what in the workspace
 */
export function listAuditEntries({ cursor, limit }: {
    cursor?: string;
    limit?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: AuditEntryPage;
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
    }>(`/api/audit${QS.query(QS.explode({
        cursor,
        limit
    }))}`, {
        ...opts
    });
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
        data: ReceiveProviderCallbackResponse;
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
        data: ListWebhookEventsResponse;
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
 * List the deliveries of all webhook configurations
 */
export function listDeliveries({ state, errorCode, $from, to, cursor, limit }: {
    state?: DeliveryState[];
    errorCode?: WebhookErrorCode[];
    $from?: string;
    to?: string;
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
        status: 429;
        data: ApiError;
    } | {
        status: 500;
        data: ApiError;
    } | {
        status: 503;
        data: ApiError;
    }>(`/api/external-webhooks/deliveries${QS.query(QS.explode({
        state,
        error_code: errorCode,
        "from": $from,
        to,
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
 * Deliver once more every event whose delivery failed
 */
export function resendFailedDeliveries(id: string, resendFailedDeliveries: ResendFailedDeliveries, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 202;
        data: ResentDeliveriesMessageResponse;
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
    }>(`/api/external-webhooks/${encodeURIComponent(id)}/resend-failed`, oazapfts.json({
        ...opts,
        method: "POST",
        body: resendFailedDeliveries
    }));
}
/**
 * Whether the process lives
 */
export function getHealth(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: GetHealthResponse;
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
        data: GetReadinessResponse;
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
