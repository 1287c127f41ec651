import { parseUrl } from '../parse-url.ts';
import { isRecord, own } from './values.ts';

/** Values that a slot of a template accepts. */
export type SlotRule =
  | { readonly kind: 'text' }
  | { readonly kind: 'plain' }
  | { readonly kind: 'link' }
  /** The name of the file behind a link, taken from the link. */
  | { readonly kind: 'file_name' }
  | { readonly kind: 'coordinate'; readonly limit: number }
  | { readonly kind: 'coupon_code' }
  | { readonly kind: 'url_suffix'; readonly prefix: string; readonly suffix: string };

const slotNumber = Symbol('slot');

/** Placeholder for the n-th value of the recipient. */
export interface SlotReference {
  readonly [slotNumber]: number;
}

export const slotReference = (slot: number): SlotReference => ({ [slotNumber]: slot });

export const slotOf = (reference: SlotReference): number => reference[slotNumber];

export const isSlotReference = (value: unknown): value is SlotReference =>
  typeof value === 'object' && value !== null && slotNumber in value;

export const textSlot: SlotRule = { kind: 'text' };
export const plainSlot: SlotRule = { kind: 'plain' };

/** Code points. */
export const lengthOf = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

const parseWebLink = (text: string): URL | undefined =>
  /^https?:\/\//i.test(text) ? parseUrl(text) : undefined;

/** The form of RFC 3986, in which the provider takes links: without spaces, accents and entities of HTML. */
const linkOf = (text: string): string => {
  const link = text.trim().replaceAll(/&(?:amp|#0*38|#x0*26);/gi, '&');
  return parseWebLink(link)?.href ?? text;
};

const longestFileName = 240;

/** The last part of a link, which the reader of the message sees as the name of the file. */
const fileNameOf = (link: string): string => {
  const href = linkOf(link);
  const last = parseUrl(href)?.pathname.split('/').at(-1) ?? '';
  const name = (decoded(last).split(/[/\\]/).at(-1) ?? '').replaceAll(/[\p{Cc}"]/gu, '').trim();
  return name === '' ? defaultFileName : Array.from(name).slice(-longestFileName).join('');
};

export const defaultFileName = 'document.pdf';

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

type UrlSuffixRule = Extract<SlotRule, { readonly kind: 'url_suffix' }>;

/** The host of a URL, as far as hosts are compared: `www.` and the case do not matter. */
const comparableHost = (host: string): string => host.toLowerCase().replace(/^www\./, '');

const address = /^(?:https?:)?\/\/([^/?#]+)(.*)$/is;

interface ButtonUrl {
  readonly host: string;
  /** The part after the host and before the variable. */
  readonly path: string;
}

/** The parts of a button's URL before its variable; undefined if the variable is in the host. */
const buttonUrl = ({ prefix }: UrlSuffixRule): ButtonUrl | undefined => {
  const [, host = '', path = ''] = address.exec(prefix) ?? [];
  return host === '' || path === '' ? undefined : { host: comparableHost(host), path };
};

/** The part after the host, if the text names the host of the button; otherwise undefined. */
const afterHost = ({ host }: ButtonUrl, text: string): string | undefined => {
  const [, given = '', rest = ''] = address.exec(text) ?? /^([^/?#]+)([/?#].*)$/s.exec(text) ?? [];
  return comparableHost(given) === host ? rest : undefined;
};

/** A URL button takes only the part that replaces its variable: the static parts of a whole address are taken away. */
const suffixOf = (rule: UrlSuffixRule, given: string): string => {
  const text = given.trim();
  const url = buttonUrl(rule);
  let rest = text;
  if (url === undefined) {
    if (rule.prefix === '' || !text.startsWith(rule.prefix)) return encodeUrlPart(text);
    rest = text.slice(rule.prefix.length);
  } else {
    const path = afterHost(url, text) ?? text;
    if (path.startsWith(url.path)) rest = path.slice(url.path.length);
    else if (path === text && url.path.endsWith('/')) rest = text.replace(/^\/(?!\/)/, '');
  }
  if (rest !== text && rule.suffix !== '' && rest.endsWith(rule.suffix))
    rest = rest.slice(0, -rule.suffix.length);
  return encodeUrlPart(rest);
};

/** Encodes what a URL may not contain; what is encoded already stays. */
const encodeUrlPart = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/%(?![0-9a-f]{2})/gi, '%25')
    .replaceAll(/[^\w.~:/?#[\]@!$&'()*+,;=%-]+/gu, encodeURIComponent);

/** If only the end of the address belongs here, a whole address would appear in the message twice. */
const suffixProblem = (rule: UrlSuffixRule, text: string): string | undefined => {
  const url = buttonUrl(rule);
  // Behind a question mark, a whole address may be the value of a parameter.
  if (url === undefined || rule.prefix.includes('?')) return undefined;
  if (!address.test(text) && afterHost(url, text) === undefined) return undefined;
  return `must be what follows ${rule.prefix} in the address`;
};

const isCoordinate = (text: string, limit: number): boolean =>
  /^[+-]?\d+(\.\d+)?$/.test(text) && Math.abs(Number(text)) <= limit;

/** Describes the problem of a non-empty value, in the form in which it is sent, as the end of a sentence; undefined when it has none. */
export const slotProblem = (rule: SlotRule, text: string): string | undefined => {
  switch (rule.kind) {
    case 'link':
      return parseWebLink(text) !== undefined ? undefined : 'must be an http or https URL';
    case 'coordinate':
      return isCoordinate(text, rule.limit)
        ? undefined
        : `must be decimal degrees between -${rule.limit} and ${rule.limit}`;
    case 'url_suffix':
      return suffixProblem(rule, text);
    case 'coupon_code':
      return /^[A-Za-z0-9]+$/.test(text) ? undefined : 'must consist of letters a to z and digits only';
    default:
      return undefined;
  }
};

/** The form in which a value is sent. */
export const normaliseSlot = (rule: SlotRule, text: string): string => {
  switch (rule.kind) {
    case 'link':
      return linkOf(text);
    case 'file_name':
      return text.trim() === '' ? '' : fileNameOf(text);
    case 'url_suffix':
      return suffixOf(rule, text);
    default:
      return text;
  }
};

/** Whether line breaks and rows of spaces are refused in a value; in links they are encoded. */
export const isTidied = ({ kind }: SlotRule): boolean => kind !== 'link' && kind !== 'file_name';

export type Report = (path: string, message: string) => void;

/** One value that the template needs, with what the mapping and its `default_values` give for it. */
export interface SlotRequest {
  /** Path inside the mapping: `body.2`, `carousel.0.header.link`. */
  readonly path: string;
  readonly value: unknown;
  readonly fallback: unknown;
  readonly rule: SlotRule;
  /** Index of the value among those that may follow the number of a quick contact. */
  readonly inlineIndex?: number;
}

/**
 * Reads the value of a slot. After it has reported a problem it may return any leaf, because values are used only if no problem
 * was reported.
 */
export interface SlotReader<Leaf> {
  readonly slot: (request: SlotRequest) => Leaf;
  /** Reads a text inside a value of a shape that the template does not know: constants stay as they are given. */
  readonly nested: (request: Pick<SlotRequest, 'path' | 'fallback'> & { readonly value: string }) => Leaf;
  readonly report: Report;
}

/** The part of a mapping for one card, or for the template itself. */
export interface Given<Leaf> {
  readonly mapping: unknown;
  readonly defaults: unknown;
  /** Empty, or `carousel.0.` */
  readonly prefix: string;
  readonly reader: SlotReader<Leaf>;
}

/** A part of the mapping that has to be an object; anything else is reported and counts as absent. */
export const sectionOf = <Leaf>(given: Given<Leaf>, key: string): unknown => {
  const section = own(given.mapping, key);
  if (section === undefined || isRecord(section)) return section;
  given.reader.report(`${given.prefix}${key}`, 'must be an object');
  return undefined;
};

/** Absent, or a text of nothing but white space: an optional value that is not given. */
export const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
