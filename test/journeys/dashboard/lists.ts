/** Filters and exports recipients; reads what a webhook receiver was sent, and sends it again. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';
import {
  client,
  createCampaign,
  expectFocus,
  expectNoViolationInState,
  goTo,
  lookAt,
  photographBoth,
  stack,
  tabTo,
  use,
  within,
} from './fixture.ts';

it('filters recipients in the address, and exports those alone', async () => {
  const numbers = ['+4915166131026', '+4915266131026', '+4915120000001', '+4915120000002'];
  const id = await createCampaign('Some fail', numbers);
  await within(async (page) => {
    // The diagnosis must fit the counters shown with it, not those of an earlier response.
    await page.route('**/diagnosis', async (route) => {
      const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
      const response = await route.fetch({ headers });
      const { data: entries, ...rest } = (await response.json()) as { data: object[] };
      const stale = entries.with(0, { ...entries[0], detail: 'What was so before' });
      await route.fulfill({ response, json: { ...rest, data: stale } });
    });
    await page.route('**/assets/canvas-*.js', (route) => route.abort());
    await page.goto(`${stack.dev.dashboardUrl}/campaigns/${id}`);
    // In place of the plot that cannot be loaded.
    await page.getByRole('columnheader', { name: 'Delivered' }).waitFor({ timeout: 30_000 });
    await page.getByText('Completed: sent to 2 of 4 people; 2 failed.').waitFor({ timeout: 30_000 });
    await page.getByRole('link', { name: /^2 people: / }).click();
    await page.getByRole('heading', { name: 'Recipients' }).waitFor();
    await page.getByRole('link', { name: '+4915166131026' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(3);
    expect(decodeURIComponent(page.url())).toContain('PROVIDER_131026');
    await page.reload();
    await page.getByRole('link', { name: '+4915266131026' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(3);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines.slice(1).every((line) => line.includes('131026'))).toBe(true);
    await page.getByLabel('Phone number').fill('0152 66131026');
    await page.getByRole('link', { name: '+4915166131026' }).waitFor({ state: 'hidden' });
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Phone number').fill('+49 30 1');
    await page.getByText('Nobody matches').waitFor();
    await expectNoViolationInState(page);
  });
});

it('sends to the recipients of a campaign that are in one state', async () => {
  const id = await createCampaign('One fails', ['+4915366131026', '+4915120000091', '+4915120000092']);
  await within(async (page) => {
    await page.goto(`${stack.dev.dashboardUrl}/campaigns/${id}`);
    await page.getByText('Completed: sent to 2 of 3 people; 1 failed.').waitFor({ timeout: 30_000 });
    await page.goto(
      `${stack.dev.dashboardUrl}/campaigns/${id}/recipients?state=${encodeURIComponent('["FAILED"]')}`,
    );
    await page.getByRole('link', { name: '+4915366131026' }).waitFor();
    await page.getByRole('button', { name: 'Send to these' }).click();
    await page.getByText('People of “One fails” whose message is failed.').waitFor();
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'plain_notice (en_US)' }).click();
    await page
      .getByText(/^1 person/)
      .first()
      .waitFor();
    await expectNoViolationInState(page);
  });
});

it('shows in the search field what is searched for, also after a step back, and leaves a screen at one click', async () => {
  await within(async (page) => {
    await goTo(page, 'Campaigns');
    const field = page.getByLabel('Search by name');
    await field.fill('Nothing has this name');
    await page.getByText('Nothing matches').waitFor();
    await page.goBack();
    await expect.poll(() => field.inputValue()).toBe('');
    await goTo(page, 'Templates');
    await page.getByLabel('Search', { exact: true }).fill('plain_notice');
    await page.getByRole('option', { name: /plain_notice/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('plain_notice');
    await page.clock.install();
    await field.fill('typed');
    await page.route('**/assets/channels-*.js', async (route) => {
      // While the next screen is loaded, the text would be applied.
      await page.clock.runFor(1_000);
      await route.continue();
    });
    await goTo(page, 'Channels');
    expect(page.url()).toBe(`${stack.dev.dashboardUrl}/channels`);
  });
});

it('names the receiver of a delivery, also where its webhook stands on another page', async () => {
  const hook = (title: string) => ({ title, url: 'http://127.0.0.1:9/hook', events: ['read'] as const });
  const created = [];
  for (let at = 0; at < 11; at += 1) {
    const { events, ...given } = hook(`Receiver ${at}`);
    created.push((await api.createWebhook(client, { ...given, events: [...events] })).data.id);
  }
  for (const id of [created[0] ?? '', created[10] ?? ''])
    await api.testWebhook(client, id, { eventKey: 'read' });
  await within(async (page) => {
    await goTo(page, 'Webhooks');
    for (const title of ['Receiver 0', 'Receiver 10'])
      await page.getByRole('cell', { name: title, exact: true }).waitFor();
  });
  for (const id of created) await api.deleteWebhook(client, id);
});

it('shows what a receiver was sent, and sends again what failed, by the keyboard alone', async () => {
  const behaviour = { status: 500 };
  const receiver = await startWebhookReceiver(behaviour);
  const webhook = { title: 'Orders', url: receiver.url, events: ['sent'], status: 'active' } as const;
  const { id } = (await api.createWebhook(client, webhook)).data;
  try {
    await createCampaign('Told of', ['+4915120000011', '+4915120000012']);
    await within(async (page) => {
      await goTo(page, 'Overview');
      await use(page, page.getByRole('link', { name: 'Webhooks', exact: true }));
      await tabTo(page, page.getByRole('radio', { name: 'All' }));
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => page.url()).toContain('state=failed');
      await expect.poll(() => page.getByRole('row').count()).toBe(3);
      const first = page.getByRole('link', { name: 'sent' }).first();
      await use(page, first);
      const panel = page.getByRole('dialog');
      await panel.getByText('"eventKey": "sent"').waitFor();
      await panel.getByText('Answer 500', { exact: true }).waitFor();
      await panel.getByText('To Orders', { exact: true }).waitFor();
      await expectFocus(page, page.getByRole('button', { name: 'Close' }));
      await lookAt(page, 'webhook-delivery', { fullPage: false });
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'hidden' });
      await expectFocus(page, first);
      behaviour.status = 200;
      await use(page, page.getByRole('button', { name: 'Resend', exact: true }).first());
      await expectFocus(page, page.getByRole('button', { name: 'Queued' }));
      await expect.poll(() => receiver.received.length).toBe(3);
      const all = page.getByRole('button', { name: 'Resend all that failed' });
      await use(page, all);
      await page.getByText('1 that failed in the last 24 hours is sent again.').waitFor();
      await expectFocus(page, all);
      await expect.poll(() => receiver.received.length).toBe(4);
      await page.getByText('Delivered', { exact: true }).first().click();
      await expect.poll(() => page.getByRole('row').count()).toBe(3);
      await photographBoth(page, 'webhooks-delivered');
    });
  } finally {
    await api.deleteWebhook(client, id);
    await receiver.close();
  }
});
