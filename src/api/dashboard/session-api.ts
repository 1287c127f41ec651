/** `/dashboard/api/*`: the paths of `/api/*` for a session of the dashboard. */
import type { Middleware } from 'koa';
import type { Endpoint } from '../frame/endpoint.ts';
import { mount, type Frame } from '../frame/mount.ts';
import type { FrameState } from '../frame/state.ts';

const prefix = '/dashboard';

/**
 * `frame` authenticates by session instead of by key. Public operations need no session and keep their paths under `/api`.
 */
export function sessionApi(frame: Frame, endpoints: readonly Endpoint[]): Middleware<FrameState> {
  const serve = mount(
    frame,
    endpoints.filter(({ declaration: { access, path } }) => access !== 'public' && path.startsWith('/api/')),
  );
  return async (ctx, next) => {
    if (!ctx.path.startsWith(`${prefix}/api/`)) return next();
    ctx.path = ctx.path.slice(prefix.length);
    await serve(ctx, next);
  };
}
