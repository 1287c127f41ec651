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
export type Error = {
    status: "error";
    code: number;
    message: string;
    timestamp: string;
    error?: {
        field: string;
        message: string;
    }[] | {
        providerCode: number;
        details: string;
    };
};
/**
 * Create a campaign that prepares its audience and sends itself
 */
export function createCampaign(body: {
    name: string;
    template_id: string;
    contact_selection_type: "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";
    send_type: "IMMEDIATE" | "SCHEDULED";
    description?: string;
    /** Must not be sent: the API key supplies it. */
    channel_id?: any;
    /** Must not be sent: the API key supplies it. */
    phone_number_id?: any;
    contact_filters?: {
        match: "all" | "any";
        conditions: {
            field: string;
            operator: string;
            value?: any;
        }[];
    };
    segments?: string[];
    quick_contacts?: string[];
    csv_contacts_string?: string;
    csv_file_key?: string;
    csv_file_url?: string;
    csv_mapping?: {
        /** 0-based index of the column */
        phone_column: number;
        /** 0-based index of the column */
        country_code_column: number;
        name_column?: number | null;
        email_column?: number | null;
        custom_field_mapping?: {
            [key: string]: number;
        } | null;
    };
    failed_campaign_id?: string;
    failed_reasons?: string[];
    variable_mapping?: {
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
        carousel?: {
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
        }[];
        default_values?: {
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
            carousel?: {
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
            }[];
        };
    };
    scheduled_at?: string | null;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: {
            status: "success";
            code: 201;
            message: string;
            data: {
                campaign: {
                    id: string;
                    name: string;
                    description: string | null;
                    template_id: string;
                    contact_selection_type: "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";
                    total_contacts: number;
                    total_contacts_skipped: number;
                    preparation_status: "PREPARING" | "READY" | "FAILED";
                    preparation_version: number;
                    audience_version: number;
                    status: "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                    send_type: "IMMEDIATE" | "SCHEDULED";
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
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/api/campaigns/auto-trigger", oazapfts.json({
        ...opts,
        method: "POST",
        body,
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
        data: {
            status: "success";
            data: {
                csv_file_key: string;
                csv_file_url: string;
                size: number;
                rows_sampled: number;
                headers: string[];
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
    status?: "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            data: {
                id: string;
                name: string;
                description: string | null;
                template_id: string;
                contact_selection_type: "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";
                total_contacts: number;
                total_contacts_skipped: number;
                preparation_status: "PREPARING" | "READY" | "FAILED";
                preparation_version: number;
                audience_version: number;
                status: "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                send_type: "IMMEDIATE" | "SCHEDULED";
                scheduled_at: string | null;
                workspace_id: number;
                is_auto_trigger: boolean;
                created_at: string;
                updated_at: string;
                channel_id: string;
                phone_number_id: string;
                pause_reason: ("INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "OPERATOR") | null;
                preparation_error: {
                    code: "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED";
                    message: string;
                } | null;
                started_at: string | null;
                completed_at: string | null;
                counters: {
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
                skipped_reasons: {
                    [key: string]: number;
                };
                failed_reasons: {
                    [key: string]: number;
                };
            }[];
            pagination: {
                page: number;
                limit: number;
                total: number;
                totalPages: number;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                id: string;
                name: string;
                description: string | null;
                template_id: string;
                contact_selection_type: "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";
                total_contacts: number;
                total_contacts_skipped: number;
                preparation_status: "PREPARING" | "READY" | "FAILED";
                preparation_version: number;
                audience_version: number;
                status: "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                send_type: "IMMEDIATE" | "SCHEDULED";
                scheduled_at: string | null;
                workspace_id: number;
                is_auto_trigger: boolean;
                created_at: string;
                updated_at: string;
                channel_id: string;
                phone_number_id: string;
                pause_reason: ("INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "OPERATOR") | null;
                preparation_error: {
                    code: "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED";
                    message: string;
                } | null;
                started_at: string | null;
                completed_at: string | null;
                counters: {
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
                skipped_reasons: {
                    [key: string]: number;
                };
                failed_reasons: {
                    [key: string]: number;
                };
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/campaigns/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * The recipients of a campaign; with `Accept: text/csv` all of them as a file
 */
export function listCampaignRecipients(id: string, { state, reason, cursor, limit }: {
    state?: ("PENDING" | "CLAIMED" | "ACCEPTED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | "CANCELLED" | "SKIPPED")[];
    reason?: string[];
    cursor?: string;
    limit?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            data: {
                id: string;
                phone_number: string | null;
                contact_id: string | null;
                state: "PENDING" | "CLAIMED" | "ACCEPTED" | "SENT" | "DELIVERED" | "READ" | "FAILED" | "UNKNOWN" | "CANCELLED" | "SKIPPED";
                reason: string | null;
                reason_detail: string | null;
                line_number: number | null;
                message_id: string | null;
                provider_message_id: string | null;
                updated_at: string;
            }[];
            pagination: {
                limit: number;
                nextCursor: string | null;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                id: string;
                name: string;
                description: string | null;
                template_id: string;
                contact_selection_type: "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";
                total_contacts: number;
                total_contacts_skipped: number;
                preparation_status: "PREPARING" | "READY" | "FAILED";
                preparation_version: number;
                audience_version: number;
                status: "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                send_type: "IMMEDIATE" | "SCHEDULED";
                scheduled_at: string | null;
                workspace_id: number;
                is_auto_trigger: boolean;
                created_at: string;
                updated_at: string;
                channel_id: string;
                phone_number_id: string;
                pause_reason: ("INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "OPERATOR") | null;
                preparation_error: {
                    code: "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED";
                    message: string;
                } | null;
                started_at: string | null;
                completed_at: string | null;
                counters: {
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
                skipped_reasons: {
                    [key: string]: number;
                };
                failed_reasons: {
                    [key: string]: number;
                };
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                id: string;
                name: string;
                description: string | null;
                template_id: string;
                contact_selection_type: "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";
                total_contacts: number;
                total_contacts_skipped: number;
                preparation_status: "PREPARING" | "READY" | "FAILED";
                preparation_version: number;
                audience_version: number;
                status: "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                send_type: "IMMEDIATE" | "SCHEDULED";
                scheduled_at: string | null;
                workspace_id: number;
                is_auto_trigger: boolean;
                created_at: string;
                updated_at: string;
                channel_id: string;
                phone_number_id: string;
                pause_reason: ("INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "OPERATOR") | null;
                preparation_error: {
                    code: "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED";
                    message: string;
                } | null;
                started_at: string | null;
                completed_at: string | null;
                counters: {
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
                skipped_reasons: {
                    [key: string]: number;
                };
                failed_reasons: {
                    [key: string]: number;
                };
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                id: string;
                name: string;
                description: string | null;
                template_id: string;
                contact_selection_type: "all_contacts" | "segmented" | "csv_contacts" | "quick_contacts" | "failed_contacts";
                total_contacts: number;
                total_contacts_skipped: number;
                preparation_status: "PREPARING" | "READY" | "FAILED";
                preparation_version: number;
                audience_version: number;
                status: "DRAFT" | "SCHEDULED" | "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "CANCELLED";
                send_type: "IMMEDIATE" | "SCHEDULED";
                scheduled_at: string | null;
                workspace_id: number;
                is_auto_trigger: boolean;
                created_at: string;
                updated_at: string;
                channel_id: string;
                phone_number_id: string;
                pause_reason: ("INSUFFICIENT_BALANCE" | "BROADCAST_QUOTA" | "TEMPLATE_UNAVAILABLE" | "CHANNEL_BLOCKED" | "OPERATOR") | null;
                preparation_error: {
                    code: "AUDIENCE_EMPTY" | "CSV_UNREADABLE" | "CSV_COLUMN_OUT_OF_RANGE" | "TEMPLATE_NOT_FOUND" | "FILE_NOT_FOUND" | "FILE_TOO_LARGE" | "FILE_FETCH_REFUSED";
                    message: string;
                } | null;
                started_at: string | null;
                completed_at: string | null;
                counters: {
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
                skipped_reasons: {
                    [key: string]: number;
                };
                failed_reasons: {
                    [key: string]: number;
                };
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/campaigns/${encodeURIComponent(id)}/cancel`, {
        ...opts,
        method: "POST"
    });
}
/**
 * Send one message of the campaign to a number of your own
 */
export function testCampaign(id: string, body: {
    phone_number: string;
    variables?: string[];
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
                messageId: string;
                providerMessageId: string | null;
                status: string;
                recipientPhoneNumber: string;
                phoneNumberId: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 502;
        data: {
            status: "error";
            code: number;
            message: string;
            timestamp: string;
            error?: {
                field: string;
                message: string;
            }[] | {
                providerCode: number;
                details: string;
            };
        };
    } | {
        status: 503;
        data: Error;
    }>(`/api/campaigns/${encodeURIComponent(id)}/test`, oazapfts.json({
        ...opts,
        method: "POST",
        body
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
        data: {
            status: "success";
            data: {
                id: string;
                name: string;
                language: string;
                category: string;
                status: string;
                providerTemplateId: string;
                /** The definition as the provider gives it. */
                components: any[];
                updatedAt: string;
            }[];
            pagination: {
                page: number;
                limit: number;
                total: number;
                totalPages: number;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            message: string;
            data: {
                synced: number;
                added: number;
                changed: number;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 502;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                header: string[];
                body: string[];
                buttons: string[];
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
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
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/templates/${encodeURIComponent(templateId)}/payload-skeleton`, {
        ...opts
    });
}
/**
 * Send a template message to one recipient
 */
export function sendTemplateMessage(body: {
    templateId: string;
    recipientPhoneNumber: string;
    countryCode: string;
    variables?: string[];
    variableMapping?: {
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
        carousel?: {
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
        }[];
        default_values?: {
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
            carousel?: {
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
            }[];
        };
    };
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
                messageId: string;
                providerMessageId: string | null;
                status: string;
                recipientPhoneNumber: string;
                phoneNumberId: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 422;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 502;
        data: {
            status: "error";
            code: number;
            message: string;
            timestamp: string;
            error?: {
                field: string;
                message: string;
            }[] | {
                providerCode: number;
                details: string;
            };
        };
    } | {
        status: 503;
        data: Error;
    }>("/api/templates/external/message/send", oazapfts.json({
        ...opts,
        method: "POST",
        body,
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
        data: {
            status: "success";
            data: {
                tagId: string;
                name: string;
                text_color: string;
                background_color: string;
            }[];
            pagination: {
                page: number;
                limit: number;
                total: number;
                totalPages: number;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
export function createTag(body: {
    name: string;
    text_color?: string;
    background_color?: string;
    createdBy?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: {
            status: "success";
            message: string;
            data: {
                tagId: string;
                name: string;
                text_color: string;
                background_color: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/api/tags", oazapfts.json({
        ...opts,
        method: "POST",
        body
    }));
}
/**
 * Read a tag
 */
export function getTag(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            data: {
                tagId: string;
                name: string;
                text_color: string;
                background_color: string;
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/tags/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Change a tag
 */
export function updateTag(id: string, body: {
    name?: string;
    text_color?: string;
    background_color?: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
                tagId: string;
                name: string;
                text_color: string;
                background_color: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/tags/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body
    }));
}
/**
 * Delete a tag
 */
export function deleteTag(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
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
            }[];
            pagination: {
                limit: number;
                nextCursor: string | null;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
export function createContact(body: {
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
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
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
        };
    } | {
        status: 201;
        data: {
            status: "success";
            message: string;
            data: {
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
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/api/contacts", oazapfts.json({
        ...opts,
        method: "POST",
        body
    }));
}
/**
 * Read a contact
 */
export function getContact(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            data: {
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
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/contacts/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Change a contact and its tags
 */
export function updateContact(id: string, body: {
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
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
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
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/contacts/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body
    }));
}
/**
 * Delete a contact
 */
export function deleteContact(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                id: string;
                name: string;
                match: "all" | "any";
                conditions: {
                    field: string;
                    operator: string;
                    value?: any;
                }[];
                created_at: string;
                updated_at: string;
            }[];
            pagination: {
                page: number;
                limit: number;
                total: number;
                totalPages: number;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
export function createSegment(body: {
    name: string;
    conditions: {
        field: string;
        operator: string;
        value?: any;
    }[];
    match?: "all" | "any";
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: {
            status: "success";
            message: string;
            data: {
                id: string;
                name: string;
                match: "all" | "any";
                conditions: {
                    field: string;
                    operator: string;
                    value?: any;
                }[];
                created_at: string;
                updated_at: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/api/segments", oazapfts.json({
        ...opts,
        method: "POST",
        body
    }));
}
/**
 * Read a segment
 */
export function getSegment(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            data: {
                id: string;
                name: string;
                match: "all" | "any";
                conditions: {
                    field: string;
                    operator: string;
                    value?: any;
                }[];
                created_at: string;
                updated_at: string;
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/segments/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Change a segment
 */
export function updateSegment(id: string, body: {
    name?: string;
    match?: "all" | "any";
    conditions?: {
        field: string;
        operator: string;
        value?: any;
    }[];
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
                id: string;
                name: string;
                match: "all" | "any";
                conditions: {
                    field: string;
                    operator: string;
                    value?: any;
                }[];
                created_at: string;
                updated_at: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/segments/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body
    }));
}
/**
 * Delete a segment
 */
export function deleteSegment(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
    status?: "open" | "resolved" | "closed";
    assignedTo?: string;
    contactId?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            data: {
                id: string;
                contactId: string;
                channelId: string;
                phoneNumberId: string;
                status: "open" | "resolved" | "closed";
                assignmentType: "user" | "team" | "bot" | "none";
                assignedTo: {
                    id: string | null;
                    name: string | null;
                    firstName: string | null;
                    lastName: string | null;
                    email: string | null;
                } | null;
                chatMode: "manual" | "bot" | "assistant";
                closedAt: string | null;
                createdAt: string;
                updatedAt: string;
            }[];
            pagination: {
                page: number;
                limit: number;
                total: number;
                totalPages: number;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                id: string;
                contactId: string;
                channelId: string;
                phoneNumberId: string;
                status: "open" | "resolved" | "closed";
                assignmentType: "user" | "team" | "bot" | "none";
                assignedTo: {
                    id: string | null;
                    name: string | null;
                    firstName: string | null;
                    lastName: string | null;
                    email: string | null;
                } | null;
                chatMode: "manual" | "bot" | "assistant";
                closedAt: string | null;
                createdAt: string;
                updatedAt: string;
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/conversations/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Assign a conversation
 */
export function assignConversation(id: string, body: {
    assignmentType: "user" | "team" | "bot" | "none";
    assignedTo?: {
        id: string;
        name?: string | null;
        firstName?: string | null;
        lastName?: string | null;
        email?: string | null;
    } | null;
    assignedBy?: {
        id?: string | null;
        name?: string | null;
        email?: string | null;
    } | null;
    chatMode?: "manual" | "bot" | "assistant";
    source?: "manual" | "chatbot" | "assistant" | "api" | "auto";
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
                id: string;
                contactId: string;
                channelId: string;
                phoneNumberId: string;
                status: "open" | "resolved" | "closed";
                assignmentType: "user" | "team" | "bot" | "none";
                assignedTo: {
                    id: string | null;
                    name: string | null;
                    firstName: string | null;
                    lastName: string | null;
                    email: string | null;
                } | null;
                chatMode: "manual" | "bot" | "assistant";
                closedAt: string | null;
                createdAt: string;
                updatedAt: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/conversations/${encodeURIComponent(id)}/assign`, oazapfts.json({
        ...opts,
        method: "POST",
        body
    }));
}
/**
 * Open, resolve or close a conversation
 */
export function changeConversationStatus(id: string, body: {
    status: "open" | "resolved" | "closed";
    changedBy?: {
        id?: string | null;
        name?: string | null;
        email?: string | null;
    } | null;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
                id: string;
                contactId: string;
                channelId: string;
                phoneNumberId: string;
                status: "open" | "resolved" | "closed";
                assignmentType: "user" | "team" | "bot" | "none";
                assignedTo: {
                    id: string | null;
                    name: string | null;
                    firstName: string | null;
                    lastName: string | null;
                    email: string | null;
                } | null;
                chatMode: "manual" | "bot" | "assistant";
                closedAt: string | null;
                createdAt: string;
                updatedAt: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 409;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/conversations/${encodeURIComponent(id)}/status`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
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
        data: {
            status: "success";
            data: {
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
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/wallet${QS.query(QS.explode({
        channel_id: channelId
    }))}`, {
        ...opts
    });
}
/**
 * Add money to the wallet of a channel
 */
export function rechargeWallet(body: {
    channel_id: string;
    amount: string;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
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
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/api/wallet/recharge", oazapfts.json({
        ...opts,
        method: "POST",
        body
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
        data: Error;
    } | {
        status: 403;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/provider/webhook", oazapfts.json({
        ...opts,
        method: "POST",
        body
    }));
}
/**
 * Create a webhook configuration
 */
export function createWebhook(body: {
    title: string;
    url: string;
    events: ("incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed")[];
    status?: "active" | "inactive";
    secret?: string | null;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: {
            status: "success";
            message: string;
            data: {
                id: string;
                title: string;
                url: string;
                status: "active" | "inactive";
                events: ("incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed")[];
                hasSecret: boolean;
                createdAt: string;
                updatedAt: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/api/external-webhooks", oazapfts.json({
        ...opts,
        method: "POST",
        body
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
        data: {
            status: "success";
            data: {
                id: string;
                title: string;
                url: string;
                status: "active" | "inactive";
                events: ("incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed")[];
                hasSecret: boolean;
                createdAt: string;
                updatedAt: string;
            }[];
            pagination: {
                page: number;
                limit: number;
                total: number;
                totalPages: number;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
            data: {
                eventKey: "incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed";
                description: string;
                schema: object;
                example: object;
            }[];
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                id: string;
                title: string;
                url: string;
                status: "active" | "inactive";
                events: ("incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed")[];
                hasSecret: boolean;
                createdAt: string;
                updatedAt: string;
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}`, {
        ...opts
    });
}
/**
 * Change a webhook configuration
 */
export function updateWebhook(id: string, body: {
    url?: string;
    status?: "active" | "inactive";
    events?: ("incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed")[];
    secret?: string | null;
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
            data: {
                id: string;
                title: string;
                url: string;
                status: "active" | "inactive";
                events: ("incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed")[];
                hasSecret: boolean;
                createdAt: string;
                updatedAt: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PATCH",
        body
    }));
}
/**
 * Delete a webhook configuration
 */
export function deleteWebhook(id: string, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            message: string;
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                webhookId: string;
                health: "unknown" | "healthy" | "failing";
                failingSince: string | null;
                consecutiveFailures: number;
                waiting: number;
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}/health`, {
        ...opts
    });
}
/**
 * Deliver the example of an event
 */
export function testWebhook(id: string, body: {
    eventKey: "incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed";
}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 202;
        data: {
            status: "success";
            message: string;
            data: {
                id: string;
                webhookId: string;
                eventId: string;
                eventKey: string;
                state: "pending" | "sending" | "delivered" | "failed";
                errorCode: ("blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "interrupted" | "expired") | null;
                responseStatus: number | null;
                responseExcerpt: string | null;
                durationMs: number | null;
                attemptedAt: string | null;
                createdAt: string;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 408;
        data: Error;
    } | {
        status: 413;
        data: Error;
    } | {
        status: 415;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>(`/api/external-webhooks/${encodeURIComponent(id)}/test`, oazapfts.json({
        ...opts,
        method: "POST",
        body
    }));
}
/**
 * List the deliveries of a webhook configuration
 */
export function listWebhookDeliveries(id: string, { state, eventKey, cursor, limit }: {
    state?: ("pending" | "sending" | "delivered" | "failed")[];
    eventKey?: ("incoming" | "sent" | "delivered" | "read" | "failed" | "template" | "contact.created" | "contact.updated" | "conversation.assigned" | "conversation.status_changed")[];
    cursor?: string;
    limit?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: {
            status: "success";
            data: {
                id: string;
                webhookId: string;
                eventId: string;
                eventKey: string;
                state: "pending" | "sending" | "delivered" | "failed";
                errorCode: ("blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "interrupted" | "expired") | null;
                responseStatus: number | null;
                responseExcerpt: string | null;
                durationMs: number | null;
                attemptedAt: string | null;
                createdAt: string;
            }[];
            pagination: {
                limit: number;
                nextCursor: string | null;
            };
        };
    } | {
        status: 400;
        data: Error;
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            data: {
                id: string;
                webhookId: string;
                eventId: string;
                eventKey: string;
                state: "pending" | "sending" | "delivered" | "failed";
                errorCode: ("blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "interrupted" | "expired") | null;
                responseStatus: number | null;
                responseExcerpt: string | null;
                durationMs: number | null;
                attemptedAt: string | null;
                createdAt: string;
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: {
            status: "success";
            message: string;
            data: {
                id: string;
                webhookId: string;
                eventId: string;
                eventKey: string;
                state: "pending" | "sending" | "delivered" | "failed";
                errorCode: ("blocked_address" | "dns_error" | "dns_timeout" | "connection_refused" | "connection_reset" | "tls_error" | "timeout" | "redirect" | "non_2xx" | "protocol_error" | "payload_too_large" | "endpoint_inactive" | "interrupted" | "expired") | null;
                responseStatus: number | null;
                responseExcerpt: string | null;
                durationMs: number | null;
                attemptedAt: string | null;
                createdAt: string;
            };
        };
    } | {
        status: 401;
        data: Error;
    } | {
        status: 404;
        data: Error;
    } | {
        status: 429;
        data: Error;
    } | {
        status: 500;
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: Error;
    } | {
        status: 503;
        data: Error;
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
        data: Error;
    } | {
        status: 503;
        data: Error;
    }>("/openapi.json", {
        ...opts
    });
}
