import type { Fault, FaultKind } from '../protocol/faults.ts';
import type { MessageFate } from './fate.ts';

/** The behaviour that the last eight digits of a recipient's number request. */
export interface Magic {
  readonly fault?: Fault;
  /** Applies to the first send only; later ones go through. */
  readonly firstSendOnly?: true;
  readonly fate?: MessageFate;
  readonly held?: true;
}

const magicLength = 8;

/**
 * Numbers that end in `66`, `67` or `69` and a code of six digits, or in `68` and one of the numbers below, behave as
 * docs/provider-simulator.md describes; undefined for all others.
 */
export function magicOf(to: string): Magic | undefined {
  if (to.charCodeAt(to.length - magicLength) !== 0x36 || to.length <= magicLength) return undefined;
  const value = Number(to.slice(-6));
  switch (to.slice(-magicLength, -6)) {
    case '66':
      return { fault: fault('error', { code: value }) };
    case '67':
      return { fate: { kind: 'failed', code: value } };
    case '69':
      return { fault: fault('error', { code: value }), firstSendOnly: true };
    case '68':
      return special[value];
    default:
      return undefined;
  }
}

function fault(kind: FaultKind, given: { readonly code?: number; readonly httpStatus?: number } = {}): Fault {
  return { kind, rate: 1, code: 131000, httpStatus: 500, times: undefined, endsWith: '', ...given };
}

const special: Readonly<Record<number, Magic>> = {
  1: { fault: fault('drop') },
  2: { fault: fault('drop_after') },
  3: { fault: fault('hang_after') },
  4: { fault: fault('garbage') },
  5: { fault: fault('http', { httpStatus: 500 }) },
  6: { fault: fault('http', { httpStatus: 503 }) },
  7: { fault: fault('http', { httpStatus: 502 }) },
  10: { fate: { kind: 'silent' } },
  11: { fate: { kind: 'sent' } },
  12: { fate: { kind: 'delivered' } },
  13: { fate: { kind: 'read' } },
  14: { fate: { kind: 'read_only' } },
  15: { fate: { kind: 'backwards' } },
  16: { fate: { kind: 'repeated' } },
  20: { held: true },
};
