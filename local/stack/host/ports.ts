/** Chooses every port before any process starts, so that a port in use is reported as one clear error. */
import { listenError, pickFreePort } from './free-port.ts';
import type { Progress } from '../progress.ts';
import { StackError } from '../error.ts';
import type { StackSettings } from '../settings.ts';

export interface StackPorts {
  readonly api: number;
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly simulator: number;
  /** One per worker. */
  readonly workerMetrics: readonly number[];
}

const usualUiPort = 8233;
const unknownHost: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

export async function choosePorts(settings: StackSettings, progress: Progress): Promise<StackPorts> {
  const taken = new Set<number>();
  const freeOn = async (host: string) => {
    const port = await pickFreePort(host, taken);
    taken.add(port);
    return port;
  };
  const free = () => freeOn('127.0.0.1');
  await requireFree({ variable: 'PORT', host: settings.host, port: settings.port });
  const api = settings.port === 0 ? await freeOn(settings.host) : settings.port;
  taken.add(api);

  const embeddedTemporal = settings.temporalAddress === undefined;
  const temporalUi = embeddedTemporal ? await uiPort(settings.temporalUiPort, { free, progress }) : 0;
  taken.add(temporalUi);
  const workerMetrics: number[] = [];
  for (let worker = 0; worker < settings.workers; worker += 1)
    workerMetrics.push(await freeOn(settings.host));
  return {
    api,
    temporalUi,
    postgres: await free(),
    temporal: await free(),
    simulator: await free(),
    workerMetrics,
  };
}

async function uiPort(
  configured: number | undefined,
  { free, progress }: { free: () => Promise<number>; progress: Progress },
): Promise<number> {
  if (configured === 0) return free();
  if (configured !== undefined) {
    await requireFree({ variable: 'TEMPORAL_UI_PORT', host: '127.0.0.1', port: configured });
    return configured;
  }
  if ((await listenError('127.0.0.1', usualUiPort)) === undefined) return usualUiPort;
  progress.say(
    `Port ${usualUiPort} is in use: the Temporal Web UI gets another one (TEMPORAL_UI_PORT chooses it).`,
  );
  return free();
}

async function requireFree({
  variable,
  host,
  port,
}: {
  variable: string;
  host: string;
  port: number;
}): Promise<void> {
  const code = await listenError(host, port);
  if (code === undefined) return;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program`,
    EACCES: `Port ${port} may not be opened by this user`,
    EADDRNOTAVAIL: `This machine has no address ${host}`,
    ENOTFOUND: `There is no host ${host}`,
    EAI_AGAIN: `The host ${host} cannot be looked up`,
  };
  const reason = reasons[code] ?? `Port ${port} on ${host} cannot be opened (${code})`;
  const remedy = unknownHost.has(code)
    ? 'set HOST to an address of this machine'
    : `set ${variable} to another port, or to 0 for any free one`;
  throw new StackError(`${reason}: ${remedy}.`);
}
