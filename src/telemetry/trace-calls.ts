/** Wraps outgoing requests in spans. With tracing off it returns them unchanged. */
import type { Outbound } from '../outbound/outbound.ts';
import type { MessagingProvider } from '../provider/provider.ts';
import type { Tracing } from './tracing.ts';

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
