/**
 * Exports spans over OTLP (HTTP, JSON). Nothing is registered globally, because libraries with their own tracing would put
 * statements and their values into spans. Sampling and batching follow the SDK's `OTEL_*` variables.
 */
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as OtelSpan,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import { callContext, withCallContext } from '../concurrency/call-context.ts';
import type { Attributes, SpanStart, Tracing } from './tracing.ts';

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
const closeWithinMs = 3_000;
const exportEveryMs = 1_000;

export function createOtlpTracing(endpoint: string, service: string): Tracing {
  const ids = new RandomIdGenerator();
  // Set while the span of a workflow run is added, because its activities have already recorded this id as their parent.
  let givenSpanId: string | undefined;
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `messaging-campaigns-${service}` }),
    idGenerator: {
      generateTraceId: () => ids.generateTraceId(),
      generateSpanId: () => givenSpanId ?? ids.generateSpanId(),
    },
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }), {
        scheduledDelayMillis: exportEveryMs,
      }),
    ],
  });
  const tracer = provider.getTracer('messaging-campaigns');
  const begin = ({ name, kind = 'internal', attributes = {}, parent }: SpanStart, startTime?: number) =>
    tracer.startSpan(
      name,
      { kind: kinds[kind], attributes: present(attributes), ...(startTime !== undefined && { startTime }) },
      contextOf(parent ?? callContext().traceparent),
    );

  return {
    enabled: true,
    async span(start, work) {
      const span = begin(start);
      try {
        return await withCallContext({ traceparent: traceparentOf(span) }, () =>
          work({
            set: (attributes) => void span.setAttributes(present(attributes)),
            fail: (message) => void span.setStatus({ code: SpanStatusCode.ERROR, message }),
          }),
        );
      } catch (error) {
        // Records only the error's name, because its message may quote what people wrote.
        span.setStatus({
          code: SpanStatusCode.ERROR,
          message: error instanceof Error ? error.name : 'error',
        });
        throw error;
      } finally {
        span.end();
      }
    },
    add({ spanId, startedAt, endedAt, ...start }) {
      givenSpanId = spanId;
      const span = begin(start, startedAt);
      givenSpanId = undefined;
      span.end(endedAt);
    },
    async close() {
      const patience = new Promise<void>((resolve) => {
        setTimeout(resolve, closeWithinMs).unref();
      });
      await Promise.race([provider.shutdown().catch(() => undefined), patience]);
    },
  };
}

function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

function traceparentOf(span: OtelSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function present(attributes: Attributes): Record<string, string | number | boolean> {
  const entries = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}
