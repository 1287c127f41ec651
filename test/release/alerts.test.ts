/**
 * Each cause that an operator must hear of is brought about on a running stack, with a Prometheus beside it: the right alert of
 * ops/alerts.yml becomes pending within a minute and names the cause.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchAlerts } from '../support/alert-watch.ts';
import { startPrometheus, type Prometheus } from '../support/prometheus.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

const everySeconds = Number(process.env['SCRAPE_SECONDS'] ?? 1);

let stack: TestStack;
let prometheus: Prometheus;
let database: pg.Client;
let watch: ReturnType<typeof watchAlerts>;
const fires: (typeof watch)['fires'] = (...cause) => watch.fires(...cause);
const isQuiet = (name: string) => watch.isQuiet(name);

beforeAll(async () => {
  stack = await startTestStack();
  const [, metricsPort] = /"metricsPort":(\d+),[^\n]*"worker ready"/.exec(stack.output()) ?? [];
  const targets = { api: new URL(stack.dev.baseUrl).host, worker: `127.0.0.1:${metricsPort}` };
  prometheus = await startPrometheus(targets, { everySeconds });
  watch = watchAlerts(prometheus);
  database = new pg.Client({ connectionString: stack.dev.databaseUrl });
  database.on('error', () => undefined);
  await database.connect();
  // The first scrapes of everything.
  await sleep(3_000 * everySeconds);
}, 180_000);
afterAll(async () => {
  if (watch !== undefined) process.stdout.write(`${watch.report.join('\n')}\n`);
  await prometheus?.stop();
  await database?.end().catch(() => undefined);
  await stack?.remove();
}, 90_000);

async function call(method: string, path: string, body?: object, key = stack.dev.apiKey) {
  const answer = await request(`${stack.dev.baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions say what is expected of it
  return { status: answer.statusCode, body: (await answer.body.json()) as any };
}

async function simulate(control: string, input: object): Promise<void> {
  const { dev } = stack;
  const answer = await request(`${new URL(dev.providerUrl).origin}/_simulator/${control}`, {
    method: 'POST',
    body: JSON.stringify(input),
  });
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
}

let made = 0;
async function createCampaign(recipients: number): Promise<string> {
  made += 1;
  const { status, body } = await call('POST', '/api/campaigns/auto-trigger', {
    name: `Campaign ${made}`,
    template_id: stack.dev.templateIds['plain_notice'],
    contact_selection_type: 'quick_contacts',
    quick_contacts: Array.from(
      { length: recipients },
      (_, index) => `+49151${10_000_000 + made * 1000 + index}`,
    ),
    send_type: 'IMMEDIATE',
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data.campaign.id as string;
}

/** Every campaign so far. */
async function untilCompleted(): Promise<void> {
  const open = async () => {
    const { body } = await call('GET', '/api/campaigns?page_size=50');
    const campaigns = body.data as readonly { readonly status: string }[];
    return campaigns.filter(({ status }) => status !== 'COMPLETED').length;
  };
  await expect.poll(open, { timeout: 80_000 }).toBe(0);
}

async function admin(...args: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['tools/run-built.mjs', 'src/admin.js', ...args],
    { env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: stack.dataDir } },
  ).catch((error: { readonly stdout: string }) => error);
  return JSON.parse(stdout);
}

async function says(text: RegExp): Promise<void> {
  await expect.poll(() => stack.output()).toMatch(text);
}

it('an expired token: ChannelBlocked, with the code in the log, on the channel, in list-channels and doctor', async () => {
  await simulate('faults', { faults: [{ kind: 'error', code: 190 }] });
  let campaignId = '';
  const alert = await fires('ChannelBlocked', { kind: 'token' }, async () => {
    campaignId = await createCampaign(3);
  });
  expect(alert.annotations['summary']).toBe('1 channels cannot send: token');
  await says(/"code":190,"cause":"token"[^\n]*"channel blocked: campaigns paused"/);
  const { body } = await call('GET', `/api/channels/${stack.dev.channelId}`);
  expect(body.data.provider_error).toMatchObject({ code: 190, cause: 'token' });
  expect(await admin('list-channels', '--impaired')).toMatchObject({
    channels: [{ id: stack.dev.channelId, kind: 'token', code: 190 }],
  });
  const { notes } = (await admin('doctor', '--json', '--pause-seconds', '0')) as { notes: readonly string[] };
  expect(notes.join('\n')).toContain(`channel ${stack.dev.channelId}`);
  expect(notes.join('\n')).toContain('token, refused by the provider with 190');
  await simulate('faults', {});
  await admin('update-channel', '--channel-id', stack.dev.channelId, '--status', 'active');
  await isQuiet('ChannelBlocked');
  expect((await call('POST', `/api/campaigns/${campaignId}/start`)).status).toBe(202);
});

it('one channel in trouble: ChannelHeld, with the answer in the log', async () => {
  await simulate('faults', { faults: [{ kind: 'http', httpStatus: 502 }] });
  await fires('ChannelHeld', {}, () => createCampaign(40));
  await says(/"openMs":[^\n]*"the provider fails: the circuit of a channel is open"/);
  expect(await admin('list-channels', '--impaired')).toMatchObject({ channels: [{ kind: 'held' }] });
  await simulate('faults', {});
});

it('a wrong app secret: CallbacksRefused', async () => {
  await fires('CallbacksRefused', {}, async () => {
    for (let nth = 0; nth < 8; nth += 1)
      await simulate('callback', {
        body: { object: 'whatsapp_business_account', entry: [] },
        signing: 'wrong',
      });
  });
  await says(/"provider callback refused: no PROVIDER_APP_SECRET fits its signature"/);
});

it('callbacks that stop coming: CallbacksMissing', async () => {
  await untilCompleted();
  await isQuiet('CallbacksMissing');
  await simulate('flush', {});
  await simulate('callbacks', { enabled: false });
  // The last callback must be older than the alert's threshold.
  await sleep(11_000);
  await fires('CallbacksMissing', {}, () => createCampaign(5));
  const { notes } = (await admin('doctor', '--json', '--pause-seconds', '0')) as { notes: readonly string[] };
  expect(notes.join('\n')).toContain('its last callback came');
  await simulate('callbacks', { enabled: true });
});

it('a full disk: DatabaseRefusesWrites names disk_full', async () => {
  // Raises the error with which Postgres answers when a table cannot grow.
  await database.query(`
    CREATE FUNCTION refuse_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE disk_full USING MESSAGE = 'could not extend file: No space left on device'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON campaign FOR EACH STATEMENT EXECUTE FUNCTION refuse_disk()`);
  const alert = await fires('DatabaseRefusesWrites', { cause: 'disk_full' }, async () => {
    const answer = await call('POST', '/api/campaigns/auto-trigger', {
      name: 'Refused',
      template_id: stack.dev.templateIds['plain_notice'],
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678'],
      send_type: 'IMMEDIATE',
    });
    expect(answer.status).toBe(503);
  });
  expect(alert.annotations['summary']).toBe('Postgres refuses statements: disk_full');
  await database.query('DROP TRIGGER full_disk ON campaign; DROP FUNCTION refuse_disk');
});

it('a read-only database: DatabaseReadOnly', async () => {
  const name = new URL(stack.dev.databaseUrl).pathname.slice(1);
  const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = '${name}' AND pid <> pg_backend_pid()`;
  await fires('DatabaseReadOnly', {}, async () => {
    await database.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    await database.query(endSessions);
  });
  await database.query('SET transaction_read_only = off');
  await database.query('BEGIN READ WRITE');
  await database.query(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
  await database.query('COMMIT');
  await database.query(endSessions);
  await isQuiet('DatabaseReadOnly');
});

it('WAL that is not archived: WalArchiveBehind', async () => {
  await fires('WalArchiveBehind', {}, async () => {
    await database.query("ALTER SYSTEM SET archive_command = 'false'");
    await database.query('SELECT pg_reload_conf()');
    await database.query('SELECT pg_switch_wal()');
  });
  await database.query('ALTER SYSTEM RESET archive_command');
  await database.query('SELECT pg_reload_conf()');
  await isQuiet('WalArchiveBehind');
});

it('a dead receiver: WebhookReceiversFail', async () => {
  const created = await call('POST', '/api/external-webhooks', {
    title: 'Nobody listens',
    url: 'http://127.0.0.1:9/hook',
    events: ['sent', 'delivered'],
  });
  expect(created.status).toBe(201);
  await fires('WebhookReceiversFail', {}, () => createCampaign(20));
});

it('no worker on a queue: NoWorkerOnQueue names it', async () => {
  const { worker } = (await stack.readDev()).pids;
  try {
    const alert = await fires('NoWorkerOnQueue', { queue: 'webhooks' }, async () =>
      process.kill(worker ?? 0, 'SIGSTOP'),
    );
    expect(alert.annotations['summary']).toBe('No worker serves the task queue webhooks');
  } finally {
    process.kill(worker ?? 0, 'SIGCONT');
  }
});
