/** The provider simulator as a process of its own: prints one line when it is ready, of JSON unless LOG_FORMAT is `pretty`. */
import { readSimulatorOptions } from './options.ts';
import { startSimulator } from './server.ts';

const simulator = await start();
const { port, baseUrl } = simulator;
const forPeople = process.env['LOG_FORMAT'] === 'pretty';
const ready = JSON.stringify({ ready: true, port, baseUrl, pid: process.pid });
process.stdout.write(`${forPeople ? `ready at ${baseUrl}` : ready}\n`);

const stop = (): void => {
  void simulator.close().then(() => process.exit(0));
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);

async function start() {
  try {
    return await startSimulator(readSimulatorOptions(process.env));
  } catch (error) {
    process.stderr.write(
      `The simulator did not start: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  }
}
