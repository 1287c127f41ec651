/** Tracing of a process. Off unless an OTLP endpoint is configured; then nothing is loaded or measured. */
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

/** A span that has ended, with an id that other processes know. Times are in milliseconds since 1970. */
export interface FinishedSpan extends SpanStart {
  readonly spanId: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Span {
  readonly set: (attributes: Attributes) => void;
  /** Marks the span as failed; a thrown error does this automatically. */
  readonly fail: (reason: string) => void;
}

export interface Tracing {
  readonly enabled: boolean;
  /** Runs `work` inside a span, the parent of spans that `work` starts. */
  readonly span: <T>(start: SpanStart, work: (span: Span) => Promise<T>) => Promise<T>;
  readonly add: (span: FinishedSpan) => void;
  /** Exports remaining spans within a few seconds. */
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
