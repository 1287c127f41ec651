/** A campaign's page while the network is gone, and while the API or the worker restarts. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  atPace,
  client,
  createCampaign,
  everyCase,
  expectNoViolationInState,
  openCampaign,
  people,
  photographBoth,
  stack,
  within,
} from './fixture.ts';

/** Returns how many recipients the progress bar says are done; it shows no number until recipients are prepared. */
async function doneOf(page: Page): Promise<number> {
  const text = (await page.getByRole('progressbar').textContent()) ?? '';
  return Number((/^([\d,]+) of/.exec(text)?.[1] ?? '0').replaceAll(',', ''));
}

it('says that the network is gone, does nothing later that was pressed meanwhile, and goes on when it is back', () =>
  atPace(20, async () => {
    const id = await createCampaign('Offline', people(3_000, 80_000_000));
    await within(async (page) => {
      await openCampaign(page, id, 'Offline');
      await page.getByText('● live').waitFor();
      await page.context().setOffline(true);
      await page.getByText('connecting …').waitFor({ timeout: 30_000 });
      await page
        .getByRole('alert')
        .getByText(/^No connection to the service/)
        .waitFor();
      const before = await doneOf(page);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page
        .getByRole('alert')
        .getByText(/^The service did not answer/)
        .waitFor();
      await expectNoViolationInState(page);
      await photographBoth(page, 'campaign-offline', { fullPage: false });
      await page.context().setOffline(false);
      await page.getByText('● live').waitFor({ timeout: 30_000 });
      await page.getByText(/^No connection to the service/).waitFor({ state: 'hidden' });
      await expect.poll(() => doneOf(page), { timeout: 60_000 }).toBeGreaterThan(before);
      expect((await api.getCampaign(client, id)).data.status).toBe('RUNNING');
      await api.cancelCampaign(client, id);
    });
  }));

const restarts = [
  ['API', 'api', 60_000_000],
  ['worker', 'worker', 65_000_000],
] as const;

it.each(restarts.filter(([, name]) => everyCase || name === 'api'))(
  'is live again after the %s was killed, without a reload',
  (_, killed, numbersFrom) =>
    atPace(20, () =>
      within(async (page) => {
        const name = `Without the ${killed}`;
        const id = await createCampaign(name, people(3_000, numbersFrom));
        await openCampaign(page, id, name);
        await page.getByText('● live').waitFor();
        await page.evaluate('window.stayed = true');
        const pidOf = async () => (await stack.readDev()).pids[killed] ?? 0;
        const dead = await pidOf();
        process.kill(dead, 'SIGKILL');
        if (killed === 'api') await page.getByText('connecting …').waitFor();
        await expect.poll(pidOf).not.toBe(dead);
        await page.getByText('● live').waitFor({ timeout: 30_000 });
        const before = await doneOf(page);
        await expect.poll(() => doneOf(page), { timeout: 60_000 }).toBeGreaterThan(before);
        expect(await page.evaluate('window.stayed')).toBe(true);
        // Claimed messages may wait for receipts longer than the test runs.
        await api.cancelCampaign(client, id);
        await page.getByText(/^Cancelled: /).waitFor({ timeout: 30_000 });
      }),
    ),
);

it.each(everyCase ? ['the API'] : [])(
  'says within a minute that %s no longer answers, although its connections stay open',
  () =>
    atPace(20, () =>
      within(async (page) => {
        const id = await createCampaign('Frozen API', people(3_000, 68_000_000));
        await openCampaign(page, id, 'Frozen API');
        await page.getByText('● live').waitFor();
        const pid = (await stack.readDev()).pids.api ?? 0;
        process.kill(pid, 'SIGSTOP');
        try {
          await page
            .getByRole('alert')
            .getByText(/^No connection to the service/)
            .waitFor({ timeout: 60_000 });
          await page.getByText('connecting …').waitFor();
        } finally {
          process.kill(pid, 'SIGCONT');
        }
        await page.getByText('● live').waitFor({ timeout: 60_000 });
        await api.cancelCampaign(client, id);
      }),
    ),
);
