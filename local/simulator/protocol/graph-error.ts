/** An error as the provider answers it. */
export class GraphError extends Error {
  readonly code: number;
  readonly details: string;
  readonly subcode: number | undefined;

  constructor(code: number, details: string, subcode?: number) {
    super(`(#${code}) ${titleOf(code)}`);
    this.name = 'GraphError';
    this.code = code;
    this.details = details;
    this.subcode = subcode;
  }
}

const titles: Readonly<Record<number, string>> = {
  0: 'We were unable to authenticate the app user',
  1: 'Invalid request or possible server error',
  2: 'Service temporarily unavailable',
  3: 'Capability or permissions issue',
  4: 'Application request limit reached',
  10: 'Permission is either not granted or has been removed',
  33: 'The business phone number has been deleted',
  100: 'Invalid parameter',
  190: 'Invalid OAuth access token',
  368: 'Temporarily blocked for policies violations',
  80007: 'Rate limit issues',
  130403: 'User has blocked the business',
  130429: 'Rate limit hit',
  130472: "User's number is part of an experiment",
  130497: 'Business account is restricted from messaging users in this country',
  131000: 'Something went wrong',
  131005: 'Access denied',
  131008: 'Required parameter is missing',
  131009: 'Parameter value is not valid',
  131016: 'Service unavailable',
  131021: 'Recipient cannot be sender',
  131026: 'Message undeliverable',
  131031: 'Account has been locked',
  131042: 'Business eligibility payment issue',
  131047: 'Re-engagement message',
  131048: 'Spam rate limit hit',
  131049: 'Message not delivered to maintain healthy ecosystem engagement',
  131050: 'User has stopped marketing messages',
  131051: 'Unsupported message type',
  131053: 'Media upload error',
  131056: '(Business Account, Consumer Account) pair rate limit hit',
  131057: 'Account in maintenance mode',
  131059: 'Invalid paging cursor',
  131062: 'Business-scoped user id not allowed for this message',
  132000: 'Number of parameters does not match the expected number of params',
  132001: 'Template name does not exist in the translation',
  132005: 'Translated text too long',
  132007: 'Template format character policy violated',
  132012: 'Parameter format does not match format in the created template',
  132015: 'Template is paused',
  132016: 'Template is disabled',
  132018: 'Template parameter text is not valid',
  133010: 'Phone number not registered',
  135000: 'Generic user error',
};

const httpStatuses: Readonly<Record<number, number>> = {
  0: 401,
  1: 500,
  2: 503,
  4: 429,
  190: 401,
  10: 403,
  3: 500,
  368: 403,
  80007: 429,
  130429: 429,
  131000: 500,
  131005: 403,
  131016: 503,
  131031: 403,
  132001: 404,
};

const transient: ReadonlySet<number> = new Set([1, 2, 4, 80007, 131016]);

export function titleOf(code: number): string {
  return titles[code] ?? 'Error';
}

export function httpStatusOf(code: number): number {
  return httpStatuses[code] ?? 400;
}

/** The provider's error body. */
export function graphErrorBody({ code, details, subcode, message }: GraphError): string {
  return JSON.stringify({
    error: {
      message,
      type: code === 100 && subcode === 33 ? 'GraphMethodException' : 'OAuthException',
      code,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      ...(transient.has(code) ? { is_transient: true } : {}),
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: 'AxSimulatorTrace00000000',
    },
  });
}
