import { listOf, objectOf } from './json-value.ts';
import { createRandom } from './random.ts';

const faultKinds = ['error', 'http', 'drop', 'drop_after', 'hang', 'hang_after', 'garbage'] as const;
export type FaultKind = (typeof faultKinds)[number];

/**
 * An injected fault: `error` answers the provider's error `code`; `http` an HTTP status with an HTML page; `drop` and `hang`
 * happen before the message is accepted, `drop_after`, `hang_after` and `garbage` after it.
 */
export interface Fault {
  readonly kind: FaultKind;
  /** Share of the sends that get this fault, 0 to 1. */
  readonly rate: number;
  readonly code: number;
  readonly httpStatus: number;
  /** Number of sends that still get this fault; unlimited when undefined. */
  readonly times: number | undefined;
  /** Applies only to recipients whose number ends like this. */
  readonly endsWith: string;
}

export interface FaultSettings {
  readonly latencyMs: number;
  readonly jitterMs: number;
  /** Above it a number's sends are refused with 130429 until the next second; 0 sets no limit. */
  readonly messagesPerSecond: number;
  readonly faults: readonly Fault[];
}

export interface FaultPlan {
  configure(input: unknown): FaultSettings;
  readonly settings: FaultSettings;
  /** How long to wait before the answer. */
  delayMs(): number;
  /** Returns the fault for this send, if any. */
  draw(to: string): Fault | undefined;
  reset(): void;
}

const noFaults: FaultSettings = { latencyMs: 0, jitterMs: 0, messagesPerSecond: 0, faults: [] };

export function createFaultPlan(seed: number): FaultPlan {
  let settings = noFaults;
  let left: (number | undefined)[] = [];
  let random = createRandom(seed);
  return {
    configure: (input) => {
      settings = readSettings(input);
      left = settings.faults.map((fault) => fault.times);
      return settings;
    },
    get settings() {
      return settings;
    },
    delayMs: () => settings.latencyMs + (settings.jitterMs > 0 ? random() * settings.jitterMs : 0),
    draw: (to) => {
      const index = settings.faults.findIndex(
        (fault, position) => left[position] !== 0 && to.endsWith(fault.endsWith) && random() < fault.rate,
      );
      const remaining = left[index];
      if (remaining !== undefined) left[index] = remaining - 1;
      return settings.faults[index];
    },
    reset: () => {
      settings = noFaults;
      left = [];
      random = createRandom(seed);
    },
  };
}

function readSettings(input: unknown): FaultSettings {
  const { latencyMs, jitterMs, messagesPerSecond, faults } = objectOf(input);
  return {
    latencyMs: Number(latencyMs ?? 0),
    jitterMs: Number(jitterMs ?? 0),
    messagesPerSecond: Number(messagesPerSecond ?? 0),
    faults: listOf(faults).map(readFault),
  };
}

function readFault(input: unknown): Fault {
  const { kind, rate, code, httpStatus, times, endsWith } = objectOf(input);
  const known = faultKinds.find((name) => name === kind);
  if (!known) throw new TypeError(`kind must be one of ${faultKinds.join(', ')}`);
  return {
    kind: known,
    rate: Number(rate ?? 1),
    code: Number(code ?? 131000),
    httpStatus: Number(httpStatus ?? 500),
    times: times === undefined ? undefined : Number(times),
    endsWith: typeof endsWith === 'string' ? endsWith : '',
  };
}
