/** Request id, one log line and one measurement per request. Never a query string, a body or a header's value. */
import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import { withCallContext } from '../../concurrency/call-context.ts';
import type { Config } from '../../config.ts';
import { createLogSample } from '../../telemetry/log-sample.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tracing } from '../../telemetry/tracing.ts';
import type { FrameState } from './state.ts';

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

export function requestLog({
  logger,
  metrics,
  tracing,
  config,
}: {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly config: Pick<Config, 'logSamplePercent'>;
}): Middleware<FrameState> {
  const isSampled = createLogSample(config.logSamplePercent);
  return (ctx, next) => {
    const startedAt = performance.now();
    const given = ctx.get('X-Request-Id');
    ctx.state.requestId = acceptable.test(given) ? given : randomUUID();
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);
    ctx.res.once('close', () => {
      const { requestId, route, principal, failure, messageId } = ctx.state;
      const durationMs = performance.now() - startedAt;
      const { method, status } = ctx;
      // Probes and scrapes are no requests of callers: a failing /readyz must not look like failing requests.
      if (ctx.state.quiet !== true)
        metrics.httpRequestSeconds.observe(
          { method: knownMethod(method), route: route ?? 'unmatched', status },
          durationMs / 1000,
        );
      const line = {
        requestId,
        method,
        route,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        ...(principal !== undefined && { workspaceId: principal.workspaceId, keyId: principal.keyId }),
        ...(messageId !== undefined && { messageId }),
        ...(failure !== undefined && { failure }),
        ...(!ctx.res.writableFinished && { aborted: true }),
      };
      if (ctx.state.sampled === true && status < 400 && !isSampled()) return;
      logger[levelOf(status, ctx.state.quiet === true ? 'probe' : 'request')](line, 'request');
    });
    const { requestId } = ctx.state;
    if (!tracing.enabled) return withCallContext({ requestId }, next);
    return withCallContext({ requestId }, () =>
      tracing.span(
        { name: 'request', kind: 'server', parent: ctx.get('traceparent'), attributes: { requestId } },
        async (span) => {
          await next();
          span.set({
            'http.request.method': knownMethod(ctx.method),
            'http.route': ctx.state.route ?? 'unmatched',
            'http.response.status_code': ctx.status,
          });
          if (ctx.status >= 500) span.fail(String(ctx.status));
        },
      ),
    );
  };
}

function levelOf(status: number, kind: 'probe' | 'request') {
  if (status >= 500) return kind === 'probe' ? 'warn' : 'error';
  return kind === 'probe' ? 'debug' : 'info';
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

// Labels an unknown method as `other`: every invented method would create a time series.
function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other';
}
