/** Worker processes of the build, side by side on one campaign. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSendingFixture, type SendingFixture } from './sending-fixture.ts';

let fixture: SendingFixture;
let previousBuild: string;
beforeAll(async () => {
  [fixture, previousBuild] = await Promise.all([createSendingFixture(), makePreviousBuild()]);
});
afterEach(async () => {
  fixture.provider.watch = {};
  await fixture.clear();
});
afterAll(async () => {
  await fixture?.close();
  await rm(previousBuild, { recursive: true, force: true });
});

/** A release that claims smaller batches: the contract is the same, the code differs. */
async function makePreviousBuild(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-previous-'));
  await cp(resolve('dist'), join(folder, 'dist'), {
    recursive: true,
    filter: (path) => !path.endsWith('.locks'),
  });
  for (const name of ['package.json', 'sql', 'tools']) {
    await cp(resolve(name), join(folder, name), { recursive: true });
  }
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  const step = join(folder, 'dist/src/commands/sending/batch-claimer.js');
  const text = await readFile(step, 'utf8');
  const changed = text.replace(/const largestBatch = [\d_]+;/, 'const largestBatch = 4;');
  if (changed === text) throw new Error('The constant that makes the other build is gone');
  await writeFile(step, changed);
  return folder;
}

/** Calls `act` once so many messages were accepted, before the last of them is answered. */
const onceAccepted = (messages: number, act: () => void) =>
  new Promise<void>((done) => {
    fixture.provider.watch.after = () => {
      if (fixture.provider.accepted.length !== messages) return;
      act();
      done();
    };
  });

const sharesOf = (...names: readonly string[]) =>
  names.map((name) => fixture.provider.accepted.filter(({ root }) => root === name).length);

describe('two workers on one campaign', () => {
  it('send it one after the other, of two builds and with clocks minutes apart that are set meanwhile', async () => {
    const [recipients, rate] = [480, 60];
    const workers = await Promise.all([
      fixture.startWorker({ name: 'ahead', clock: { CLOCK_SHIFT_MS: '1020000', CLOCK_STEP_MS: '-240000' } }),
      fixture.startWorker({
        name: 'behind',
        folder: previousBuild,
        clock: { CLOCK_SHIFT_MS: '-1020000', CLOCK_STEP_MS: '360000' },
      }),
    ]);
    // Stops the worker that holds the slot; the remaining worker continues.
    const stopped = onceAccepted(recipients / 3, () =>
      workers[sharesOf('ahead', 'behind')[0] === 0 ? 1 : 0].child.kill('SIGTERM'),
    );
    const seeded = await fixture.startCampaign(recipients, rate);
    await stopped;
    await fixture.untilCompleted(seeded);
    expect(await fixture.expectSound(seeded)).toMatchObject({ accepted: recipients, unknown: 0 });
    for (const share of sharesOf('ahead', 'behind')) expect(share).toBeGreaterThan(recipients / 5);
    const times = fixture.provider.accepted.map(({ at }) => at);
    // Eight seconds at the channel's rate; two workers that did not share its schedule would take half of that.
    const leastMs = (0.75 * recipients * 1_000) / rate;
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(leastMs);
  });

  it('lose and repeat no recipient when one of them dies, and the other continues', async () => {
    const recipients = 480;
    const workers = await Promise.all([
      fixture.startWorker({ name: 'victim', graceSeconds: 5 }),
      fixture.startWorker({ name: 'survivor', graceSeconds: 5 }),
    ]);
    let sharesThen: readonly number[] = [];
    const killed = onceAccepted(recipients / 3, () => {
      sharesThen = sharesOf('victim', 'survivor');
      workers[sharesThen[0] === 0 ? 1 : 0].child.kill('SIGKILL');
    });
    const seeded = await fixture.startCampaign(recipients, 60);
    await killed;
    await fixture.untilCompleted(seeded);
    const { unknown } = await fixture.expectSound(seeded);
    expect(unknown).toBeLessThanOrEqual(120);
    const shares = sharesOf('victim', 'survivor');
    const [dead = 0, alive = 0] = sharesThen[0] === 0 ? shares.toReversed() : shares;
    expect(dead).toBeGreaterThan(0);
    expect(alive).toBeGreaterThan(recipients / 3);
  });

  it('repeat no recipient when one of them is stopped in mid-send, and continues after the other took over', async () => {
    const recipients = 600;
    const names = ['one', 'other'] as const;
    const workers = await Promise.all(names.map((name) => fixture.startWorker({ name, graceSeconds: 4 })));
    const seeded = await fixture.startCampaign(recipients, 60);
    await expect.poll(() => fixture.provider.accepted.length).toBeGreaterThan(60);
    const sleeper = sharesOf('one')[0] === 0 ? 1 : 0;
    const survivor = names[1 - sleeper] ?? '';
    workers[sleeper]?.child.kill('SIGSTOP');
    // Temporal misses the heartbeats of its steps after eight seconds; its claims become UNKNOWN after four.
    await expect.poll(() => sharesOf(survivor)[0], { timeout: 400_000 }).toBeGreaterThan(30);
    workers[sleeper]?.child.kill('SIGCONT');
    await fixture.untilCompleted(seeded);
    const { unknown } = await fixture.expectSound(seeded);
    expect(unknown).toBeLessThanOrEqual(120);
    expect(workers[sleeper]?.child.exitCode).toBeNull();
  });
});
