/** Outages: how each is caused, and what the API must answer meanwhile. */
import { request } from 'undici';
import { bySession, cancelStatements, lockRows, shortenStatements } from './database-sessions.ts';
import type { OutageTarget } from './outage-target.ts';
import type { RelayState } from './tcp-relay.ts';

export const outageKinds = [
  'postgres',
  'postgres-silent',
  'statements-cancelled',
  'statements-too-long',
  'wallet-locked',
  'recipient-locked',
  'contact-locked',
  'rate-locked',
  'temporal',
  'temporal-silent',
  'provider-gone',
  'provider-hang',
  'provider-drop',
  'provider-garbage',
  'provider-502',
  'provider-503',
  'provider-slow',
] as const;
export type OutageKind = (typeof outageKinds)[number];

/** HTTP statuses that are right while the outage lasts. */
export interface Expectation {
  readonly ready: readonly number[];
  readonly read: readonly number[];
  readonly send: readonly number[];
}

interface Outage extends Expectation {
  /** Longest time from the end of the outage until sending continues. */
  readonly recoveryMs: number;
  readonly begin: (target: OutageTarget) => Promise<void>;
  readonly end: (target: OutageTarget) => Promise<void>;
}

const databaseAway = { ready: [503], read: [503], send: [503], recoveryMs: 30_000 };
// The API's own statements are left alone.
const workerDisturbed = { ready: [200], read: [200], send: [200], recoveryMs: 30_000 };
// A single send that needs a locked row is answered with 503 after 15 s, or with 429 where it waits for the channel's rate.
const rowsLocked = { ...workerDisturbed, send: [200, 503] };
const statementsTooLong = { ready: [200, 503], read: [200, 503], send: [200, 503], recoveryMs: 30_000 };
// Requests are answered without Temporal. Sending recovers within 30 s of its return.
const temporalAway = { ready: [200], read: [200], send: [200], recoveryMs: 30_000 };
// A channel whose circuit is open sends one probe a minute.
const providerAway = { ready: [200], read: [200], send: [502], recoveryMs: 65_000 };

export const outages: Readonly<Record<OutageKind, Outage>> = {
  postgres: { ...databaseAway, ...relayed('postgres', 'gone') },
  'postgres-silent': { ...databaseAway, ...relayed('postgres', 'silent') },
  'statements-cancelled': { ...workerDisturbed, ...bySession(cancelStatements) },
  'statements-too-long': { ...statementsTooLong, ...bySession(shortenStatements) },
  'wallet-locked': { ...rowsLocked, ...bySession(lockRows('wallet')) },
  'recipient-locked': { ...rowsLocked, ...bySession(lockRows('recipient')) },
  'contact-locked': { ...rowsLocked, ...bySession(lockRows('contact')) },
  'rate-locked': { ...rowsLocked, send: [200, 429, 503], ...bySession(lockRows('channel_rate')) },
  temporal: { ...temporalAway, ...relayed('temporal', 'gone') },
  'temporal-silent': { ...temporalAway, ...relayed('temporal', 'silent') },
  'provider-gone': { ...providerAway, ...relayed('provider', 'gone') },
  'provider-hang': {
    ...providerAway,
    ...faulty({ faults: [{ kind: 'hang', rate: 0.5 }, { kind: 'hang_after' }] }),
  },
  'provider-drop': {
    ...providerAway,
    ...faulty({ faults: [{ kind: 'drop', rate: 0.5 }, { kind: 'drop_after' }] }),
  },
  'provider-garbage': { ...providerAway, ...faulty({ faults: [{ kind: 'garbage' }] }) },
  // A gateway's 502: it is not known whether the message was taken.
  'provider-502': { ...providerAway, ...faulty({ faults: [{ kind: 'http', httpStatus: 502 }] }) },
  // A 503 with the provider's error body: the message was surely not taken.
  'provider-503': {
    ...providerAway,
    ...faulty({ faults: [{ kind: 'error', code: 131_016 }] }),
    send: [400],
  },
  'provider-slow': {
    ...providerAway,
    ...faulty({ latencyMs: 2_000, jitterMs: 1_000 }),
    send: [200],
  },
};

function relayed(server: keyof OutageTarget['relays'], state: RelayState): Pick<Outage, 'begin' | 'end'> {
  return {
    begin: ({ relays }) => relays[server].set(state),
    end: ({ relays }) => relays[server].set('open'),
  };
}

function faulty(settings: object): Pick<Outage, 'begin' | 'end'> {
  const configure = async ({ simulator }: OutageTarget, input: object): Promise<void> => {
    const { body } = await request(`${simulator}/_simulator/faults`, {
      method: 'POST',
      body: JSON.stringify(input),
    });
    await body.dump();
  };
  return { begin: (target) => configure(target, settings), end: (target) => configure(target, {}) };
}
