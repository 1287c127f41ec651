/** /docs in a browser: its search finds operations, and its content security policy blocks nothing of the page. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { launchBrowser } from '../../../bench/support/browser.ts';
import { visit } from '../../support/browser.ts';

let api: TestApi;
let browser: Browser;
beforeAll(async () => {
  [api, browser] = await Promise.all([startTestApi(), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await api?.close();
});

it('finds operations and webhooks by their words', async () => {
  const { page, mishaps, close } = await visit(browser);
  await page.goto(`${api.baseUrl}/docs`);
  const field = page.getByPlaceholder('Filter by tag');
  const events = page.locator('.webhooks .opblock-summary-path');
  await events.first().waitFor();
  expect(await events.count()).toBe(10);

  // Operations in expanded sections.
  const operations = page.locator('.opblock-tag-section .opblock-summary-path:visible');
  const sections = page.locator('.opblock-tag');
  const shown = async (phrase: string) => {
    await field.fill(phrase);
    await page.waitForTimeout(500);
    const tags = await sections.evaluateAll((all) => all.map((one) => one.getAttribute('data-tag')));
    return { tags, events: await events.count() };
  };
  const all = await shown('');
  expect(await operations.count()).toBe(0);
  expect(all.tags.length).toBeGreaterThan(8);
  expect(await shown('contact is registered')).toEqual({ tags: [], events: 1 });
  expect(await shown('recharge')).toEqual({ tags: ['Wallet'], events: 0 });
  expect(await operations.allTextContents()).toEqual(['/api/wallet/recharge']);
  expect(await shown('Webhooks')).toMatchObject({ events: 10 });
  expect(await shown('')).toEqual({ ...all, events: 10 });
  expect(await operations.count()).toBe(0);
  expect(mishaps).toEqual([]);
  await close();
});
