/**
 * One workspace creates many campaigns of one person over HTTP. Meanwhile, and for `--seconds N` (20) afterwards, a newcomer
 * creates such campaigns one after the other: how long until each message is at the provider. `/readyz` is read all the while.
 * `--campaigns N` (900), `--lanes N` (20), `--imports N`: two more workspaces each import so many rows at the same time (0);
 * `--setting name=value`: of Temporal's dynamic configuration, several times.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pickFreePort } from '../local/stack/host/free-port.ts';
import { inLanes, quickContacts, seedApiSender, untilReady, type ApiSender } from './support/api-sender.ts';
import { median } from './support/measure.ts';
import { startWholeProduct } from './support/product.ts';
import { startProduct } from './support/product-process.ts';

const whole = (fallback: string) => ({ type: 'string', default: fallback }) as const;
const { values } = parseArgs({
  options: {
    campaigns: whole('900'),
    lanes: whole('20'),
    imports: whole('0'),
    seconds: whole('20'),
    setting: { type: 'string', multiple: true, default: [] },
  },
});
const messagesPerSecond = 80;
const readyEveryMs = 200;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const now = (): number => performance.timeOrigin + performance.now();
const product = await startWholeProduct(20, {}, values.setting);
const port = await pickFreePort('127.0.0.1');
const api = startProduct('server', product.servers, { PORT: String(port) });
const baseUrl = `http://127.0.0.1:${port}`;

let called = 0;
const onePerson = () => quickContacts([`+4915111${String((called += 1)).padStart(6, '0')}`]);
const sender = (phoneNumberId: string) =>
  seedApiSender(product, { baseUrl, phoneNumberId, messagesPerSecond });

/** Milliseconds from the request to the message's arrival at the provider. */
async function timeOfOne(newcomer: ApiSender): Promise<number> {
  const arrived = () => product.provider.arrivals(newcomer.phoneNumberId);
  const { count } = await arrived();
  const startedAt = now();
  await newcomer.create(onePerson());
  for (;;) {
    const present = await arrived();
    if (present.count > count) return present.lastAt - startedAt;
    await sleep(10);
  }
}

const rowsOf = (count: number, prefix: string): string =>
  Array.from({ length: count }, (_, row) => `+49${prefix}${String(row).padStart(7, '0')},49`).join('\n');
const importOf = (count: number, prefix: string) => ({
  contact_selection_type: 'csv_contacts',
  csv_contacts_string: `phone,country\n${rowsOf(count, prefix)}`,
  csv_mapping: { phone_column: 0, country_code_column: 1 },
});

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

try {
  await untilReady(baseUrl);
  const [flooder, newcomer, first, second] = [
    await sender('106540352240001'),
    await sender('106540352240002'),
    await sender('106540352240003'),
    await sender('106540352240004'),
  ];
  await inLanes(40, 8, () => flooder.create(onePerson()));
  while ((await flooder.open()) > 0) await sleep(50);
  const alone: number[] = [];
  for (let lone = 0; lone < 10; lone += 1) alone.push(await timeOfOne(newcomer));

  const state = { isOver: false, createdAt: 0 };
  const readiness: { readonly status: number; readonly ms: number }[] = [];
  const watch = async (): Promise<void> => {
    while (!state.isOver) {
      const at = performance.now();
      const { status } = await fetch(`${baseUrl}/readyz`);
      readiness.push({ status, ms: performance.now() - at });
      await sleep(readyEveryMs);
    }
  };
  const watching = watch();
  const imports = Number(values.imports);
  if (imports > 0) {
    await first.create(importOf(imports, '1521'));
    await second.create(importOf(imports, '1522'));
  }
  const startedAt = now();
  const flood = inLanes(Number(values.campaigns), Number(values.lanes), () =>
    flooder.create(onePerson()),
  ).then(() => (state.createdAt = now()));
  const times: { readonly at: number; readonly ms: number }[] = [];
  while (state.createdAt === 0 || now() < state.createdAt + Number(values.seconds) * 1_000) {
    const at = now();
    times.push({ at, ms: await timeOfOne(newcomer) });
  }
  await flood;
  const { createdAt } = state;
  const [endedAt, unfinished] = [now(), await flooder.open()];
  state.isOver = true;
  await watching;
  const part = (name: string, ms: readonly number[]): string =>
    ms.length === 0
      ? `${name} none arrived`
      : `${name} ${ms.length}: median ${seconds(median(ms))}, longest ${seconds(Math.max(...ms))}`;
  say(
    `${values.campaigns} created in ${seconds(createdAt - startedAt)}, ${unfinished} not completed after ${seconds(endedAt - startedAt)}; newcomer alone ` +
      `${seconds(median(alone))}, ${part(
        'while they are created',
        times.filter(({ at }) => at < createdAt).map(({ ms }) => ms),
      )}, ` +
      part(
        'afterwards',
        times.filter(({ at }) => at >= createdAt).map(({ ms }) => ms),
      ),
  );
  say(
    `/readyz ${readiness.length} times, ${readiness.filter(({ status }) => status !== 200).length} not 200, longest ` +
      seconds(Math.max(...readiness.map(({ ms }) => ms))) +
      (imports > 0 ? `; of the imports ${(await first.open()) + (await second.open())} not completed` : ''),
  );
} finally {
  await api.stop();
  await product.stop();
}
