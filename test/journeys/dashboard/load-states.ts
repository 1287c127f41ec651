/** Loading, empty and error states of every screen. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  client,
  createCampaign,
  createWorkspaceKey,
  expectNoViolation,
  expectNoViolationInState,
  goTo,
  photograph,
  sampled,
  stack,
  visitAs,
  within,
} from './fixture.ts';

it('shows first steps in an empty workspace, and a clear message for what is missing', async () => {
  const apiKey = await createWorkspaceKey('Empty');
  const { page, mishaps, close } = await visitAs(apiKey);
  try {
    for (const [place, sentence] of [
      ['Campaigns', 'No campaign yet'],
      ['Wallet', 'There is no channel in this workspace yet.'],
      ['Contacts', 'No contact yet'],
      ['Segments', 'No segment yet'],
      ['Conversations', 'No conversation'],
      ['Webhooks', 'No webhook yet'],
      ['Templates', 'No template'],
      ['Channels', 'No channel'],
    ] as const) {
      await goTo(page, place);
      await page.getByText(sentence, { exact: true }).waitFor();
      await expectNoViolationInState(page);
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
    await page.goto(`${stack.dev.dashboardUrl}/campaigns?page=7`);
    await page.getByText('The list ends before this page', { exact: true }).waitFor();
    await expectNoViolationInState(page);
    await page.getByRole('button', { name: 'Show the first page' }).click();
    await page.getByText('No campaign yet', { exact: true }).waitFor();
    expect(mishaps).toEqual([]);
  } finally {
    await close();
  }
});

it('shows a complete page while the session is loading, and when that request fails', async () => {
  await within(async (page) => {
    const asked = '**/dashboard/session';
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(asked, async (route) => {
      await held;
      await route.fulfill({ status: 404, json: { status: 'error', code: 404, message: 'Not found' } });
    });
    await page.goto(stack.dev.dashboardUrl);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await expectNoViolation(page);
    answer();
    await page.getByRole('heading', { name: 'Something is missing', level: 1 }).waitFor();
    await expectNoViolation(page);
    await page.unroute(asked);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });
});

it('keeps the navigation and says what is wrong when a screen is opened without a connection', async () => {
  await within(async (page) => {
    await page.goto(stack.dev.dashboardUrl);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.context().setOffline(true);
    const places = page.getByRole('navigation').first();
    await places.getByRole('link', { name: 'Channels' }).click();
    const problem = page.getByRole('alert').getByText('The service did not answer.');
    await problem.waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await problem.waitFor();
    await places.waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Channels', level: 1 }).waitFor();
  });
});

it('keeps the rows while a filter loads', async () => {
  await api.createContact(client, { phoneNumber: '+4915166132041', firstName: 'Kept' });
  await within(async (page) => {
    await page.goto(`${stack.dev.dashboardUrl}/contacts`);
    const row = page.getByRole('link', { name: 'Kept' });
    await row.waitFor();
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/dashboard/api/contacts?*', async (route) => {
      await held;
      await route.continue();
    });
    const asked = page.waitForRequest('**/dashboard/api/contacts?*search=Nobody*');
    await page.getByLabel('Search contacts').fill('Nobody');
    await asked;
    expect(await row.isVisible()).toBe(true);
    await page.locator('[aria-busy=true]').filter({ has: row }).waitFor();
    answer();
    await row.waitFor({ state: 'hidden' });
  });
});

/** Every route behind the sign-in, with the request that loads its content. */
const screens: Readonly<Record<string, string>> = {
  '/': '**/dashboard/api/overview?*',
  '/campaigns': '**/dashboard/api/campaigns?*',
  '/campaigns/new': '**/dashboard/api/templates*',
  '/campaigns/$id': '**/dashboard/api/campaigns/*',
  '/campaigns/$id/recipients': '**/dashboard/api/campaigns/*/recipients?*',
  '/campaigns/$id/replies': '**/dashboard/api/conversations?*',
  '/campaigns/$id/activity': '**/dashboard/api/audit?*',
  '/wallet': '**/dashboard/api/wallet*',
  '/webhooks': '**/dashboard/api/external-webhooks*',
  '/templates': '**/dashboard/api/templates*',
  '/channels': '**/dashboard/api/channels',
  '/settings': '**/dashboard/api/workspace/sending-window',
};

/** Paths that the test leaves out. */
const silent = ['/sign-in', '$', '/contacts', '/contacts/$id', '/segments', '/conversations', '/activity'];

it('shows a loading and an error state on every screen, and recovers from both', async () => {
  const router = readFileSync('dashboard/src/router.tsx', 'utf8');
  const paths = [...router.matchAll(/\bpath: '(.+?)'/g)].map(([, path]) => path);
  expect(paths.filter((path) => !silent.includes(path ?? '')).toSorted()).toEqual(
    Object.keys(screens).toSorted(),
  );
  const id = await createCampaign('Faces', ['+4915120000021']);
  await within(async (page) => {
    const loading = page.getByRole('status', { name: 'Loading' });
    const failed = page.getByRole('alert').filter({ hasText: 'This could not be loaded' });
    for (const [path, asked] of sampled(Object.entries(screens))) {
      let answer = (): void => undefined;
      const held = new Promise<void>((resolve) => (answer = resolve));
      await page.route(asked, async (route) => {
        await held;
        await route.fulfill({ status: 404, json: { status: 'error', code: 404, message: 'Not found' } });
      });
      await page.goto(stack.dev.dashboardUrl + path.replace('$id', id));
      await loading.first().waitFor();
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      await expectNoViolationInState(page);
      answer();
      await failed.first().waitFor();
      await loading.first().waitFor({ state: 'hidden' });
      await page.unroute(asked);
      await failed.first().getByRole('button', { name: 'Try again' }).click();
      await failed.first().waitFor({ state: 'hidden' });
      await expect.poll(() => loading.count()).toBe(0);
    }
  });
});
