/** Bytes → a JSON object that is safe to hold and to store: no NUL, no lone surrogate, no `__proto__`, at most 64 levels deep. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpProblem } from '../http-problem.ts';
import { endOfString } from './end-of-string.ts';
import { parseJsonInPieces } from './json-pieces.ts';

const deepest = 64;
const comma = 0x2c;
const quote = 0x22;
/** 1 MiB: parsing it takes 20 ms. A larger body is parsed in pieces, so that other requests are not held up. */
const largestAtOnce = 1024 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Throws HttpProblem 400. Call `countValues` first: it bounds the number and the depth of the values. */
export async function parseJsonObject(bytes: Buffer): Promise<Readonly<Record<string, unknown>>> {
  const value = bytes.length <= largestAtOnce ? parsePiece(bytes) : await parseInPieces(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('Request body must be a JSON object');
  }
  return value as Readonly<Record<string, unknown>>;
}

function parsePiece(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  const value = parse(text);
  // Raw UTF-8 holds neither NUL nor lone surrogates; only an escape can bring them in.
  if (text.includes('\\u') || text.includes('__proto__')) inspect(value);
  return value;
}

async function parseInPieces(bytes: Buffer): Promise<unknown> {
  try {
    return await parseJsonInPieces(bytes, parsePiece);
  } catch (error) {
    throw error instanceof SyntaxError ? malformed('Request body is not valid JSON') : error;
  }
}

/** False for NUL characters and lone surrogates: Postgres stores them neither in text nor in jsonb. */
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
    // The parser's own message would repeat parts of the body.
    const [place = ''] = / at position \d+/.exec(String(error)) ?? [];
    throw malformed(`Request body is not valid JSON${place}`);
  }
}

/**
 * Values in a JSON text, up to one more than `most`; HttpProblem 400 when they are nested too deep. Before parsing: a
 * recursive walk over a deep value would overflow the stack, many small values would fill the heap.
 */
export async function countValues(bytes: Buffer, most: number): Promise<number> {
  let depth = 0;
  let values = 1;
  let yieldsAt = largestAtOnce;
  for (let at = 0; at < bytes.length && values <= most; at += 1) {
    if (at > yieldsAt) {
      yieldsAt = at + largestAtOnce;
      await nextTurn();
    }
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfString(bytes, at);
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > deepest) throw malformed(`Request body must not be nested deeper than ${deepest} levels`);
      // Counts the first value of a list or object, unless it is empty; every further value follows a comma.
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
