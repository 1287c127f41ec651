/** Bytes → a JSON object that is safe to hold and to store: no NUL, no lone surrogate, no `__proto__`, at most 64 levels deep. */
import { HttpProblem } from '../http-problem.ts';

const deepest = 64;
const comma = 0x2c;
const quote = 0x22;
const backslash = 0x5c;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Throws HttpProblem 400. How many values it holds and how deep they lie is to be known before: see `countValues`. */
export function parseJsonObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  const text = decodeUtf8(bytes);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('Request body must be a JSON object');
  }
  // Raw UTF-8 holds neither; only an escape can bring them in.
  if (text.includes('\\u') || text.includes('__proto__')) inspect(value);
  return value as Readonly<Record<string, unknown>>;
}

/** What Postgres cannot store, in text or in jsonb. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('Request body is not valid UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Its own words would repeat the body.
    const [place = ''] = / at position \d+/.exec(String(error)) ?? [];
    throw malformed(`Request body is not valid JSON${place}`);
  }
}

/**
 * Values in a JSON text, up to one more than `most`; HttpProblem 400 when they are nested too deep. Before parsing: a
 * recursive walk over a deep value would overflow the stack, many small values would fill the heap.
 */
export function countValues(bytes: Buffer, most: number): number {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length && values <= most; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfString(bytes, at);
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > deepest) throw malformed(`Request body must not be nested deeper than ${deepest} levels`);
      // Those in a list are told by their commas; the first is told here, unless there is none.
      const next = bytes[at + 1];
      if (next !== 0x5d && next !== 0x7d) values += 1;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1;
    } else if (byte === comma) {
      values += 1;
    }
  }
  return values;
}

function endOfString(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start + 1);
  while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(quote, end + 1);
  return end === -1 ? bytes.length : end;
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1;
  while (bytes[before] === backslash) before -= 1;
  return (at - before) % 2 === 0;
}

function inspect(value: unknown): void {
  if (typeof value === 'string') {
    if (!isStorable(value))
      throw malformed('Request body must not contain NUL characters or lone surrogates');
  } else if (Array.isArray(value)) {
    value.forEach(inspect);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      inspect(key);
      inspect(member);
    }
    Reflect.deleteProperty(value, '__proto__');
  }
}

function malformed(message: string): HttpProblem {
  return new HttpProblem(400, message);
}
