/** The dashboard in a real browser, on the built stack: from signing in to a campaign's end, every screen without a violation. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;
let browser: Browser;
beforeAll(async () => {
  [stack, browser] = await Promise.all([startTestStack(), launchBrowser()]);
}, 150_000);
afterAll(async () => {
  await browser?.close();
  await stack?.remove();
}, 60_000);

async function send(path: string, body: object, key = stack.dev.apiKey) {
  const response = await fetch(`${stack.dev.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { data: { campaign: { id: string } } };
}

const hostile = `<script>alert(1)</script> \u{1F44B} ${'x'.repeat(200)}`;

async function expectNoViolation(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
}

it.each(['light', 'dark'] as const)(
  'signs in by the key, follows a campaign to its end, and out again (%s)',
  async (colorScheme) => {
    const context = await browser.newContext({ locale: 'en-GB', colorScheme });
    const page = await context.newPage();
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(stack.dev.dashboardUrl);
    await expectNoViolation(page);
    await page.getByLabel('API key', { exact: true }).fill(stack.dev.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Campaigns', exact: true }).waitFor();

    const { data } = await send('/api/campaigns/auto-trigger', {
      name: hostile,
      template_id: stack.dev.templateIds['plain_notice'],
      contact_selection_type: 'quick_contacts',
      quick_contacts: Array.from({ length: 300 }, (_, at) => `+49151${20_000_000 + at}`),
      send_type: 'IMMEDIATE',
    });
    await page.getByText(hostile).first().click();
    await page.getByRole('heading', { name: hostile }).waitFor();
    await page.getByText(/^Completed: /).waitFor({ timeout: 60_000 });
    expect(
      await page
        .getByRole('img', { name: /Delivered|Sent|Read/ })
        .first()
        .getAttribute('aria-label'),
    ).toMatch(/\d/);
    await expectNoViolation(page);
    await page.goto(
      `${stack.dev.dashboardUrl}/campaigns/${data.campaign.id}/recipients?state=%5B%22FAILED%22%5D`,
    );
    await page.getByRole('heading', { name: 'Recipients' }).waitFor();
    for (const place of ['Wallet', 'Webhooks', 'Templates', 'Channels', 'New campaign']) {
      await page.getByRole('link', { name: place, exact: true }).click();
      await page.getByRole('heading', { name: place, level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      await expectNoViolation(page);
    }
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    expect(dialogs).toEqual([]);
    await context.close();
  },
  120_000,
);
