/** JSON whose processing costs more than its size suggests, where work is not linear or blocks the event loop. */

export interface Hostile {
  readonly what: string;
  readonly path?: string;
  readonly query?: string;
  /** Created when it is sent: all at once would fill the memory. */
  readonly body?: () => string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const mebibyte = 1024 * 1024;
/** Bytes left for the fields beside the hostile one. */
export const slack = 4 * 1024;

export const repeated = (text: string, bytes: number) =>
  text.repeat(Math.floor(bytes / Buffer.byteLength(text)));
export const list = (element: string, bytes: number, most = Infinity) =>
  `[${Array(Math.min(most, Math.floor(bytes / (element.length + 1))))
    .fill(element)
    .join(',')}]`;
export const record = (value: string, keys: number) =>
  `{${Array.from({ length: keys }, (_, at) => `"${at}":${value}`).join(',')}}`;
const nested = (levels: number, innermost: string) =>
  '{"a":['.repeat(levels / 2) + innermost + ']}'.repeat(levels / 2);

/** JSON values of `bytes` bytes, one for each kind of excess. */
export function shapes(bytes: number, values: number): ReadonlyMap<string, () => string> {
  const text = (part: string) => () => `"${repeated(part, bytes)}"`;
  return new Map([
    ['one character', text('a')],
    ['blanks and an end', () => `"${repeated(' ', bytes - 1)}x"`],
    ['two in turn', text('@.')],
    ['placeholders', text('{{a}}')],
    ['letters of four bytes', text('😀')],
    ['10,000 keys of a wrong type', () => record('{}', 10_000)],
    ['long keys', () => `{"${repeated('k', bytes / 2)}":1,"${repeated('l', bytes / 2 - 10)}":{}}`],
    ['a key', () => `{"${repeated('\\\\', bytes)}":1}`],
    ['a number', () => repeated('9', bytes)],
    ['blanks', () => repeated(' ', bytes - 2) + '{}'],
    ['as many keys as fit', () => record('1', Math.min(values, Math.floor(bytes / 11)))],
    ['numbers', () => list('1', bytes, values)],
    ['objects', () => list('{}', bytes, values)],
    ['short texts', () => list('"x"', bytes, values)],
    ['telephone numbers that only libphonenumber can check', () => list('"+4901511234567"', bytes, values)],
    ['depth', () => nested(58, list('1', bytes - 500, values - 100))],
  ]);
}

/** The example as JSON, with `json` at the path. */
export function withValue(example: unknown, [key, ...rest]: readonly string[], json: string): string {
  if (key === undefined) return json;
  const members = typeof example === 'object' && example !== null ? { ...example } : {};
  const given = (members as Record<string, unknown>)[key];
  const others = Object.entries(members).filter(([name]) => name !== key);
  const parts = others.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${[...parts, `${JSON.stringify(key)}:${withValue(given, rest, json)}`].join(',')}}`;
}
