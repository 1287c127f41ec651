/** Follows, pauses, pays for and cancels campaigns, and looks at every screen. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  admin,
  atPace,
  client,
  createCampaign,
  expectAtScreen,
  expectFocus,
  expectNoViolation,
  expectNoViolationInState,
  goTo,
  hasten,
  lookAt,
  lookAtState,
  openCampaign,
  people,
  photograph,
  photographBoth,
  sampled,
  signOut,
  stack,
  use,
  visit,
  within,
} from './fixture.ts';

const places = [
  'Overview',
  'Campaigns',
  'New campaign',
  'Contacts',
  'Segments',
  'Conversations',
  'Templates',
  'Webhooks',
  'Wallet',
  'Channels',
  'Activity',
];

// 255 code points: markup, a turn of the writing direction, and signs of two UTF-16 units.
const hostile = `<script>alert(1)</script>\u202E\u{1F44B}${'x'.repeat(228)}`;

it('follows a campaign to its end; the screens are without a violation', async () => {
  expect(Array.from(hostile)).toHaveLength(255);
  const id = await createCampaign(hostile, people(300, 20_000_000));
  await within(async (page) => {
    await goTo(page, 'Campaigns');
    await page.getByText(hostile).first().click();
    await page.getByRole('heading', { name: hostile }).waitFor();
    await page.getByText(/^Completed: /).waitFor({ timeout: 60_000 });
    expect(await page.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('100');
    const bar = page.getByRole('img', { name: /Delivered|Sent|Read/ }).first();
    expect(await bar.getAttribute('aria-label')).toMatch(/\d/);
    await page.getByRole('img', { name: /^Messages per minute/ }).waitFor();
    await page.getByText('Table', { exact: true }).click();
    await page.getByRole('columnheader', { name: 'Delivered' }).waitFor();
    await page.getByText('Plot', { exact: true }).click();
    await lookAt(page, 'campaign');
    await page.getByText('For developers').click();
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
    await lookAt(page, 'recipient', { fullPage: false });
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.getByRole('row').count()).toBe(101);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(201);
    await page.locator('time').first().hover();
    await page
      .getByRole('tooltip')
      .getByText(/20\d\d, \d\d:\d\d:\d\d CES?T$/)
      .waitFor();
    for (const place of places) {
      await goTo(page, place);
      await page.getByRole('heading', { name: place, level: 1 }).waitFor();
      expect(await page.title()).toBe(`${place} · Messaging campaigns`);
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
      const look = sampled(places).includes(place) ? lookAt : lookAtState;
      await look(page, place.toLowerCase().replace(' ', '-'));
    }
    const kept = await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
    expect(kept).not.toContain('mc_');
    await signOut(page);
    await lookAt(page, 'sign-in');
  });
});

it('pauses for want of money, says how much, and goes on after Recharge and Start, by the keyboard alone', async () => {
  const { balance } = (await api.getWallet(client, { channel_id: stack.dev.channelId })).data;
  const amount = (0.6 - Number(balance)).toFixed(6);
  const wallet = ['--channel-id', stack.dev.channelId, '--amount'];
  await admin(['adjust-wallet', ...wallet, amount, '--reason', 'A wallet that runs dry']);
  const id = await createCampaign('Dry', people(101, 30_000_000));
  await within(async (page) => {
    await openCampaign(page, id, 'Dry');
    // 0.055 a message: ten of 101 are paid for. An odd number lacks an amount with three decimals.
    const sentence = page.getByText(
      'Paused: the wallet holds 0.05 USD and the next message costs 0.055 USD. 91 people still to send.',
    );
    await sentence.waitFor({ timeout: 30_000 });
    await page
      .getByText('Recharge at least 4.955 USD to send to all, then start the campaign again.')
      .waitFor();
    await lookAtState(page, 'campaign-dry');
    await use(page, page.getByRole('link', { name: 'Recharge' }));
    await use(page, page.getByLabel('Operator key', { exact: true }));
    await page.keyboard.type(stack.dev.operatorKey);
    await page.keyboard.press('Enter');
    const field = page.getByLabel('Amount in USD');
    await expectFocus(page, field);
    await expect.poll(() => field.inputValue()).toBe('4.955');
    await lookAtState(page, 'wallet-dry');
    await photograph(page, 'docs-wallet', { fullPage: false });
    const recharge = page.getByRole('button', { name: 'Recharge' });
    await use(page, recharge);
    await page.getByText('4.955 USD added; balance 5.005 USD.').waitFor();
    await expectFocus(page, recharge);
    await page.getByText('5.005 USD', { exact: true }).first().waitFor();
    await use(page, page.getByRole('button', { name: 'Start' }));
    await page.getByRole('heading', { name: 'Dry' }).waitFor();
    await expectAtScreen(page);
    await page.getByText(/^Completed: /).waitFor({ timeout: 30_000 });
  });
  const ended = (await api.getWallet(client, { channel_id: stack.dev.channelId })).data;
  expect(Number(ended.balance)).toBeLessThan(0.3);
  await admin(['recharge', ...wallet, '1000']);
});

it('pauses, starts and cancels by the keyboard alone, and asks before it cancels', () =>
  atPace(20, async () => {
    const id = await createCampaign('Keyboard', people(900, 40_000_000));
    const { page, mishaps, close } = await visit();
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    try {
      await page.goto(stack.dev.dashboardUrl);
      await page.getByLabel('API key', { exact: true }).waitFor();
      await page.keyboard.type(stack.dev.apiKey);
      await page.keyboard.press('Enter');
      await use(page, page.getByRole('link', { name: 'Campaigns', exact: true }));
      await use(page, page.getByRole('link', { name: /^Keyboard/ }));
      await page.getByText('● live').waitFor();
      await use(page, button('Pause'));
      await page
        .getByText(/^A user or an operator paused the campaign\. \d+ people still to send\.$/)
        .waitFor();
      await expectFocus(page, button('Pause'));
      await photographBoth(page, 'campaign-paused');
      await use(page, button('Start'));
      await page.getByText(/^Sending\. \d+ people still to send\.$/).waitFor();
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('MAIN');
      await use(page, button('Cancel'));
      const question = page.getByRole('dialog', { name: 'Cancel this campaign?' });
      await question.getByText(/people will not get a message/).waitFor();
      await expectFocus(page, button('Keep campaign'));
      await lookAtState(page, 'campaign-cancel', { fullPage: false });
      await page.keyboard.press('Escape');
      await question.waitFor({ state: 'hidden' });
      await expectFocus(page, button('Cancel'));
      const read = async () => (await api.getCampaign(client, id)).data;
      expect((await read()).status).toBe('RUNNING');
      await page.keyboard.press('Enter');
      await use(page, button('Cancel the campaign'));
      await page.getByText(/^Cancelled: /).waitFor();
      await expectAtScreen(page);
      expect((await read()).status).toBe('CANCELLED');
      await expect.poll(async () => (await read()).counters.cancelled).toBeGreaterThan(100);
      expect(mishaps).toEqual([]);
    } finally {
      await close();
    }
  }));

it('leaves a campaign paused that two operators pause: no click or key is taken for a start', () =>
  atPace(5, async () => {
    const id = await createCampaign('Paused twice', people(300, 60_000_000));
    await within(async (page) => {
      const pressed: string[] = [];
      page.on('request', (request) => {
        if (/\/(start|pause)$/.test(request.url())) pressed.push(request.url());
      });
      // Reaching the server, a request that is sent later than those of the clicks shows that they sent none.
      const settle = () => page.evaluate(`fetch('/dashboard/session').then(() => undefined)`);
      await openCampaign(page, id, 'Paused twice');
      await page.getByText('● live').waitFor();
      const pause = page.getByRole('button', { name: 'Pause', exact: true });
      const { x, y } = (await pause.boundingBox()) ?? { x: 0, y: 0 };
      await pause.focus();
      await page.mouse.move(x + 20, y + 10);
      await api.pauseCampaign(client, id);
      await page.getByText(/^A user or an operator paused/).waitFor();
      await page.mouse.click(x + 20, y + 10);
      await page.keyboard.press('Enter');
      await settle();
      await api.startCampaign(client, id);
      await goTo(page, 'Campaigns');
      await page.getByRole('button', { name: 'Actions for Paused twice' }).click();
      const item = page.getByRole('menuitem', { name: 'Pause', exact: true });
      await item.waitFor();
      await expectNoViolation(page, ['color-contrast']);
      const place = (await item.boundingBox()) ?? { x: 0, y: 0 };
      await page.mouse.move(place.x + 20, place.y + 10);
      await api.pauseCampaign(client, id);
      await page
        .getByRole('row', { name: /Paused twice/ })
        .getByText('Paused', { exact: true })
        .waitFor();
      await page.mouse.click(place.x + 20, place.y + 10);
      await settle();
      expect(pressed).toEqual([]);
      await api.cancelCampaign(client, id);
    });
  }));

it('shows the pending recipients of each campaign on a channel', () =>
  atPace(5, async () => {
    const id = await createCampaign('Queue', people(100, 70_000_000));
    await expect
      .poll(async () => (await api.getCampaign(client, id)).data.counters.pending)
      .toBeGreaterThan(0);
    await within(async (page) => {
      await page.clock.install();
      await goTo(page, 'Channels');
      await hasten(page, page.getByText('1 campaign sends on it:'));
      const entry = page.getByRole('listitem').filter({ hasText: /^Queue: \d+ people still to send\./ });
      await entry.waitFor();
      expect(await entry.getByRole('link', { name: 'In Temporal' }).getAttribute('href')).toContain(id);
      await lookAtState(page, 'channels-queue');
      await api.cancelCampaign(client, id);
      await hasten(page, page.getByText('Not in use.'));
    });
  }));

it('can be read and paused on a phone', () =>
  atPace(20, async () => {
    const id = await createCampaign('On a phone', people(300, 50_000_000));
    await within(
      async (page) => {
        const expectFits = async () =>
          expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
            390,
          );
        await openCampaign(page, id, 'On a phone');
        await page.getByText('● live').waitFor();
        await page.getByRole('img', { name: /^Messages per minute/ }).waitFor();
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('dialog').waitFor();
        await photographBoth(page, 'campaign-cancel-phone', { fullPage: false });
        await page.getByRole('button', { name: 'Keep campaign' }).click();
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.getByText(/^A user or an operator paused/).waitFor();
        await expectFits();
        await expectNoViolationInState(page);
        await photographBoth(page, 'campaign-phone');
        await page.getByRole('link', { name: /^Pending/ }).click();
        await page
          .getByRole('link', { name: /^\+49151500/ })
          .first()
          .click();
        await page.getByRole('dialog').getByText('Pending').waitFor();
        await photographBoth(page, 'recipient-phone', { fullPage: false });
        await page.getByRole('button', { name: 'Close' }).click();
        await photographBoth(page, 'recipients-phone', { fullPage: false });
        await expectFits();
        await page.getByRole('button', { name: 'Open navigation' }).click();
        await goTo(page, 'Campaigns');
        await expectFits();
        await api.cancelCampaign(client, id);
        await signOut(page);
        await photographBoth(page, 'sign-in-phone');
      },
      { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    );
  }));
