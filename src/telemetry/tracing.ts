/** Tracing of a process. Off unless an OTLP endpoint is configured; then nothing is loaded or measured. */
import type { Config } from '../config.ts';

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  readonly name: string;
  /** The side of a call that this span covers: `server` receives it, `client` makes it, `internal` means no call. */
  readonly kind?: 'server' | 'client' | 'internal';
  readonly attributes?: Attributes;
  /** W3C trace context of the parent; the current span by default. */
  readonly parent?: string;
}

/** A finished span whose id is known to other processes. Times are in milliseconds since 1970. */
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
  /** Runs `work` inside a span, which becomes the parent of the spans that `work` starts. */
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
