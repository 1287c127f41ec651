/** Uploaded files in the worst shapes: neither the upload nor the preview of one delays other requests. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import {
  blockOf,
  mostBlockedMs,
  startWatchedServer,
  type WatchedServer,
} from '../../support/watched-server.ts';

let api: TestApi;
let server: WatchedServer;
let workspace: SeededWorkspace;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  server = await startWatchedServer(api);
});
afterAll(async () => {
  await server.close();
  await api.close();
});

const headers = () => ({ 'X-API-Key': workspace.channelKey });
const upload = (csv: string) => {
  const form = new FormData();
  form.set('file', new Blob([csv]), 'a.csv');
  return fetch(`http://127.0.0.1:${server.port}/api/campaigns/csv-files`, {
    method: 'POST',
    headers: headers(),
    body: form,
  });
};
const preview = (key: string) =>
  fetch(`http://127.0.0.1:${server.port}/api/campaigns/csv-files/${key}/preview`, {
    method: 'POST',
    headers: { ...headers(), 'Content-Type': 'application/json' },
    body: '{}',
  });

const fill = (part: string, bytes = 8_000_000) => part.repeat(bytes / Buffer.byteLength(part));
const wide = (cell: string, columns: number) => Array(columns).fill(cell).join(',');

it.each([
  ['cells that are almost an e-mail address', `phone,country\n${fill('@.', 900_000)} x,49\n`],
  ['10,000 columns', `${wide('name', 10_000)}\n${`${wide('15112345678', 10_000)}\n`.repeat(40)}`],
  ['half a million columns', `${wide('a', 500_000)}\n${`${wide('b', 500_000)}\n`.repeat(8)}`],
  [
    'columns with long names',
    `${wide('n'.repeat(2_000), 500)}\n${`${wide('b'.repeat(2_000), 500)}\n`.repeat(8)}`,
  ],
  [
    'control characters',
    `${wide('\u0001'.repeat(200), 500)}\n${`${wide('\u0001'.repeat(200), 500)}\n`.repeat(20)}`,
  ],
  [
    'letters of four bytes',
    `${wide('😀'.repeat(100), 500)}\n${`${wide('😀'.repeat(100), 500)}\n`.repeat(20)}`,
  ],
  ['rows that are all wrong', `phone,country\n${fill('nonsense,xx\n')}`],
  ['numbers that only libphonenumber can check', `phone,country\n${fill('01511234567890,49\n')}`],
  ['rows with too many cells', `phone,country\n${fill('1,2,3,4,5,6,7,8\n')}`],
  ['blank lines', `phone,country\n${fill('\n')}15112345678,49\n`],
  ['quotes', `phone,country\n${fill('"a"b"c,49\n')}`],
  ['an open quote', `phone,country\n"${fill('15112345678,49\n')}`],
  ['cells of a megabyte', `phone,country\n${`${fill('9', 1_000_000)},49\n`.repeat(8)}`],
  ['one line', fill('a,')],
])('%s', async (_, csv) => {
  const { answer: uploaded, blocked } = await blockOf(server, mostBlockedMs, () => upload(csv));
  const text = await uploaded.text();
  expect.soft(blocked, `upload: ${uploaded.status}`).toBeLessThan(mostBlockedMs);
  expect.soft(uploaded.status).toBeLessThan(500);
  expect.soft(Buffer.byteLength(text)).toBeLessThan(64 * 1024);
  if (uploaded.status !== 201) return;
  const { data } = JSON.parse(text) as { readonly data: { readonly csv_file_key: string } };
  const shown = await blockOf(server, mostBlockedMs, () => preview(data.csv_file_key));
  const previewed = shown.answer;
  const size = (await previewed.arrayBuffer()).byteLength;
  expect.soft(shown.blocked, `preview: ${previewed.status}`).toBeLessThan(mostBlockedMs);
  expect.soft(previewed.status).toBeLessThan(500);
  expect.soft(size).toBeLessThan(64 * 1024);
});
