/** Callbacks as large as they may be, in the worst shapes: applying one holds up nothing else of the worker. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCallbackPoll } from '../../../src/commands/callbacks/apply-provider-callbacks.ts';
import { insertProviderCallbacks } from '../../../src/records/callbacks/provider-callbacks.ts';
import { createApplier, messagesCallback, subscribeToAll } from '../../support/callback-fixtures.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { blockOf, mostBlockedMs } from '../../support/watched-server.ts';
import { watchEventLoop } from '../../support/longest-block.ts';

let database: TestDatabase;
let place: SeededCampaign;
const watch = watchEventLoop();

beforeAll(async () => {
  database = await createTestDatabase({ poolSize: 4 });
  place = await seedCampaign(database.pool, { recipients: 1 });
  await subscribeToAll(database.pool, place.workspaceId);
});
afterAll(async () => {
  watch.stop();
  await database.drop();
});

const mebibyte = 1024 * 1024;
const message = (at: number, fields: object) => ({
  id: `wamid.hostile.${at}`,
  from: '4915112345678',
  timestamp: '1749416383',
  type: 'text',
  ...fields,
});
const repeated = (part: string, bytes: number) => part.repeat(bytes / Buffer.byteLength(part));
const times = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

it.each<readonly [string, Parameters<typeof messagesCallback>[1]]>([
  ['a text of blanks', { messages: [message(1, { text: { body: `${repeated(' ', 3 * mebibyte)}stop` } })] }],
  ['a text of marks', { messages: [message(2, { text: { body: `${repeated('!', 3 * mebibyte)} stop` } })] }],
  [
    'a text of letters that NFKC makes longer',
    { messages: [message(3, { text: { body: repeated('\uFDFA', 65_536) } })] },
  ],
  [
    'a message with 10,000 keys',
    { messages: [message(4, Object.fromEntries(times(10_000, (at) => [`k${at}`, {}])))] },
  ],
  ['60,000 messages that cannot be read', { messages: times(60_000, () => ({ id: {}, from: {} })) }],
  [
    '20,000 contacts beside a message',
    { messages: [message(5, {})], contacts: times(20_000, (at) => ({ wa_id: `${at}` })) },
  ],
  [
    '100 messages beside 20,000 contacts',
    {
      messages: times(100, (at) => message(100 + at, {})),
      contacts: times(20_000, (at) => ({ wa_id: `${at}` })),
    },
  ],
  [
    '30,000 statuses of unknown messages',
    { statuses: times(30_000, (at) => ({ id: `wamid.${at}`, status: 'read', timestamp: '1' })) },
  ],
  ['40,000 statuses that cannot be read', { statuses: times(40_000, () => ({ id: {}, status: [] })) }],
])('%s', { timeout: 180_000 }, async (_, value) => {
  const body = Buffer.from(JSON.stringify(messagesCallback(place.channelId, value)));
  expect(body.length).toBeLessThan(4 * mebibyte);
  const applyNext = createCallbackPoll(createApplier(database.pool));
  const { blocked } = await blockOf(watch, mostBlockedMs, async () => {
    await insertProviderCallbacks(database.pool, [body]);
    while ((await applyNext()) > 0);
  });
  expect(blocked).toBeLessThan(mostBlockedMs);
});
