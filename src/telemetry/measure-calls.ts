/** Metrics, traces and logs for outgoing calls: wrappers around the provider and webhook attempts. */
import { providerErrorTable } from '../domain/sending/provider-error.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { MessagingProvider, SendResult } from '../provider/provider.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { Tracing } from './tracing.ts';

type SendMetrics = Pick<Metrics, 'providerSendSeconds' | 'providerRefusals'> & {
  readonly logger: Pick<Logger, 'debug'>;
};

const knownCodes = new Set(providerErrorTable.flatMap(({ codes }) => codes));

/** Wraps the provider and measures the duration and refusals of sends. Logs each message at `debug`. */
export function measureProvider(metrics: SendMetrics, provider: MessagingProvider): MessagingProvider {
  const times = new Map<SendResult['kind'], { observe: (seconds: number) => void }>();
  const timeOf = (outcome: SendResult['kind']) => {
    const known = times.get(outcome) ?? metrics.providerSendSeconds.labels({ outcome });
    times.set(outcome, known);
    return known;
  };
  const note = (
    result: SendResult,
    { messageId, ms }: { readonly messageId: string; readonly ms: number },
  ): void => {
    // The provider was not called. If this counted as unreachable, an overloaded or stopping worker would trigger the alert
    // about the provider.
    const isHeldBack = result.kind === 'unreachable' && result.cause === 'held back';
    if (!isHeldBack) timeOf(result.kind).observe(ms / 1000);
    const refusal = result.kind === 'rejected' ? { code: result.code } : undefined;
    metrics.logger.debug(
      { messageId, outcome: result.kind, ...refusal, durationMs: Math.round(ms) },
      'provider call',
    );
    if (refusal === undefined) return;
    metrics.providerRefusals.inc({ code: knownCodes.has(refusal.code) ? String(refusal.code) : 'other' });
  };
  return {
    ...provider,
    sendMessage(message) {
      const startedAt = performance.now();
      return provider.sendMessage(message).then((result) => {
        note(result, { messageId: message.callbackData, ms: performance.now() - startedAt });
        return result;
      });
    },
  };
}

/** Wraps `outbound` and measures every webhook attempt. */
export function measureOutbound(
  { webhookAttemptSeconds }: Pick<Metrics, 'webhookAttemptSeconds'>,
  outbound: Outbound,
): Outbound {
  return {
    ...outbound,
    async postWebhook(request) {
      const outcome = await outbound.postWebhook(request);
      webhookAttemptSeconds.observe(
        { outcome: outcome.errorCode ?? outcome.state },
        outcome.durationMs / 1000,
      );
      return outcome;
    },
  };
}

/** Wraps sends in spans. With tracing off it returns `provider` unchanged; so does `traceOutbound`. */
export function traceProvider(tracing: Tracing, provider: MessagingProvider): MessagingProvider {
  if (!tracing.enabled) return provider;
  return {
    ...provider,
    sendMessage: (message) =>
      tracing.span(
        { name: 'provider send', kind: 'client', attributes: { 'message.id': message.callbackData } },
        async (span) => {
          const result = await provider.sendMessage(message);
          span.set({
            'message.outcome': result.kind,
            ...(result.kind === 'rejected' && { 'provider.code': result.code }),
          });
          if (result.kind !== 'accepted') span.fail(result.kind);
          return result;
        },
      ),
  };
}

export function traceOutbound(tracing: Tracing, outbound: Outbound): Outbound {
  if (!tracing.enabled) return outbound;
  return {
    ...outbound,
    postWebhook: (request) =>
      tracing.span({ name: 'webhook attempt', kind: 'client' }, async (span) => {
        const outcome = await outbound.postWebhook(request);
        span.set({ 'http.response.status_code': outcome.responseStatus ?? undefined });
        if (outcome.errorCode !== null) span.fail(outcome.errorCode);
        return outcome;
      }),
  };
}
