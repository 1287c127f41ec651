/** A Prometheus of a test's own, with the shipped alert rules. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { pickFreePort } from '../../local/stack/host/free-port.ts';

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

export interface Prometheus {
  /** Pending and firing ones. */
  readonly alerts: () => Promise<readonly Alert[]>;
  readonly stop: () => Promise<void>;
}

/** `targets`: `host:port` by the name of the scrape job. */
export async function startPrometheus(
  targets: Readonly<Record<string, string>>,
  { everySeconds }: { readonly everySeconds: number },
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-prometheus-'));
  const port = await pickFreePort('127.0.0.1', new Set());
  const config = {
    global: {
      scrape_interval: `${everySeconds}s`,
      scrape_timeout: `${everySeconds}s`,
      evaluation_interval: `${everySeconds}s`,
    },
    rule_files: [resolve('ops/alerts.yml')],
    scrape_configs: Object.entries(targets).map(([job, target]) => ({
      job_name: job,
      static_configs: [{ targets: [target] }],
    })),
  };
  const file = join(folder, 'prometheus.yml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config));
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
  const ended = new Promise<void>((done) => child.once('close', () => done()));

  const alerts = async (): Promise<readonly Alert[]> => {
    const { body } = await request(`http://127.0.0.1:${port}/api/v1/alerts`);
    return ((await body.json()) as { readonly data: { readonly alerts: readonly Alert[] } }).data.alerts;
  };
  for (const deadline = Date.now() + 30_000; ;) {
    if (
      await alerts().then(
        () => true,
        () => false,
      )
    )
      break;
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`Prometheus does not run:\n${said}`);
    await sleep(100);
  }
  return {
    alerts,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
