/** Bytes → a JSON object that is safe to hold and to store: no NUL, no lone surrogate, no `__proto__`, at most 64 levels deep. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpProblem } from '../error-envelope.ts';
import { endOfString } from './end-of-string.ts';
import { parseJsonInPieces } from './json-pieces.ts';

const deepest = 64;
/** No endpoint takes an object of so many keys; building a larger one blocks the event loop. */
const mostMembers = 10_000;
/** 100,000 objects and lists: garbage collection of more blocks the event loop. The strings in a list do not count. */
const mostContainers = 100_000;
/** Bytes of a key, a number or a run of blanks. */
const longestToken = 64 * 1024;
/** Marks a level of nesting as a list: its members are bounded by the number of values alone, not by `mostMembers`. */
const inList = -1;
const [quote, comma, colon] = [0x22, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
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
 * Counts the values in a JSON text, up to one more than `most`. Throws HttpProblem 400 for a text that cannot be parsed in
 * small pieces: one nested too deep for a recursive walk, or one with a huge object, key, number or run of blanks.
 */
export async function countValues(bytes: Buffer, most: number): Promise<number> {
  const members = new Int32Array(deepest + 1);
  let containers = 0;
  let depth = 0;
  let values = 1;
  let yieldsAt = largestAtOnce;
  let textFrom = 0;
  let tokenEnd = 0;
  for (let at = 0; at < bytes.length && values <= most; at += 1) {
    if (at > yieldsAt) {
      yieldsAt = at + largestAtOnce;
      await nextTurn();
    }
    const byte = bytes[at] ?? 0;
    if (!isToken(byte)) continue;
    checkLength(at - tokenEnd);
    if (byte === quote) {
      textFrom = at;
      at = endOfString(bytes, at);
    } else if (byte === colon) {
      checkLength(tokenEnd - textFrom);
    } else if (byte === comma) {
      values += 1;
      const commas = members[depth] ?? inList;
      if (commas !== inList) members[depth] = commas + 1;
      if (commas + 1 >= mostMembers)
        throw malformed(`Request body must not hold an object of more than ${mostMembers} members`);
    } else if (byte === openList || byte === openObject) {
      depth += 1;
      if (depth > deepest) throw malformed(`Request body must not be nested deeper than ${deepest} levels`);
      members[depth] = byte === openObject ? 0 : inList;
      containers += 1;
      if (containers > mostContainers)
        throw malformed(`Request body must not hold more than ${mostContainers} objects and lists`);
      // Counts the first value of a list or object, unless it is empty; every further value follows a comma.
      const next = bytes[at + 1];
      if (next !== closeList && next !== closeObject) values += 1;
    } else {
      depth -= 1;
    }
    tokenEnd = at;
  }
  checkLength(values > most ? 0 : bytes.length - tokenEnd);
  return values;
}

function isToken(byte: number): boolean {
  return (
    byte === quote ||
    byte === comma ||
    byte === colon ||
    byte === openList ||
    byte === closeList ||
    byte === openObject ||
    byte === closeObject
  );
}

function checkLength(bytes: number): void {
  if (bytes > longestToken)
    throw malformed(
      `Request body must not hold a key, a number or blanks of more than ${longestToken} bytes`,
    );
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
