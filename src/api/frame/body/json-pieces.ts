/**
 * Parses a large JSON text in pieces and yields to the event loop between them: one call of `JSON.parse` would block every
 * other request for half a second. One pass finds matching brackets, so that no byte is read once per level of nesting.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { endOfString } from './end-of-string.ts';

/** Bytes of a piece: at most 5 ms of work. */
const pieceBytes = 256 * 1024;

const [quote, comma, colon, backslash, letterU] = [0x22, 0x2c, 0x3a, 0x5c, 0x75];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
const isSpace = (byte: number | undefined) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export type ParsePiece = (bytes: Buffer) => unknown;

/** Throws what `parse` throws, and SyntaxError where the pieces do not fit together. */
export async function parseJsonInPieces(bytes: Buffer, parse: ParsePiece): Promise<unknown> {
  const ends = await findLargeEnds(bytes);
  const end = lastOf(bytes, 0, bytes.length);
  return createReader(bytes, ends, parse).value(skipSpace(bytes, 0), end);
}

/** Ends of the lists, objects and texts larger than a piece, by their beginnings. */
async function findLargeEnds(bytes: Buffer): Promise<ReadonlyMap<number, number>> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  let yieldedAt = 0;
  const note = (from: number, to: number) => {
    if (to - from > pieceBytes) ends.set(from, to);
  };
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      const end = endOfString(bytes, at);
      note(at, end + 1);
      at = end;
    } else if (byte === openList || byte === openObject) {
      open.push(at);
    } else if (byte === closeList || byte === closeObject) {
      const from = open.pop();
      if (from !== undefined) note(from, at + 1);
    }
    if (at - yieldedAt > 8 * pieceBytes) {
      yieldedAt = at;
      await nextTurn();
    }
  }
  return ends;
}

function createReader(bytes: Buffer, ends: ReadonlyMap<number, number>, parse: ParsePiece) {
  const parsed = async (text: Buffer): Promise<unknown> => {
    await nextTurn();
    return parse(text);
  };

  const value = async (from: number, to: number): Promise<unknown> => {
    if (to - from <= pieceBytes) return parsed(bytes.subarray(from, to));
    const kind = String.fromCharCode(bytes[from] ?? 0, bytes[to - 1] ?? 0);
    if (ends.get(from) !== to) throw new SyntaxError('Something follows the end, or the end is missing');
    if (kind === '[]') return list(from + 1, to - 1);
    if (kind === '{}') return object(from + 1, to - 1);
    if (kind === '""') return text(from + 1, to - 1);
    throw new SyntaxError('Brackets do not fit together');
  };

  /** Reads a long text in pieces that end between characters, and never inside an escape. */
  const text = async (from: number, to: number): Promise<string> => {
    const parts: unknown[] = [];
    let runFrom = from;
    let at = from;
    while (at < to) {
      const isEscape = bytes[at] === backslash;
      const isHalf = isEscape && isHighSurrogate(bytes, at);
      const escapeLength = bytes[at + 1] === letterU ? 6 : 2;
      at += isEscape ? escapeLength : 1;
      if (at - runFrom < pieceBytes || isHalf || isContinuation(bytes[at])) continue;
      if (at >= to) break;
      parts.push(await parsed(wrapped('"', bytes.subarray(runFrom, at), '"')));
      runFrom = at;
    }
    parts.push(await parsed(wrapped('"', bytes.subarray(runFrom, to), '"')));
    return parts.join('');
  };

  /** Calls `small` for runs of members that fit into a piece, and `large` for each member that does not. */
  const members = async (
    [from, to]: readonly [number, number],
    small: (run: Buffer) => Promise<void>,
    large: (start: number, valueAt: number, end: number) => Promise<void>,
  ): Promise<void> => {
    let runFrom = from;
    let start = from;
    // After a comma comes a member; after a large member comes a comma or the end.
    let isDue = false;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at];
      const largeEnd = ends.get(at);
      if (largeEnd !== undefined && !(byte === quote && bytes[skipSpace(bytes, largeEnd)] === colon)) {
        if (start > runFrom) {
          if (skipSpace(bytes, runFrom) >= start - 1) throw new SyntaxError('A comma follows nothing');
          await small(bytes.subarray(runFrom, start - 1));
        }
        await large(start, at, largeEnd);
        at = skipSpace(bytes, largeEnd);
        isDue = at < to;
        if (isDue && bytes[at] !== comma) throw new SyntaxError('A comma is missing');
        runFrom = start = at + 1;
      } else if (byte === quote) {
        at = endOfString(bytes, at);
      } else if (byte === openList || byte === openObject) {
        at = endOfNested(bytes, at);
      } else if (byte === comma) {
        isDue = true;
        start = at + 1;
        if (at - runFrom < pieceBytes) continue;
        await small(bytes.subarray(runFrom, at));
        runFrom = start;
      }
    }
    const isEmpty = skipSpace(bytes, runFrom) >= to;
    if (isEmpty && isDue) throw new SyntaxError('A comma is followed by nothing');
    if (!isEmpty) await small(bytes.subarray(runFrom, to));
  };

  const list = async (from: number, to: number): Promise<unknown[]> => {
    const found: unknown[] = [];
    await members(
      [from, to],
      async (run) => {
        for (const one of (await parsed(wrapped('[', run, ']'))) as unknown[]) found.push(one);
      },
      async (start, at, end) => {
        if (skipSpace(bytes, start) !== at) throw new SyntaxError('A comma is missing');
        found.push(await value(at, end));
      },
    );
    return found;
  };

  const object = async (from: number, to: number): Promise<Record<string, unknown>> => {
    const found: Record<string, unknown> = {};
    await members(
      [from, to],
      async (run) => void Object.assign(found, await parsed(wrapped('{', run, '}'))),
      async (start, at, end) => {
        // The key is parsed as a small object, so that the rules for keys are those of `parse`.
        const head = (await parsed(wrapped('{', bytes.subarray(start, at), '0}'))) as object;
        const [key, ...others] = Object.keys(head);
        if (others.length > 0) throw new SyntaxError('A comma is missing');
        const read = await value(at, end);
        if (key !== undefined) found[key] = read;
      },
    );
    return found;
  };

  return { value };
}

const wrapped = (open: string, run: Buffer, close: string): Buffer =>
  Buffer.concat([Buffer.from(open), run, Buffer.from(close)]);

/** The closing bracket of a list or an object that is smaller than a piece. */
function endOfNested(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openList || byte === openObject) depth += 1;
    else if (byte === closeList || byte === closeObject) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return bytes.length;
}

/** An escape from `d800` to `dbff`: the first half of a character. */
const isHighSurrogate = (bytes: Buffer, at: number): boolean =>
  /^\\u[dD][89abAB]/.test(bytes.toString('latin1', at, at + 4));

const isContinuation = (byte: number | undefined): boolean => ((byte ?? 0) & 0xc0) === 0x80;

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

function lastOf(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && isSpace(bytes[end - 1])) end -= 1;
  return end;
}
