/** Routes by path with @koa/router. At the first difference between two paths a literal segment wins over a parameter. */
import { Router, type RouterContext } from '@koa/router';
import type { Endpoint, Method } from './endpoint.ts';
import type { FrameState } from './state.ts';
import { HttpProblem } from './http-problem.ts';

/** One request to one endpoint; `ctx.params` are percent-decoded where that is possible. */
export type Serve = (ctx: RouterContext<FrameState>, target: Endpoint) => Promise<void>;

/** Answers 405 with `Allow` itself and leaves unknown paths to the next middleware. Throws when two endpoints claim the same method and path. */
export function createRouter(endpoints: readonly Endpoint[], serve: Serve): Router<FrameState> {
  const router = new Router<FrameState>({ sensitive: true, strict: true });
  const routes = [...byPath(endpoints)].sort(([a], [b]) => (rankOf(a) < rankOf(b) ? -1 : 1));
  for (const [path, methods] of routes) {
    const allow = allowOf(methods);
    // One route for every method, because this handler answers 405 itself.
    router.all(path, (ctx) => {
      ctx.state.route = path;
      const target = methods.get((ctx.method === 'HEAD' ? 'GET' : ctx.method) as Method);
      if (target !== undefined) return serve(ctx, target);
      const below = endpoints.flatMap(({ declaration: { method, path: other } }) =>
        method === ctx.method && other.startsWith(`${path}/`) && !other.includes(':') ? [other] : [],
      );
      const hint = below.length === 0 ? '' : `; ${ctx.method} is for ${below.join(', ')}`;
      throw new HttpProblem(405, `Method not allowed: this path takes ${allow}${hint}`, { Allow: allow });
    });
  }
  return router;
}

type Methods = ReadonlyMap<Method, Endpoint>;

function byPath(endpoints: readonly Endpoint[]): ReadonlyMap<string, Methods> {
  const paths = new Map<string, Map<Method, Endpoint>>();
  for (const endpoint of endpoints) {
    const { method, path } = endpoint.declaration;
    const methods = paths.get(path) ?? new Map<Method, Endpoint>();
    if (methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    paths.set(path, methods.set(method, endpoint));
  }
  return paths;
}

// Compares as text: a literal segment (0) comes before a parameter (1).
function rankOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '1' : '0'))
    .join('');
}

function allowOf(methods: Methods): string {
  return [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}
