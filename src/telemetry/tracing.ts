/** Spans of what a process does. Off unless an OTLP endpoint is configured: nothing is loaded and nothing is measured then. */
import type { Config } from '../config.ts';

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  readonly name: string;
  /** The span's peer: `server` for a caller, `client` for a called server, `internal` for none. */
  readonly kind?: 'server' | 'client' | 'internal';
  readonly attributes?: Attributes;
  /** W3C trace context of the parent; the running span by default. */
  readonly parent?: string;
}

/** A span that is over already, with an id that others know. Times are in milliseconds since 1970. */
export interface FinishedSpan extends SpanStart {
  readonly spanId: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Span {
  readonly set: (attributes: Attributes) => void;
  /** Marks the span as failed; a thrown error does so by itself. */
  readonly fail: (reason: string) => void;
}

export interface Tracing {
  readonly enabled: boolean;
  /** Runs `work` inside a span; what it calls sees the span as its parent. */
  readonly span: <T>(start: SpanStart, work: (span: Span) => Promise<T>) => Promise<T>;
  readonly add: (span: FinishedSpan) => void;
  /** Hands out what is not exported yet, within a few seconds. */
  readonly close: () => Promise<void>;
}

const noSpan: Span = { set: () => undefined, fail: () => undefined };

const noTracing: Tracing = {
  enabled: false,
  span: (_start, work) => work(noSpan),
  add: () => undefined,
  close: async () => undefined,
};

export async function createTracing(
  { otlpEndpoint }: Pick<Config, 'otlpEndpoint'>,
  service: string,
): Promise<Tracing> {
  if (otlpEndpoint === undefined) return noTracing;
  const { createOtlpTracing } = await import('./otlp-tracing.ts');
  return createOtlpTracing(otlpEndpoint, service);
}
