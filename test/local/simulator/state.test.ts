import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountTable, shareOf } from '../../../local/simulator/protocol/count-table.ts';
import { readSimulatorOptions } from '../../../local/simulator/options.ts';
import { startTestSimulator } from './client.ts';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

describe('the state file', () => {
  it('keeps what was received over a restart, and a line cut off by a crash costs nothing else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'simulator-'));
    folders.push(folder);
    const stateFile = join(folder, 'received.jsonl');
    const first = await startTestSimulator({ stateFile });
    for (const to of ['4915100001', '4915100001', '4915100002']) {
      await first.send({ to, template: 'plain_notice', callbackData: `a\nb\t${to}` });
    }
    await first.close();
    appendFileSync(stateFile, '[1763000000000,"106540352242922","4915');

    const second = await startTestSimulator({ stateFile });

    expect(await second.query('messages?to=4915100001')).toMatchObject({
      accepted: 3,
      distinctRecipients: 2,
      repeatedCallbackData: 1,
      toCount: 2,
    });
    await second.send({ to: '4915100003', template: 'plain_notice' });
    await second.close();
    const third = await startTestSimulator({ stateFile });
    expect(await third.query('messages')).toMatchObject({ accepted: 4, distinctRecipients: 3 });
    await third.close();
  });
});

describe('the recipients', () => {
  it('are listed with their counts', async () => {
    const simulator = await startTestSimulator();
    for (const to of ['4915100002', '4915100001', '4915100002'])
      await simulator.send({ to, template: 'plain_notice' });

    const answer = await request(`http://127.0.0.1:${simulator.port}/_simulator/recipients`);
    const lines = (await answer.body.text()).trim().split('\n');
    await simulator.close();

    expect(lines.toSorted()).toEqual(['4915100001,1', '4915100002,2']);
  });
});

describe('createCountTable', () => {
  it('counts numbers and other texts apart, far beyond its first size', () => {
    const table = createCountTable();
    for (let index = 0; index < 50_000; index += 1) {
      table.add(String(4915100000000 + index));
      table.add(`text-${index}`);
    }
    table.add('4915100000007');
    table.add('text-7');
    table.add('0');

    expect(table.distinct).toBe(100_001);
    expect(table.repeated).toBe(2);
    expect([
      table.count('4915100000007'),
      table.count('text-7'),
      table.count('text-8'),
      table.count('other'),
    ]).toEqual([2, 2, 1, 0]);
    const listed = [...table.digits()];
    expect(listed).toHaveLength(50_000);
    expect(listed.filter(({ count }) => count === 2)).toEqual([{ digits: '4915100000007', count: 2 }]);
  });

  it('spreads texts evenly', () => {
    const shares = Array.from({ length: 10_000 }, (_, index) => shareOf(String(4915100000000 + index)));

    const below = shares.filter((share) => share < 0.25).length;
    expect(below).toBeGreaterThan(2300);
    expect(below).toBeLessThan(2700);
  });
});

describe('readSimulatorOptions', () => {
  it('has a default for everything', () => {
    expect(readSimulatorOptions({})).toMatchObject({ port: 0, callbackUrl: undefined, stateFile: undefined });
  });

  it('names every problem at once', () => {
    const environment = {
      SIMULATOR_PORT: 'x',
      SIMULATOR_CALLBACK_URL: 'nowhere',
      SIMULATOR_PHONE_NUMBER_ID: '+49',
    };

    expect(() => readSimulatorOptions(environment)).toThrow(
      /SIMULATOR_PORT.*SIMULATOR_CALLBACK_URL.*SIMULATOR_PHONE_NUMBER_ID/,
    );
  });
});
