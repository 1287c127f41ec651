/** The dashboard in a real browser, on the built stack: a campaign followed, paused, paid for, cancelled, and every screen looked at. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as api from '../../clients/typescript/src/index.ts';
import { launchBrowser } from '../support/browser.ts';
import {
  admin,
  clientOf,
  expectNoViolation,
  photograph,
  signedIn,
  visit,
  type Visit,
} from '../support/dashboard.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
let browser: Browser;
let client: api.Client;
beforeAll(async () => {
  [stack, browser] = await Promise.all([startTestStack(), launchBrowser()]);
  client = clientOf(stack);
}, 150_000);
afterAll(async () => {
  await browser?.close();
  await stack?.remove();
}, 60_000);

async function createCampaign(name: string, people: number, numbersFrom = 20_000_000): Promise<string> {
  const { data } = await api.createCampaign(client, {
    name,
    template_id: stack.dev.templateIds['plain_notice'] ?? '',
    contact_selection_type: 'quick_contacts',
    quick_contacts: Array.from({ length: people }, (_, at) => `+49151${numbersFrom + at}`),
    send_type: 'IMMEDIATE',
  });
  return data.campaign.id;
}

const setPace = (perSecond: number) =>
  admin(stack, [
    'update-channel',
    '--channel-id',
    stack.dev.channelId,
    '--messages-per-second',
    `${perSecond}`,
  ]);

const within = (use: (visited: Visit) => Promise<void>, options = {}) =>
  signedIn(browser, stack, use, options);

const openCampaign = async (page: Page, id: string, name: string) => {
  await page.goto(`${stack.dev.dashboardUrl}/campaigns/${id}`);
  await page.getByRole('heading', { name, exact: true }).waitFor();
};

// 255 code points: markup, a turn of the writing direction, and signs of two UTF-16 units.
const hostile = `<script>alert(1)</script>\u202E\u{1F44B}${'x'.repeat(228)}`;

it.each(['light', 'dark'] as const)(
  'follows a campaign to its end; every screen is without a violation (%s)',
  async (colorScheme) => {
    expect(Array.from(hostile)).toHaveLength(255);
    await within(
      async ({ page }) => {
        const name = `${hostile.slice(0, -6)} ${colorScheme}`.slice(0, 256);
        const id = await createCampaign(name, 300);
        await page.getByText(name).first().click();
        await page.getByRole('heading', { name }).waitFor();
        await page.getByText(/^Completed: /).waitFor({ timeout: 60_000 });
        expect(await page.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('100');
        const bar = page.getByRole('img', { name: /Delivered|Sent|Read/ }).first();
        expect(await bar.getAttribute('aria-label')).toMatch(/\d/);
        await page.getByRole('img', { name: /^Messages per minute/ }).waitFor();
        await page.getByText('Table', { exact: true }).click();
        await page.getByRole('columnheader', { name: 'Delivered' }).waitFor();
        await page.getByText('Plot', { exact: true }).click();
        await expectNoViolation(page);
        await photograph(page, `campaign-${colorScheme}`);
        const workflow = page.waitForEvent('popup');
        await page.getByRole('link', { name: `campaign-${id}` }).click();
        await (await workflow).getByRole('heading', { name: `campaign-${id}` }).waitFor();
        await (await workflow).close();
        await page.goto(`${stack.dev.dashboardUrl}/campaigns/${id}/recipients`);
        await page.getByRole('heading', { name: 'Recipients' }).waitFor();
        await page.getByRole('link', { name: '+4915120000007' }).waitFor();
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(1_280);
        await page.getByRole('link', { name: '+4915120000007' }).click();
        await page.getByRole('figure').waitFor();
        await expectNoViolation(page);
        await photograph(page, `recipient-${colorScheme}`);
        await page.getByRole('button', { name: 'Close' }).click();
        expect(await page.getByRole('row').count()).toBe(101);
        await page.getByRole('button', { name: 'Show more' }).click();
        await expect.poll(() => page.getByRole('row').count(), { timeout: 10_000 }).toBe(201);
        await page.locator('time').first().hover();
        await page
          .getByRole('tooltip')
          .getByText(/20\d\d, \d\d:\d\d:\d\d CES?T$/)
          .waitFor();
        for (const place of ['Campaigns', 'Wallet', 'Webhooks', 'Templates', 'Channels', 'New campaign']) {
          await page.getByRole('navigation').getByRole('link', { name: place, exact: true }).click();
          await page.getByRole('heading', { name: place, level: 1 }).waitFor();
          await page.waitForLoadState('networkidle');
          await expectNoViolation(page);
          await photograph(page, `${place.toLowerCase().replace(' ', '-')}-${colorScheme}`);
        }
        expect(
          await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })'),
        ).not.toContain('mc_');
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByLabel('API key', { exact: true }).waitFor();
        await expectNoViolation(page);
        await photograph(page, `sign-in-${colorScheme}`);
      },
      { colorScheme },
    );
  },
  120_000,
);

it('pauses for want of money, says how much, and goes on after Recharge and Start', async () => {
  const { balance } = (await api.getWallet(client, { channel_id: stack.dev.channelId })).data;
  const amount = (0.6 - Number(balance)).toFixed(6);
  const wallet = ['--channel-id', stack.dev.channelId, '--amount'];
  await admin(stack, ['adjust-wallet', ...wallet, amount, '--reason', 'A wallet that runs dry']);
  await within(async ({ page }) => {
    const id = await createCampaign('Dry', 100, 30_000_000);
    await openCampaign(page, id, 'Dry');
    // 0.055 a message: ten of a hundred are paid for.
    const sentence = page.getByText(
      'Paused: the wallet holds 0.05 USD and the next message costs 0.055 USD. 90 people wait.',
    );
    await sentence.waitFor({ timeout: 30_000 });
    await page.getByText('Recharge at least 4.9 USD to send to all, then start it again.').waitFor();
    await expectNoViolation(page);
    await photograph(page, 'campaign-dry');
    await page.getByRole('link', { name: 'Recharge' }).click();
    await page.getByLabel('Operator key', { exact: true }).fill(stack.dev.operatorKey);
    await page.getByRole('button', { name: 'Allow recharging' }).click();
    await expect.poll(() => page.getByLabel('Amount in USD').inputValue()).toBe('4.9');
    await photograph(page, 'wallet-dry');
    await photograph(page, 'docs-wallet', { fullPage: false });
    await page.getByRole('button', { name: 'Recharge' }).click();
    await page.getByText('Recharged.', { exact: true }).waitFor();
    await page.getByText('4.95 USD', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('link', { name: 'Back to the campaign' }).click();
    await page.getByText(/^Completed: /).waitFor({ timeout: 30_000 });
  });
  const ended = (await api.getWallet(client, { channel_id: stack.dev.channelId })).data;
  expect(Number(ended.balance)).toBeLessThan(0.3);
  await admin(stack, ['recharge', ...wallet, '1000']);
}, 90_000);

it('pauses, starts and cancels by the keyboard alone, and asks before it cancels', async () => {
  await setPace(20);
  const visited = await visit(browser);
  const { page } = visited;
  /** Walks with Tab until the thing has the focus, then uses it with Enter. */
  const use = async (wanted: Locator) => {
    await wanted.waitFor();
    const focused = wanted.and(page.locator(':focus'));
    for (let step = 0; step < 80 && (await focused.count()) === 0; step += 1)
      await page.keyboard.press('Tab');
    expect(await focused.count()).toBe(1);
    await page.keyboard.press('Enter');
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  try {
    const id = await createCampaign('Keyboard', 400, 40_000_000);
    await page.goto(stack.dev.dashboardUrl);
    await page.getByLabel('API key', { exact: true }).waitFor();
    await page.keyboard.type(stack.dev.apiKey);
    await page.keyboard.press('Enter');
    await use(page.getByRole('link', { name: /^Keyboard/ }));
    await page.getByText('● live').waitFor();
    await use(button('Pause'));
    await page.getByText(/^Paused by an operator\. \d+ people wait\.$/).waitFor();
    await photograph(page, 'campaign-paused');
    await use(button('Start'));
    await page.getByText(/^Sending\. \d+ people wait\.$/).waitFor();
    await use(button('Cancel'));
    const question = page.getByRole('dialog', { name: 'Cancel this campaign?' });
    await question.getByText(/people who wait will never be sent to/).waitFor();
    await expectNoViolation(page);
    await photograph(page, 'campaign-cancel');
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    expect((await api.getCampaign(client, id)).data.status).toBe('RUNNING');
    await use(button('Cancel'));
    await use(button('Cancel the campaign'));
    await page.getByText('Cancelled: who was not sent to by then never will be.').waitFor();
    const read = async () => (await api.getCampaign(client, id)).data;
    expect((await read()).status).toBe('CANCELLED');
    await expect
      .poll(async () => (await read()).counters.cancelled, { timeout: 20_000 })
      .toBeGreaterThan(100);
    expect(visited.mishaps).toEqual([]);
  } finally {
    await visited.close();
    await setPace(1_000);
  }
}, 90_000);

it('shows on a channel who waits, and of which campaign', async () => {
  await setPace(5);
  try {
    await within(async ({ page }) => {
      const id = await createCampaign('Queue', 100, 70_000_000);
      await page.getByRole('navigation').getByRole('link', { name: 'Channels' }).click();
      await page.getByText('1 campaign sends on it:').waitFor();
      const entry = page.getByRole('listitem').filter({ hasText: /^Queue: \d+ people wait\./ });
      await entry.waitFor();
      expect(await entry.getByRole('link', { name: 'In Temporal' }).getAttribute('href')).toContain(id);
      await expectNoViolation(page);
      await photograph(page, 'channels-queue');
      await api.cancelCampaign(client, id);
      await page.getByText('No campaign sends on it now.').waitFor();
    });
  } finally {
    await setPace(1_000);
  }
}, 60_000);

it('can be read and paused on a phone', async () => {
  await setPace(20);
  try {
    await within(
      async ({ page }) => {
        const id = await createCampaign('On a phone', 300, 50_000_000);
        await openCampaign(page, id, 'On a phone');
        await page.getByText('● live').waitFor();
        const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
        expect(await width()).toBeLessThanOrEqual(390);
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.getByText(/^Paused by an operator/).waitFor();
        await page.waitForTimeout(300);
        await expectNoViolation(page);
        await photograph(page, 'campaign-phone');
        for (const place of ['Campaigns', 'Wallet', 'Webhooks', 'Templates', 'Channels', 'New campaign']) {
          await page.getByRole('button', { name: 'Open navigation' }).click();
          await page.getByRole('navigation').getByRole('link', { name: place, exact: true }).click();
          await page.getByRole('heading', { name: place, level: 1 }).waitFor();
          expect(await width()).toBeLessThanOrEqual(390);
        }
        await photograph(page, 'new-campaign-phone');
        await api.cancelCampaign(client, id);
      },
      { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    );
  } finally {
    await setPace(1_000);
  }
}, 90_000);

it.each([
  ['API', 'api', 60_000_000],
  ['worker', 'worker', 65_000_000],
] as const)(
  'is live again after the %s was killed, without a reload',
  async (_, killed, numbersFrom) => {
    await setPace(20);
    try {
      await within(async ({ page }) => {
        const name = `Without the ${killed}`;
        const id = await createCampaign(name, 300, numbersFrom);
        await openCampaign(page, id, name);
        await page.getByText('● live').waitFor();
        await page.evaluate('window.stayed = true');
        const pidOf = async () => (await stack.readDev()).pids[killed] ?? 0;
        const dead = await pidOf();
        process.kill(dead, 'SIGKILL');
        if (killed === 'api') await page.getByText('connecting …').waitFor();
        await expect.poll(pidOf, { timeout: 30_000 }).not.toBe(dead);
        await page.getByText('● live').waitFor({ timeout: 30_000 });
        const doneOf = async () =>
          Number(/^(\d+) of/.exec((await page.getByRole('progressbar').textContent()) ?? '')?.[1]);
        const before = await doneOf();
        await expect.poll(doneOf, { timeout: 60_000 }).toBeGreaterThan(before);
        expect(await page.evaluate('window.stayed')).toBe(true);
        // What the worker had claimed may wait for receipts for longer than a test does.
        await api.cancelCampaign(client, id);
        await page.getByText(/^Cancelled: /).waitFor({ timeout: 30_000 });
      });
    } finally {
      await setPace(1_000);
    }
  },
  120_000,
);
