import type { ChildSpec } from './child.ts';
import { listens, nodeChild } from './node-children.ts';
import type { Environment } from '../host/user-cache.ts';

export interface SimulatorChild {
  readonly environment: Environment;
  readonly port: number;
  /** Where its callbacks go. */
  readonly callbackUrl: string;
  readonly write: (line: string) => void;
}

/** The provider simulator as a process. */
export function simulatorChild({ environment, port, callbackUrl, write }: SimulatorChild): ChildSpec {
  return nodeChild({
    name: 'provider',
    entry: 'local/simulator/main.js',
    environment: {
      ...environment,
      SIMULATOR_PORT: String(port),
      SIMULATOR_CALLBACK_URL: callbackUrl,
    },
    output: { kind: 'lines', write },
    isReady: () => listens(port),
    drainMs: 5_000,
  });
}
