/** Every screen on a phone and at a zoom of 200 %: no horizontal scrolling, no row hidden by a heading, accessible. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { client, createCampaign, goTo, lookAtState, sampled, stack, within } from './fixture.ts';

/** A phone, and a window of 1280 × 800 pixels at a zoom of 200 %. */
const sizes = { phone: { width: 375, height: 812 }, zoomed: { width: 640, height: 400 } } as const;

/** Opens every screen. */
async function tour(page: Page, visit: (name: string) => Promise<void>): Promise<void> {
  const id = await createCampaign('A campaign with a name longer than a phone is wide', ['+4915120000095']);
  await api.createContact(client, { phoneNumber: '+4915166132031', firstName: 'Narrow' });
  const contact = (await api.listContacts(client, { search: 'Narrow' })).data[0]?.id;
  const campaign = ['', '/recipients', '/replies'].map((part) => `campaigns/${id}${part}`);
  const lists = ['', 'campaigns', 'campaigns/new', 'contacts', 'segments', 'conversations', 'templates'];
  const others = ['webhooks', 'wallet', 'channels', 'activity', 'settings', 'nothing/here'];
  for (const path of sampled([...lists, ...campaign, `contacts/${contact}`, ...others])) {
    await page.goto(`${stack.dev.dashboardUrl}/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
    await visit(path.replaceAll(/[^a-z]+/g, '-') || 'overview');
  }
}

/** Number of rows that the heading of their table covers. */
const coveredRows = `[...document.querySelectorAll('thead')].filter((head) => {
  const row = head.parentElement.querySelector('tbody tr');
  return row && row.getBoundingClientRect().top < head.getBoundingClientRect().bottom - 1;
}).length`;

it('shows the whole name of a campaign in the table', async () => {
  await createCampaign('Autumn sale for members, second reminder', ['+4915120000096']);
  await within(async (page) => {
    for (const width of [1_280, 1_440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${stack.dev.dashboardUrl}/campaigns`);
      const name = page.getByRole('link', { name: /^Autumn sale/ });
      await name.waitFor();
      await lookAtState(page, `campaigns-${width}`);
      const hidden = await name.evaluate((link) => link.scrollHeight - link.clientHeight);
      expect([width, Math.max(0, hidden - 1)]).toEqual([width, 0]);
    }
  });
});

it('fits a phone and a zoom of 200 % on every screen', async () => {
  await within(
    async (page) => {
      await tour(page, async (name) => {
        for (const [kind, viewport] of Object.entries(sizes)) {
          await page.setViewportSize(viewport);
          const width = await page.evaluate<number>('document.documentElement.scrollWidth');
          expect([name, kind, width]).toEqual([name, kind, viewport.width]);
          expect([name, kind, await page.evaluate(coveredRows)]).toEqual([name, kind, 0]);
          await lookAtState(page, `${name}-${kind}`, { fullPage: kind === 'phone' });
        }
      });
    },
    { viewport: sizes.phone },
  );
});

it('fits names without a space, of any length', async () => {
  const name = 'W'.repeat(255);
  const number = '4915166149041';
  await api.createContact(client, { phoneNumber: `+${number}`, firstName: name });
  await api.createSegment(client, {
    name,
    match: 'all',
    conditions: [{ field: 'countryCode', operator: 'eq', value: '49' }],
  });
  await fetch(`${new URL(stack.dev.providerUrl).origin}/_simulator/inbound`, {
    method: 'POST',
    body: JSON.stringify({ from: number, text: name, profileName: 'W' }),
  });
  const find = async () => (await api.listConversations(client, { sort: 'lastMessageAt' })).data[0];
  await expect.poll(async () => (await find())?.contactPhoneNumber).toBe(number);
  const id = (await find())?.id ?? '';
  const assignedTo = { id: 'team', name: 'N'.repeat(100) };
  await api.assignConversation(client, id, { assignmentType: 'user', assignedTo, source: 'manual' });
  await within(async (page) => {
    for (const path of ['contacts', 'segments', `conversations?conversation=${id}`]) {
      await page.goto(`${stack.dev.dashboardUrl}/${path}`);
      await page.getByText(name).first().waitFor();
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 1_280]);
    }
  });
});

it('shows the cost and every state of a delivery at a width of 320 pixels', async () => {
  const { data } = await api.createWebhook(client, {
    title: 'Narrow',
    url: 'http://127.0.0.1:9/hook',
    events: ['read'],
    status: 'inactive',
  });
  await createCampaign('Narrow', ['+4915120000098']);
  await within(
    async (page) => {
      await goTo(page, 'Overview');
      const cost = page.getByText(/^[\d,.]+ USD$/).first();
      await cost.waitFor();
      const hidden = await cost.evaluate((text) => {
        const card = text.parentElement?.parentElement?.getBoundingClientRect();
        return text.getBoundingClientRect().right > (card?.right ?? 0);
      });
      expect(hidden).toBe(false);
      await page.goto(`${stack.dev.dashboardUrl}/webhooks`);
      const failed = page.getByRole('radiogroup', { name: 'State' }).getByText('Failed');
      await failed.scrollIntoViewIfNeeded();
      const box = await failed.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(320);
    },
    { viewport: { width: 320, height: 640 } },
  );
  await api.deleteWebhook(client, data.id);
});

it('shows what is chosen in a theme with forced colours', async () => {
  await within(
    async (page) => {
      await page.goto(`${stack.dev.dashboardUrl}/campaigns/new`);
      await page.getByLabel('Send only in certain hours').check();
      await expectToLookDifferent(page.getByRole('checkbox', { name: 'Send only in certain hours' }));
      await page.goto(`${stack.dev.dashboardUrl}/contacts`);
      await page.getByRole('button', { name: 'New contact' }).click();
      await expectToLookDifferent(page.getByText('Agreed to receive campaigns').locator('xpath=../..'));
    },
    { forcedColors: 'active' },
  );
});

/** Expects that a click changes the picture of the element, without the pointer and the focus on it. */
async function expectToLookDifferent(one: Locator): Promise<void> {
  const picture = async () => {
    await one.page().evaluate('document.activeElement.blur()');
    await one.page().mouse.move(0, 0);
    return (await one.screenshot()).toString('base64');
  };
  const before = await picture();
  await one.click();
  expect(await picture()).not.toBe(before);
}
