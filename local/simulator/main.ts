/** The provider simulator as a process of its own: prints one line of JSON when it is ready. */
import { readSimulatorOptions } from './options.ts';
import { startSimulator } from './server.ts';

const simulator = await startSimulator(readSimulatorOptions(process.env));
process.stdout.write(
  `${JSON.stringify({ ready: true, port: simulator.port, baseUrl: simulator.baseUrl, pid: process.pid })}\n`,
);

const stop = (): void => {
  void simulator.close().then(() => process.exit(0));
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
