/** Connects the worker to Temporal, whose server and namespace may be created after the worker has started. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import type { Config } from '../config.ts';
import { temporalConnectionOptions } from '../orchestrator/connection.ts';
import type { Logger } from '../telemetry/logger.ts';

const firstPauseMs = 250;
const longestPauseMs = 5_000;
// 5 s: a server that accepts the connection but does not answer is logged too.
const silentMs = 5_000;

/** Resolves when the server answers and has the namespace, however long that takes. Says once what it waits for. */
export async function connectToTemporal(
  config: Pick<Config, 'temporalAddress' | 'temporalNamespace' | 'temporalTls' | 'temporalApiKey'>,
  logger: Pick<Logger, 'warn'>,
): Promise<NativeConnection> {
  const { temporalAddress: address, temporalNamespace: namespace } = config;
  const options = await temporalConnectionOptions(config);
  const connection = await untilDone(
    () => NativeConnection.connect(options),
    (error) => logger.warn({ address, error }, 'Temporal does not answer yet, trying again'),
  );
  await untilDone(
    () => connection.workflowService.describeNamespace({ namespace }),
    (error) => logger.warn({ address, namespace, error }, 'Temporal has no such namespace yet, trying again'),
  );
  return connection;
}

async function untilDone<T>(attempt: () => Promise<T>, log: (error: string) => void): Promise<T> {
  let isLogged = false;
  const logOnce = (error: string): void => {
    if (!isLogged) log(error);
    isLogged = true;
  };
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const silent = setTimeout(() => logOnce('no answer'), silentMs);
    try {
      return await attempt();
    } catch (error) {
      logOnce(firstLine(error));
      await sleep(pauseMs);
    } finally {
      clearTimeout(silent);
    }
  }
}

function firstLine(error: unknown): string {
  return String(error).split('\n', 1)[0]?.slice(0, 300) ?? '';
}
