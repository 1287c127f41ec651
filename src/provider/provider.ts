/** The messaging provider's interface; `cloud-provider.ts` implements it over HTTP. */
import type { ProviderError } from '../domain/callbacks/message-status.ts';
import { cleanText } from '../domain/clean-text.ts';
import type { ProviderFigure } from '../domain/wallet/comparison.ts';
import { Failure, ProviderRefused, ProviderUnreachable } from '../domain/error.ts';

export interface MessagingProvider {
  /**
   * Sends one template message to the provider with at most one HTTP request. Every outcome is a value; the promise never
   * rejects.
   */
  sendMessage(message: OutboundTemplateMessage): Promise<SendResult>;
  /**
   * Lists the templates of a business account page by page. Throws `ProviderRequestError` if a page cannot be read. If the
   * provider refuses a cursor, the listing starts again at the first page, so a template may be listed twice.
   */
  listTemplates(query: TemplateQuery): AsyncIterable<TemplatePage>;
  /** Reads currency and time zone of a business account. Throws `ProviderRequestError`. */
  readAccountTerms(account: Pick<TemplateQuery, 'businessAccountId' | 'accessToken'>): Promise<AccountTerms>;
  /** Lifts the pause of a template. Throws `ProviderRequestError`. */
  unpauseTemplate(template: {
    readonly providerTemplateId: string;
    readonly accessToken: string;
  }): Promise<void>;
  /** Reads whether a number may send, its quality and its messaging limit. Throws `ProviderRequestError`. */
  readNumberHealth(number: Pick<MediaFile, 'phoneNumberId' | 'accessToken'>): Promise<NumberHealth>;
  /**
   * Reads what an account's numbers delivered between two midnights of its time zone, and what that cost. Throws
   * `ProviderRequestError`, also if the figures cannot be read.
   */
  readPricing(query: PricingQuery): Promise<readonly PricingPoint[]>;
  /** Resolves to the provider's id of the file. Throws `ProviderRequestError`. */
  uploadMedia(file: MediaFile): Promise<string>;
  /** Waits for requests in flight, at most for the time limit of a request, and closes every connection. */
  close(): Promise<void>;
}

export interface OutboundTemplateMessage {
  readonly phoneNumberId: string;
  readonly accessToken: string;
  /** International digits without a plus sign; for a person without a number, the provider's user id (`CC.…`). */
  readonly to: string;
  /** True: uses the provider's endpoint for marketing templates. */
  readonly marketing?: boolean;
  readonly template: {
    readonly name: string;
    readonly language: string;
    /** In the provider's request format; omitted from the request if empty. */
    readonly components: readonly unknown[];
  };
  /** Comes back in every status callback of this message; at most 512 characters. */
  readonly callbackData: string;
  /**
   * Called when a connection is about to write the request. If it returns true, nothing is written and the result is
   * `unreachable`.
   */
  readonly heldBack?: () => boolean;
}

export interface MediaFile {
  readonly phoneNumberId: string;
  readonly accessToken: string;
  readonly mimeType: string;
  /** With an extension. */
  readonly fileName: string;
  /** Bytes. */
  readonly size: number;
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
  /** Further ids of the recipient: the provider's spelling of the number if it differs, and the provider's user id. */
  readonly otherIds: readonly string[];
}

/** The provider rejected the message. */
export interface SendRejected {
  readonly kind: 'rejected';
  /** The provider's error code; equal to `httpStatus` if the response was an HTTP error outside its protocol. */
  readonly code: number;
  readonly subcode?: number | null;
  readonly httpStatus: number;
  readonly message: string;
  readonly details: string | null;
  /** The provider marked the error as transient. */
  readonly isTransient: boolean;
  /** How long the provider asked us to wait, if it did. */
  readonly retryAfterMs?: number;
}

const longestWords = 1_000;

/** Returns the provider's error as it is recorded and shown, without characters that Postgres' `text` cannot store. */
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

/** The request may have been processed: it was sent, but no readable response came back. */
export interface SendUnknown {
  readonly kind: 'unknown';
  readonly cause: string;
}

/** What the provider says about a business account: its currency, and the time zone in which its prices begin. */
export interface AccountTerms {
  /** ISO 4217; null if the provider does not say. */
  readonly currency: string | null;
  /** IANA name; null if the provider does not say, or names one that is not known. */
  readonly timeZone: string | null;
  /** The portfolio that owns the account; null if the provider does not say. */
  readonly portfolioId?: string | null;
}

/** Whether the provider lets a number send. */
export interface NumberHealth {
  /** AVAILABLE, LIMITED or BLOCKED; null if the provider does not say. */
  readonly canSend: 'AVAILABLE' | 'LIMITED' | 'BLOCKED' | null;
  /** The provider's sentences about what hinders it; null without any. */
  readonly details: string | null;
  readonly quality: 'LOW' | 'GOOD' | null;
  /** Different people in 24 hours; null: no limit; undefined: not mentioned. */
  readonly messagingLimit: number | null | undefined;
}

export interface PricingQuery extends Pick<TemplateQuery, 'businessAccountId' | 'accessToken'> {
  readonly from: Date;
  readonly to: Date;
}

export interface PricingPoint extends ProviderFigure {
  /** Digits; '' if the provider does not say. */
  readonly phoneNumber: string;
}

export interface TemplateQuery {
  readonly businessAccountId: string;
  readonly accessToken: string;
  /** Where an earlier listing stopped; see `TemplatePage.nextCursor`. */
  readonly after?: string;
  /** Templates per page, 1 to 250; 100 by default. */
  readonly pageSize?: number;
}

export interface TemplatePage {
  readonly templates: readonly ProviderTemplate[];
  /** Elements of the page that could not be read as a template. */
  readonly unreadable: number;
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
}

export interface ProviderTemplate {
  readonly id: string;
  readonly name: string;
  /** With an underscore: `en_US`. */
  readonly language: string;
  /** Upper case: `APPROVED`, `PAUSED`, …; values unknown to us are kept. */
  readonly status: string;
  /** Upper case: `MARKETING`, `UTILITY`, `AUTHENTICATION`, …; null if the provider omits it. */
  readonly category: string | null;
  readonly parameterFormat: 'POSITIONAL' | 'NAMED';
  /** The definition exactly as the provider gives it. */
  readonly components: readonly unknown[];
  readonly qualityScore: string | null;
  readonly rejectedReason: string | null;
  /** Who made it, in upper case; `AUTO_GENERATED` by the provider itself. Null if the provider does not say. */
  readonly source: string | null;
  /** Null if the template does not set a time to live. */
  readonly sendTtlSeconds: number | null;
}

/** Why a GET request failed; the same three kinds as for a send. */
export type RequestFailure = SendRejected | SendUnreachable | SendUnknown;

/** A GET request to the provider failed; it changed nothing and may be repeated. */
export class ProviderRequestError extends Failure {
  readonly failure: RequestFailure;

  constructor(failure: RequestFailure) {
    super(describeFailure(failure));
    this.failure = failure;
  }
}

/** The error that the API's caller gets. */
export function callerError({ failure }: ProviderRequestError): Failure {
  // An HTTP error outside the provider's protocol comes from a gateway, not from the provider.
  if (failure.kind !== 'rejected') return new ProviderUnreachable();
  if (failure.code === failure.httpStatus) return new ProviderUnreachable(failure.httpStatus);
  return new ProviderRefused(failure.code, failure.details ?? failure.message);
}

function describeFailure(failure: RequestFailure): string {
  if (failure.kind === 'rejected') {
    return `The provider refused the request: HTTP ${failure.httpStatus}, code ${failure.code}`;
  }
  return failure.kind === 'unreachable'
    ? `The provider cannot be reached: ${failure.cause}`
    : `The provider gave no readable answer: ${failure.cause}`;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
