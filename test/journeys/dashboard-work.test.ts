/** The dashboard in a real browser, on the built stack: a campaign made of a messy CSV, its recipients, webhooks, and who may be in. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as api from '../../clients/typescript/src/index.ts';
import { makeDemoCsv } from '../../local/demo/csv.ts';
import { launchBrowser } from '../support/browser.ts';
import {
  admin,
  clientOf,
  expectNoViolation,
  photograph,
  signedIn,
  signIn,
  visit,
} from '../support/dashboard.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

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

const within = (use: (page: Page) => Promise<void>) => signedIn(browser, stack, ({ page }) => use(page));

const keyIdOf = (key: string): string => key.split('_')[1] ?? '';
const contactsAndCampaigns = async () => [
  (await api.listContacts(client)).data.length,
  (await api.listCampaigns(client)).data.length,
];

const pace = { timeout: 60_000, interval: 100 };

it('makes a campaign of a messy CSV, and nothing of it before the last button', async () => {
  const channel = ['update-channel', '--channel-id', stack.dev.channelId, '--messages-per-second'];
  const csv = makeDemoCsv({ rows: 1_000, seed: 20_240_229 });
  // Slow enough to be seen.
  await admin(stack, [...channel, '60']);
  await within(async (page) => {
    await page.getByText('No campaign yet').waitFor();
    await photograph(page, 'campaigns-empty');
    const before = await contactsAndCampaigns();
    await page.getByRole('link', { name: 'New campaign' }).first().click();
    await page.getByRole('combobox', { name: 'Template' }).fill('hello');
    await page.getByRole('option', { name: 'hello_campaign (en_US)' }).click();
    await page.getByRole('figure').getByText('Hello {{1}}, thank you').waitFor();
    await page.getByLabel('CSV file').setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(csv.text),
    });
    const chosen = (name: string) => page.getByRole('combobox', { name }).inputValue();
    await page.getByRole('combobox', { name: 'Phone number' }).waitFor();
    expect(await Promise.all(['Phone number', 'Country', 'Name', 'Email'].map(chosen))).toEqual([
      'Mobile phone',
      'Country',
      'Full name',
      'E-mail',
    ]);
    await page.getByRole('figure').getByText('Hello Björn Smith, thank you').waitFor();
    expect(await page.getByRole('row').count()).toBe(11);
    await page.getByText('Skipped: The number stands in the list more than once', { exact: true }).waitFor();
    const outlook = page.getByRole('status').filter({ hasText: 'sent in about' });
    await outlook.getByText(/^\d+ people for [\d.]+ USD, sent in about \d+ s\.$/).waitFor();
    await outlook.getByText(`${csv.planted.invalid} will be skipped: not a phone number.`).waitFor();
    await expectNoViolation(page);
    await photograph(page, 'new-campaign-csv');
    await photograph(page, 'docs-new-campaign', { fullPage: false });
    await page.getByLabel('Test number').fill('0151 12345678');
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Sent: the provider accepted it.').waitFor();
    expect(await contactsAndCampaigns()).toEqual(before);
    await page.getByLabel('Campaign name').fill('Autumn collection');
    await page.getByRole('button', { name: 'Create campaign' }).dblclick();
    await page.getByRole('heading', { name: 'Autumn collection' }).waitFor();
    await expect
      .poll(async () => (await page.getByRole('progressbar').textContent()) ?? '', pace)
      .toMatch(/^[5-8]\d\d of/);
    await photograph(page, 'campaign-running');
    await photograph(page, 'docs-campaign', { fullPage: false });
    await page.getByText(/^Completed: /).waitFor({ timeout: 60_000 });
  });
  await admin(stack, [...channel, '1000']);
  const { data } = await api.listCampaigns(client);
  expect(data.map(({ name }) => name)).toEqual(['Autumn collection']);
  expect(data[0]?.skipped_reasons['INVALID_PHONE']).toBe(csv.planted.invalid);
}, 120_000);

it('filters recipients in the address, and exports those alone', async () => {
  const numbers = ['+4915166131026', '+4915266131026', '+4915120000001', '+4915120000002'];
  const { data } = await api.createCampaign(client, {
    name: 'Some fail',
    template_id: stack.dev.templateIds['plain_notice'] ?? '',
    contact_selection_type: 'quick_contacts',
    quick_contacts: numbers,
    send_type: 'IMMEDIATE',
  });
  await within(async (page) => {
    // The sentence is told of the counters beneath it, not of what was so when it was asked for.
    await page.route('**/diagnosis', async (route) => {
      const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
      const response = await route.fetch({ headers });
      const { data: entries, ...rest } = (await response.json()) as { data: object[] };
      const stale = entries.with(0, { ...entries[0], detail: 'What was so before' });
      await route.fulfill({ response, json: { ...rest, data: stale } });
    });
    await page.route('**/assets/plot-canvas-*.js', (route) => route.abort());
    await page.goto(`${stack.dev.dashboardUrl}/campaigns/${data.campaign.id}`);
    // In place of the plot that cannot be loaded.
    await page.getByRole('columnheader', { name: 'Delivered' }).waitFor({ timeout: 30_000 });
    await page.getByText('Completed: 2 of 4 people were sent to, 2 failed.').waitFor({ timeout: 30_000 });
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
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines.slice(1).every((line) => line.includes('131026'))).toBe(true);
    await page.getByLabel('Phone number').fill('+49 152 66131026');
    await page.getByRole('link', { name: '+4915166131026' }).waitFor({ state: 'hidden' });
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Phone number').fill('+49 30 1');
    await page.getByText('Nobody matches').waitFor();
    await expectNoViolation(page);
  });
}, 60_000);

it('shows what a receiver was sent, and sends again what failed', async () => {
  const behaviour = { status: 500 };
  const receiver = await startWebhookReceiver(behaviour);
  const webhook = { title: 'Orders', url: receiver.url, events: ['sent'], status: 'active' } as const;
  const { id } = (await api.createWebhook(client, webhook)).data;
  try {
    await api.createCampaign(client, {
      name: 'Told of',
      template_id: stack.dev.templateIds['plain_notice'] ?? '',
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915120000011', '+4915120000012'],
      send_type: 'IMMEDIATE',
    });
    await within(async (page) => {
      await page.getByRole('link', { name: 'Webhooks' }).click();
      await page.getByText('Failed', { exact: true }).first().click();
      await expect.poll(() => page.getByRole('row').count(), { timeout: 30_000 }).toBe(3);
      expect(page.url()).toContain('state=failed');
      await page.getByRole('link', { name: 'sent' }).first().click();
      await page.getByRole('dialog').getByText('"eventKey": "sent"').waitFor();
      await page.getByRole('dialog').getByText('Answer 500').waitFor();
      await page.waitForTimeout(300);
      await expectNoViolation(page);
      await photograph(page, 'webhook-delivery');
      await page.getByRole('button', { name: 'Close' }).click();
      behaviour.status = 200;
      await page.getByRole('button', { name: 'Resend', exact: true }).first().click();
      await page.getByRole('button', { name: 'Queued' }).waitFor();
      await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(3);
      await page.getByRole('button', { name: 'Resend all that failed' }).click();
      await page.getByText('1 that failed in the last 24 hours is sent again.').waitFor();
      await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(4);
      await page.getByText('Delivered', { exact: true }).first().click();
      await expect.poll(() => page.getByRole('row').count(), { timeout: 20_000 }).toBe(3);
      await photograph(page, 'webhooks-delivered');
    });
  } finally {
    await api.deleteWebhook(client, id);
    await receiver.close();
  }
}, 90_000);

it('lets in by a link once, and out when the key is revoked', async () => {
  const created = await admin(stack, [
    'create-key',
    '--workspace-id',
    String(stack.dev.workspaceId),
    '--scope',
    'workspace',
  ]);
  const keyId = keyIdOf(created['apiKey'] ?? '');
  const { url = '' } = await admin(stack, ['sign-in-link', '--key-id', keyId]);
  const { page, mishaps, close } = await visit(browser);
  try {
    await page.goto(url);
    await page.getByRole('heading', { name: 'Campaigns', exact: true }).waitFor();
    expect(page.url()).not.toContain('token');
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
    expect(await page.evaluate<string>('document.cookie')).toBe('');
    await admin(stack, ['revoke-key', '--key-id', keyId]);
    const revokedAt = Date.now();
    await page.getByLabel('API key', { exact: true }).waitFor();
    expect(Date.now() - revokedAt).toBeLessThan(7_000);
    await page.goto(url);
    await page.getByText('This link was used already').waitFor();
    await expectNoViolation(page);
    await photograph(page, 'sign-in-link-used');
    await page.getByLabel('API key', { exact: true }).fill('mc_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This key is not valid').waitFor();
    expect(mishaps).toEqual([]);
  } finally {
    await close();
  }
}, 60_000);

it('says of an empty workspace what to do first, and of what is missing that it is', async () => {
  const { workspaceId = '' } = await admin(stack, ['create-workspace', '--name', 'Empty']);
  const { apiKey = '' } = await admin(stack, [
    'create-key',
    '--workspace-id',
    String(workspaceId),
    '--scope',
    'workspace',
  ]);
  const { page, mishaps, close } = await visit(browser);
  try {
    await signIn(page, stack, apiKey);
    await page.getByText('No campaign yet').waitFor();
    for (const [place, sentence] of [
      ['Wallet', 'There is no channel in this workspace yet.'],
      ['Webhooks', 'No webhook'],
      ['Templates', 'No template'],
      ['Channels', 'No channel'],
    ] as const) {
      await page.getByRole('navigation').getByRole('link', { name: place, exact: true }).click();
      await page.getByText(sentence, { exact: true }).waitFor();
      await expectNoViolation(page);
    }
    const { data } = await api.listCampaigns(client);
    await page.goto(`${stack.dev.dashboardUrl}/campaigns/${data[0]?.id}`);
    await page.getByRole('alert').getByText('Campaign not found').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await expectNoViolation(page);
    await photograph(page, 'campaign-error');
    await page.route('**/assets/templates-*.js', (route) => route.abort());
    await page.goto(`${stack.dev.dashboardUrl}/templates`);
    await page.getByRole('alert').getByText('This could not be loaded').waitFor();
    await expectNoViolation(page);
    await page.unroute('**/assets/templates-*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No template', { exact: true }).waitFor();
    expect(mishaps).toEqual([]);
  } finally {
    await close();
  }
}, 60_000);
