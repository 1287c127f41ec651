/** The messaging provider's interface; `cloud-provider.ts` implements it over HTTP. */
import type { ProviderError } from '../domain/callbacks/failed-event.ts';
import { cleanText } from '../domain/clean-text.ts';

export interface MessagingProvider {
  /**
   * Hands one template message to the provider with at most one request on the wire.
   * Every outcome is a value; the promise never rejects.
   */
  sendMessage(message: OutboundTemplateMessage): Promise<SendResult>;
  /**
   * Lists the templates of a business account page by page. Throws `ProviderRequestError` when a page cannot be read.
   * After a refused cursor the listing begins again with the first page, so a template may be listed twice.
   */
  listTemplates(query: TemplateQuery): AsyncIterable<TemplatePage>;
  /** Resolves to the provider's id of the file. Throws `ProviderRequestError`. */
  uploadMedia(file: MediaFile): Promise<string>;
  /** Waits for what is in flight (bounded by the time limit of a request) and closes every connection. */
  close(): Promise<void>;
}

export interface OutboundTemplateMessage {
  readonly phoneNumberId: string;
  readonly accessToken: string;
  /** International digits without a plus sign; of a person without a number the provider's user id (`CC.…`). */
  readonly to: string;
  /** True: uses the provider's endpoint for marketing templates. */
  readonly marketing?: boolean;
  readonly template: {
    readonly name: string;
    readonly language: string;
    /** In the provider's own request format; left out of the request when empty. */
    readonly components: readonly unknown[];
  };
  /** Comes back in every status callback of this message; at most 512 characters. */
  readonly callbackData: string;
  /** Asked when a connection is about to write the request: true leaves it unwritten, and the message is `unreachable`. */
  readonly heldBack?: () => boolean;
}

export interface MediaFile {
  readonly phoneNumberId: string;
  readonly accessToken: string;
  readonly mimeType: string;
  /** Read as fast as the provider takes it. */
  readonly content: AsyncIterable<Buffer>;
}

export type SendResult = SendAccepted | SendRejected | SendUnreachable | SendUnknown;

/** The provider accepted the message; status callbacks report its delivery. */
export interface SendAccepted {
  readonly kind: 'accepted';
  readonly providerMessageId: string;
  /** `accepted`, or `held_for_quality_assessment` while the provider paces the template. */
  readonly messageStatus: string;
  /** Further ids of the recipient: the provider's spelling of the number where it differs, and the provider's user id. */
  readonly otherIds: readonly string[];
}

/** The provider rejected the message. */
export interface SendRejected {
  readonly kind: 'rejected';
  /** The provider's error code; equal to `httpStatus` when the answer was an HTTP error outside its protocol. */
  readonly code: number;
  readonly subcode?: number | null;
  readonly httpStatus: number;
  readonly message: string;
  readonly details: string | null;
  /** The provider marked the error as transient. */
  readonly isTransient: boolean;
  /** How long the provider asked us to wait, when it said so. */
  readonly retryAfterMs?: number;
}

const longestWords = 1_000;

/** The provider's error as it is recorded and shown, without characters that Postgres' `text` cannot store. */
export const providerErrorOf = ({ code, message, details }: SendRejected): ProviderError => ({
  code,
  message: cleanText(message, longestWords),
  details: details === null ? null : cleanText(details, longestWords),
});

/** Certainly not processed: no byte of the request was written to a connection. */
export interface SendUnreachable {
  readonly kind: 'unreachable';
  readonly cause: string;
}

/** The request may have been processed: it left, and no readable answer came back. */
export interface SendUnknown {
  readonly kind: 'unknown';
  readonly cause: string;
}

export interface TemplateQuery {
  readonly businessAccountId: string;
  readonly accessToken: string;
  /** Where an earlier listing stopped; see `TemplatePage.nextCursor`. */
  readonly after?: string;
  /** Templates a page, 1 to 250; 100 when absent. */
  readonly pageSize?: number;
}

export interface TemplatePage {
  readonly templates: readonly ProviderTemplate[];
  /** Elements of the page that could not be read as a template. */
  readonly unreadable: number;
  /** The cursor that continues behind this page; null on the last page. */
  readonly nextCursor: string | null;
}

export interface ProviderTemplate {
  readonly id: string;
  readonly name: string;
  /** With an underscore: `en_US`. */
  readonly language: string;
  /** Upper case: `APPROVED`, `PAUSED`, …; values unknown to us are kept. */
  readonly status: string;
  /** Upper case: `MARKETING`, `UTILITY`, `AUTHENTICATION`, …; null when the provider leaves it out. */
  readonly category: string | null;
  readonly parameterFormat: 'POSITIONAL' | 'NAMED';
  /** The definition exactly as the provider gives it. */
  readonly components: readonly unknown[];
  readonly qualityScore: string | null;
  readonly rejectedReason: string | null;
}
