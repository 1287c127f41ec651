/** Path and method → endpoint. A literal segment wins over a parameter, the first difference deciding, whatever the method. */
import type { Endpoint, Method } from './endpoint.ts';

export interface Route {
  /** The path as declared, for logs and metrics. */
  readonly path: string;
  readonly methods: ReadonlyMap<string, Endpoint>;
  /** The value of the `Allow` header. */
  readonly allow: string;
}

export interface RouteMatch {
  readonly route: Route;
  /** Percent-decoded where that is possible. */
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
}

/** Throws when two endpoints claim the same method and path, or a path and its `params` disagree. */
export function createRouteMatcher(endpoints: readonly Endpoint[]): (path: string) => RouteMatch | undefined {
  const byPath = new Map<string, Map<string, Endpoint>>();
  for (const endpoint of endpoints) {
    const { method, path } = endpoint.declaration;
    const methods = byPath.get(path) ?? new Map<string, Endpoint>();
    if (methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    byPath.set(path, methods.set(method, endpoint));
  }
  const literal = new Map<string, Route>();
  const patterns: Pattern[] = [];
  for (const [path, methods] of byPath) {
    const route = { path, methods: withHead(methods), allow: allowOf([...methods.keys()] as Method[]) };
    if (path.includes(':')) patterns.push({ route, segments: path.split('/') });
    else literal.set(path, route);
  }
  patterns.sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));

  return (path) => {
    const exact = literal.get(path);
    if (exact !== undefined) return { route: exact, params: {} };
    const given = path.split('/');
    for (const { route, segments } of patterns) {
      const params = matchSegments(segments, given);
      if (params !== undefined) return { route, params };
    }
    return undefined;
  };
}

// Compares as text: a literal segment (0) comes before a parameter (1).
function rankOf({ segments }: Pattern): string {
  return segments.map((segment) => (segment.startsWith(':') ? '1' : '0')).join('');
}

function withHead(methods: ReadonlyMap<string, Endpoint>): ReadonlyMap<string, Endpoint> {
  const get = methods.get('GET');
  return get === undefined ? methods : new Map([...methods, ['HEAD', get]]);
}

function allowOf(methods: readonly Method[]): string {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}

function matchSegments(
  segments: readonly string[],
  given: readonly string[],
): Record<string, string> | undefined {
  if (segments.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? '';
    if (segment.startsWith(':')) {
      if (value === '') return undefined;
      params[segment.slice(1)] = decodeSegment(value);
    } else if (segment !== value) {
      return undefined;
    }
  }
  return params;
}

function decodeSegment(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
