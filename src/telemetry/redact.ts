/** Removes secrets and phone numbers from log fields, no matter what a caller passes. */

const secretKeys: ReadonlySet<string> = new Set([
  'apiKey',
  'accessToken',
  'secret',
  'phoneNumber',
  'phone_number',
  'authorization',
]);
const censor = '[redacted]';
const deepest = 8;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the same object if there is nothing to hide, which is the usual case. pino's own redaction checks every path in
 * every line, and that took longer than writing the line.
 */
export function redact(fields: Fields): Record<string, unknown> {
  return redactWithin(fields, deepest) as Record<string, unknown>;
}

/** 300 characters: enough for the text of an error. */
const longestText = 300;

/**
 * Returns the first line of an error's text without long tokens and without numbers of five or more digits, which may be
 * phone numbers.
 */
export function withoutValues(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return line
    .slice(0, longestText)
    .replaceAll(/\+?\d[\d ().-]{3,}\d/g, '…')
    .replaceAll(/\w{24,}/g, '…');
}

/** How many links of `cause` are followed. */
const deepestCause = 8;
const sqlState = /^[0-9A-Z]{5}$/;

/**
 * Renders an error as a log field. For errors of the database and of parsers it shows only class and code, because their
 * messages quote values.
 */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const links: (Error & { readonly code?: unknown })[] = [];
  for (let link: unknown = error; link instanceof Error && links.length < deepestCause; link = link.cause)
    links.push(link);
  const code = links.map((link) => link.code).find((found) => found !== undefined);
  const quotes = links.some(
    (link) => link instanceof SyntaxError || (typeof link.code === 'string' && sqlState.test(link.code)),
  );
  return {
    name: error.name,
    ...(code !== undefined && { code }),
    ...(!quotes && { message: withoutValues(links.map(({ message }) => message).join(': ')) }),
  };
}

function redactWithin(value: unknown, levels: number): unknown {
  const isList = Array.isArray(value);
  if (!isList && !isRecord(value)) return value;
  if (levels === 0) return censor;
  if (isList) {
    const safe = value.map((one) => redactWithin(one, levels - 1));
    return safe.every((one, index) => one === value[index]) ? value : safe;
  }
  let shown: Record<string, unknown> | undefined;
  for (const key in value) {
    const field = value[key];
    const safe = secretKeys.has(key) ? censor : redactWithin(field, levels - 1);
    if (safe !== field) (shown ??= { ...value })[key] = safe;
  }
  return shown ?? value;
}

// Dates, URLs and errors are not plain objects; pino serializes them.
function isRecord(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
