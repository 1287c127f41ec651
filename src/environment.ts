/** Reads single variables of the environment. Problems are collected, so that all of them are named at once. */
import { isIP } from 'node:net';
import { parseBlock } from './outbound/parse-address.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const web = ['http:', 'https:'];

/** Each function appends what is wrong with its variable to `problems`. An empty variable counts as unset. */
export function createEnvironmentReader(environment: Environment, problems: string[]) {
  const names = new Set<string>();
  const raw = (name: string): string | undefined => {
    names.add(name);
    const value = environment[name];
    return value === undefined || value === '' ? undefined : value;
  };
  const text = (name: string, fallback?: string): string => {
    const value = raw(name) ?? fallback;
    if (value === undefined) problems.push(`${name} is required`);
    return value ?? '';
  };
  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const value = raw(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    problems.push(`${name} must be a whole number from ${min} to ${max}, not "${value}"`);
    return fallback;
  };
  const decimal = (name: string, fallback: number, min: number, max: number): number => {
    const value = raw(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^\d+(\.\d+)?$/.test(value) && number >= min && number <= max) return number;
    problems.push(`${name} must be a number from ${min} to ${max}, not "${value}"`);
    return fallback;
  };
  const choice = <T extends string>(name: string, values: readonly T[], fallback: T): T => {
    const value = raw(name);
    if (value === undefined) return fallback;
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) problems.push(`${name} must be one of ${values.join(', ')}, not "${value}"`);
    return found ?? fallback;
  };
  const list = (name: string, fallback: readonly string[]): readonly string[] => {
    names.add(name);
    const value = environment[name];
    if (value === undefined) return fallback;
    return value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  };
  const url = (name: string, protocols: readonly string[] = web, value = text(name)): string => {
    if (value === '') return '';
    const parsed = URL.parse?.(value) ?? tryUrl(value);
    if (parsed === null || !protocols.includes(parsed.protocol)) {
      problems.push(`${name} must be a ${protocols.map((p) => `${p}//`).join(' or ')} URL`);
    }
    let end = value.length;
    while (value[end - 1] === '/') end -= 1;
    return value.slice(0, end);
  };
  const optionalUrl = (name: string, protocols = web): string | undefined =>
    url(name, protocols, raw(name) ?? '') || undefined;
  const address = (name: string): string => {
    const value = text(name);
    const [, port = '1'] = /^(?:\[[\da-f:]+\]|[^\s/:@[\]]+)(?::(\d{1,5}))?$/i.exec(value) ?? [undefined, '0'];
    if (value !== '' && (Number(port) < 1 || Number(port) > 65_535))
      problems.push(`${name} must be of the form host:port, not "${value}"`);
    return value;
  };
  const secret = (name: string, least: number): string => {
    const value = text(name);
    if (value !== '' && value.length < least) problems.push(`${name} must have at least ${least} characters`);
    return value;
  };
  const networks = (name: string): readonly string[] => {
    const cidrs = list(name, []);
    for (const cidr of cidrs)
      if (!cidr.includes('/') || parseBlock(cidr) === undefined)
        problems.push(`${name}: "${cidr}" is not a network in CIDR form`);
    return cidrs;
  };
  const nameServers = (name: string): readonly string[] => {
    const servers = list(name, []);
    for (const server of servers)
      if (!isNameServer(server)) problems.push(`${name}: "${server}" is not an address`);
    return servers;
  };
  return {
    /** The variables read so far. */
    names: (): readonly string[] => [...names],
    raw,
    text,
    integer,
    decimal,
    choice,
    list,
    url,
    optionalUrl,
    address,
    secret,
    networks,
    nameServers,
  };
}

/** A shorter name has too many neighbours. */
const shortestName = 8;
const mostMistyped = 2;

/**
 * Returns each variable that is not a setting but differs from one by at most two letters, such as RETENTION_DAY. Ignores
 * variables of other programs.
 */
export function findMistyped(environment: Environment, settings: readonly string[]): readonly string[] {
  return Object.keys(environment).flatMap((name) => {
    if (settings.includes(name)) return [];
    const meant = settings.find(
      (setting) => setting.length >= shortestName && distance(name, setting) <= mostMistyped,
    );
    return meant === undefined ? [] : [`${name} is no setting: is ${meant} meant?`];
  });
}

/** How many letters must be replaced, added or removed; `mostMistyped` + 1 if the lengths differ by more. */
function distance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > mostMistyped) return mostMistyped + 1;
  let above = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row];
    for (let at = 1; at <= to.length; at += 1) {
      const same = from[row - 1] === to[at - 1] ? 0 : 1;
      line.push(Math.min((above[at - 1] ?? 0) + same, (above[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1));
    }
    above = line;
  }
  return above[to.length] ?? 0;
}

function tryUrl(value: string): URL | null {
  try {
    return new URL(value);
  } catch {
    return null;
  }
}

/** `address`, `address:port`, `[address]` or `[address]:port`. */
function isNameServer(text: string): boolean {
  const [, bracketed, bare = ''] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? [];
  return isIP(text) !== 0 || isIP(bracketed ?? bare) !== 0;
}
