/**
 * Bytes → a JSON object that is safe to hold and to store: no NUL, no lone surrogate, no `__proto__`, at most 64 levels deep. One
 * `JSON.parse` of 8 MiB would block every other request for 100 ms and more. So a large body may have many values only in lists
 * that are its own members, such as `quick_contacts`: these are parsed in pieces, the rest at once.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpProblem } from '../error-envelope.ts';

const deepest = 64;
/** No endpoint takes an object of so many keys; building a larger one blocks the event loop. */
const maxMembers = 10_000;
/** 100,000 objects and lists: garbage collection of more blocks the event loop. The strings in a list do not count. */
const maxContainers = 100_000;
/** Bytes of a key, a number or a run of blanks. */
const longestToken = 64 * 1024;
/** Marks a level of nesting as a list: its members are bounded by the number of values alone, not by `maxMembers`. */
const inList = -1;
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
/** 1 MiB: parsing it takes 20 ms. The rules for large bodies begin above it. */
const largestAtOnce = 1024 * 1024;
/** Bytes of a piece: 5 ms of work, a few times as much if it is full of one-digit numbers. */
const pieceBytes = 128 * 1024;
/** Values that one call of JSON.parse may make of a large body: as many as a body of 1 MiB may have. */
const maxValuesAtOnce = 100_000;

/** A member of the body that is a list of several pieces: the bytes between its brackets, and the commas that end a piece. */
interface LargeList {
  readonly from: number;
  readonly to: number;
  readonly cuts: readonly number[];
}

interface JsonScan {
  /** Up to one more than `most`. */
  readonly values: number;
  readonly largeLists: readonly LargeList[];
  /** The most values that one call of JSON.parse would make. */
  readonly valuesAtOnce: number;
  /** False for a text that ends inside a list or an object. */
  readonly isClosed: boolean;
}

/**
 * Counts the values in a JSON text, up to one more than `most`, and finds where to cut its large lists. Throws HttpProblem 400 for a
 * text that would block the event loop: one nested too deep for a recursive walk, one with a huge object, key, number or run of
 * blanks.
 */
export async function scanJson(bytes: Buffer, most: number): Promise<JsonScan> {
  const isLarge = bytes.length > largestAtOnce;
  const members = new Int32Array(deepest + 1);
  const largeLists: LargeList[] = [];
  let containers = 0;
  let depth = 0;
  let values = 1;
  let yieldsAt = 2 * pieceBytes;
  let textFrom = 0;
  let tokenEnd = 0;
  /** The second-level list that is being read; undefined outside a list. */
  let listFrom: number | undefined;
  let cuts: number[] = [];
  let pieceFrom = 0;
  /** Values before the list and before the piece, and values in finished large lists. */
  let [beforeList, beforePiece, inLists] = [0, 0, 0];
  let valuesAtOnce = 0;
  for (let at = 0; at < bytes.length && values <= most; at += 1) {
    if (at > yieldsAt) {
      yieldsAt = at + 2 * pieceBytes;
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
      if (depth === 2 && listFrom !== undefined && at - pieceFrom >= pieceBytes) {
        valuesAtOnce = Math.max(valuesAtOnce, values - beforePiece);
        cuts.push(at);
        [pieceFrom, beforePiece] = [at, values];
      }
      values += 1;
      const commas = members[depth] ?? inList;
      if (commas !== inList) members[depth] = commas + 1;
      if (commas + 1 >= maxMembers)
        throw malformed(`Request body must not hold an object of more than ${maxMembers} members`);
    } else if (byte === openList || byte === openObject) {
      depth += 1;
      if (depth > deepest) throw malformed(`Request body must not be nested deeper than ${deepest} levels`);
      members[depth] = byte === openObject ? 0 : inList;
      containers += 1;
      if (containers > maxContainers)
        throw malformed(`Request body must not hold more than ${maxContainers} objects and lists`);
      if (depth === 2 && byte === openList) {
        [listFrom, pieceFrom, cuts] = [at + 1, at, []];
        [beforeList, beforePiece] = [values, values];
      }
      // Counts the first value of a list or object, unless it is empty; every further value follows a comma.
      const next = bytes[at + 1];
      if (next !== closeList && next !== closeObject) values += 1;
    } else {
      depth -= 1;
      if (depth === 1 && listFrom !== undefined) {
        if (isLarge && cuts.length > 0) {
          valuesAtOnce = Math.max(valuesAtOnce, values - beforePiece);
          largeLists.push({ from: listFrom, to: at, cuts });
          inLists += values - beforeList;
        }
        listFrom = undefined;
      }
    }
    tokenEnd = at;
  }
  if (values <= most) checkLength(bytes.length - tokenEnd);
  valuesAtOnce = Math.max(valuesAtOnce, values - inLists);
  return { values, largeLists, valuesAtOnce, isClosed: depth === 0 };
}

/** Throws HttpProblem 400, also for a large text with too many values outside of its own lists. */
export async function parseJsonObject(
  bytes: Buffer,
  { largeLists, valuesAtOnce, isClosed }: Omit<JsonScan, 'values'>,
): Promise<Readonly<Record<string, unknown>>> {
  if (bytes.length > largestAtOnce) {
    // A text that ends too early would be parsed as a whole, only to fail at its end.
    if (!isClosed) throw malformed('Request body is not valid JSON');
    if (valuesAtOnce > maxValuesAtOnce)
      throw malformed(
        `Request body must not hold more than ${maxValuesAtOnce} values outside of the lists that are its members`,
      );
  }
  // Each large list is replaced by a list of one text that no caller can know.
  const secret = randomUUID();
  const lists = new Map<unknown, unknown[]>();
  const rest: Buffer[] = [];
  let restFrom = 0;
  for (const list of largeLists) {
    const mark = `${secret} ${lists.size}`;
    lists.set(mark, await parseList(bytes, list));
    rest.push(bytes.subarray(restFrom, list.from), Buffer.from(`"${mark}"`));
    restFrom = list.to;
  }
  rest.push(bytes.subarray(restFrom));
  const value = await parse(await decodeUtf8(largeLists.length > 0 ? Buffer.concat(rest) : bytes));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('Request body must be a JSON object');
  }
  const found = value as Record<string, unknown>;
  for (const [key, member] of Object.entries(found)) {
    const list = Array.isArray(member) ? lists.get(member[0]) : undefined;
    if (list !== undefined) found[key] = list;
  }
  return found;
}

async function parseList(bytes: Buffer, { from, to, cuts }: LargeList): Promise<unknown[]> {
  const found: unknown[] = [];
  let pieceFrom = from;
  for (const end of [...cuts, to]) {
    await nextTurn();
    // Decoded with the bracket or comma before it: a decoder drops a byte order mark at its beginning.
    const text = await decodeUtf8(bytes.subarray(pieceFrom - 1, end));
    const elements = (await parse(`[${text.slice(1)}]`)) as unknown[];
    // Nothing between two commas, or between a comma and a bracket, would be lost in a piece of its own.
    if (elements.length === 0) throw malformed('Request body is not valid JSON');
    for (const element of elements) found.push(element);
    pieceFrom = end + 1;
  }
  return found;
}

/** False for NUL characters and lone surrogates: Postgres stores them neither in text nor in jsonb. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

async function decodeUtf8(bytes: Buffer): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parts: string[] = [];
  try {
    for (let at = 0; at < bytes.length; at += largestAtOnce) {
      if (at > 0) await nextTurn();
      parts.push(decoder.decode(bytes.subarray(at, at + largestAtOnce), { stream: true }));
    }
    parts.push(decoder.decode());
  } catch {
    throw malformed('Request body is not valid UTF-8');
  }
  return parts.join('');
}

/** Yields between its steps: each takes up to 30 ms for a text of 8 MiB. */
async function parse(text: string): Promise<unknown> {
  const isLarge = text.length > largestAtOnce;
  if (isLarge) await nextTurn();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The parser's own message would repeat parts of the body.
    const [place = ''] = / at position \d+/.exec(String(error)) ?? [];
    throw malformed(`Request body is not valid JSON${place}`);
  }
  if (isLarge) await nextTurn();
  // Raw UTF-8 holds neither NUL nor lone surrogates; only an escape can bring them in.
  if (text.includes('\\u') || text.includes('__proto__')) inspect(value);
  return value;
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

/** Returns the index of the closing quote of the JSON string that begins at `start`, or else the length of the input. */
function endOfString(bytes: Buffer, start: number): number {
  const found = bytes.indexOf(quote, start + 1);
  if (found === -1) return bytes.length;
  if (!isEscaped(bytes, found)) return found;
  // Searching again from every escaped quote costs ten times as much as looking at each byte.
  let at = found + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return Math.min(at, bytes.length);
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1;
  while (bytes[before] === backslash) before -= 1;
  return (at - before) % 2 === 0;
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
