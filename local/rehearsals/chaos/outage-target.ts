import type { TcpRelay } from './tcp-relay.ts';

/** An outage breaks one of these. */
export interface OutageTarget {
  readonly relays: Readonly<Record<'postgres' | 'temporal' | 'provider', TcpRelay>>;
  /** Origin of the simulator itself, not through the relay. */
  readonly simulator: string;
  readonly database: DatabaseTarget;
}

/** The application's database, as its owner reaches it and not through the relay. */
export interface DatabaseTarget {
  readonly ownerUrl: string;
  readonly name: string;
  /** The application's role. */
  readonly role: string;
}
