/** The stack and the browser that the dashboard's tests share, and helpers for both. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { runAdmin } from '../../../src/admin/run-admin.ts';
import { launchBrowser } from '../../../bench/support/browser.ts';
import { visit as visitWith, type Visit } from '../../support/browser.ts';
import { startTestStack, type TestStack } from '../../support/stack.ts';

export let stack: TestStack;
export let browser: Browser;
export let client: api.Client;

export async function prepare(): Promise<void> {
  [stack, browser] = await Promise.all([startTestStack(), launchBrowser()]);
  client = api.createClient({ baseUrl: stack.dev.baseUrl, apiKey: stack.dev.apiKey });
}

export async function remove(): Promise<void> {
  await browser?.close();
  await stack?.remove();
}

export const visit = (options?: BrowserContextOptions): Promise<Visit> => visitWith(browser, options);

/** An empty page with a session of `key`, without the time that the screen of the sign-in takes. */
export async function visitAs(key: string, options?: BrowserContextOptions): Promise<Visit> {
  const visited = await visit(options);
  const session = await visited.page.request.post(`${stack.dev.dashboardUrl}/session`, {
    data: { api_key: key },
    headers: { 'Sec-Fetch-Site': 'same-origin' },
  });
  expect(session.status()).toBe(204);
  return visited;
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key', { exact: true }).waitFor();
}

/** Ends the session, and signs in again at the first request that finds it ended. */
export async function loseSession(
  page: Page,
  act: () => Promise<void>,
  key = stack.dev.apiKey,
): Promise<void> {
  await page.context().clearCookies();
  await act();
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Runs `work` on an empty page with a session, and fails when the page logged an error meanwhile. */
export async function within(
  work: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const { page, mishaps, close } = await visitAs(stack.dev.apiKey, options);
  try {
    await work(page);
    expect(mishaps).toEqual([]);
  } finally {
    await close();
  }
}

export const openCampaign = async (page: Page, id: string, name: string): Promise<void> => {
  await page.goto(`${stack.dev.dashboardUrl}/campaigns/${id}`);
  await page.getByRole('heading', { name, exact: true }).waitFor();
};

const paths: Readonly<Record<string, string>> = { Overview: '', 'New campaign': 'campaigns/new' };

/**
 * Opens a screen by the navigation, or by its address on an empty page. Waits for the heading of the screen: until then the
 * fields of the previous screen answer to the same names.
 */
export async function goTo(page: Page, place: string): Promise<void> {
  if (page.url() === 'about:blank')
    await page.goto(`${stack.dev.dashboardUrl}/${paths[place] ?? place.toLowerCase()}`);
  else
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: place, exact: true })
      .click();
  await page.getByRole('heading', { name: place, level: 1, exact: true }).waitFor();
}

/** Presses Tab until the element has the focus, and expects that the focus is visible. */
export async function tabTo(page: Page, wanted: Locator): Promise<void> {
  // Waits for "attached" only: the input of a radio button is hidden behind its label.
  await wanted.waitFor({ state: 'attached' });
  const focused = wanted.and(page.locator(':focus-visible'));
  for (let step = 0; step < 80 && (await focused.count()) === 0; step += 1) await page.keyboard.press('Tab');
  await expectFocus(page, wanted);
}

export async function use(page: Page, wanted: Locator): Promise<void> {
  await tabTo(page, wanted);
  await page.keyboard.press('Enter');
}

/** Expects a visible focus: a text field shows it by its border, everything else by an outline. */
export async function expectFocus(page: Page, wanted: Locator): Promise<void> {
  await expect.poll(() => wanted.and(page.locator(':focus-visible')).count()).toBe(1);
  const outline = `getComputedStyle(document.activeElement).outlineStyle`;
  expect(
    await page.evaluate(`document.activeElement.matches('input, textarea') || ${outline} !== 'none'`),
  ).toBe(true);
}

/** Expects the focus on the main area after the used element has vanished, so that Tab continues after the navigation. */
export async function expectAtScreen(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('MAIN');
  await page.keyboard.press('Tab');
  await expectFocus(page, page.getByRole('main').getByRole('link').first());
}

export async function expectNoViolation(page: Page, rules?: readonly string[]): Promise<void> {
  // The page has no frames, so axe needs no second page for them.
  const builder = new AxeBuilder({ page }).setLegacyMode(true);
  if (rules !== undefined) builder.withRules([...rules]);
  const { violations } = await builder.analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
}

/** `npm run test:release` checks more states and themes with axe; see `sampling` in vitest.config.ts. */
export const everyCase = process.env['EVERY_CASE'] !== undefined;

/** Every second one of the screens, or all of them in the release. */
export const sampled = <T>(screens: readonly T[]): readonly T[] =>
  everyCase || takesPictures ? screens : screens.filter((_, at) => at % 2 === 0);

/** Advances the clock of the page until the element is visible, so that no test waits for the next poll. */
export async function hasten(page: Page, wanted: Locator, isVisible = true): Promise<void> {
  const look = async () => {
    await page.clock.runFor(1_000);
    return wanted.isVisible();
  };
  await expect.poll(look).toBe(isVisible);
}

/** Screenshots for reviewing a changed screen, taken by `npm run pictures` alone: taking them would double the running time. */
const takesPictures = process.env['PICTURES'] !== undefined;
const photographs = 'dist/screenshots';

export async function photograph(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  if (!takesPictures) return;
  mkdirSync(photographs, { recursive: true });
  await page.evaluate('scrollTo(0, 0)');
  // The pictures of the documentation show no focus.
  const style = name.startsWith('docs-') ? ':focus-visible { outline: none !important }' : '';
  await page.screenshot({ path: join(photographs, `${name}.png`), fullPage, animations: 'disabled', style });
}

/** Checks and photographs both themes; unless pictures are taken or every case is tested, checks the light theme alone. */
export async function photographBoth(
  page: Page,
  name: string,
  options: { readonly fullPage?: boolean } = {},
  check: (rules?: readonly string[]) => Promise<void> = async () => undefined,
): Promise<void> {
  await check();
  if (!takesPictures && !everyCase) return;
  await photograph(page, `${name}-light`, options);
  await page.emulateMedia({ colorScheme: 'dark' });
  // The only axe rule that depends on colours.
  await check(['color-contrast']);
  await photograph(page, `${name}-dark`, options);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Loses the answers to the next POST requests; by default to as many as the client sends before it gives up. */
export async function loseAnswers(page: Page, address: string, count = 4): Promise<void> {
  let left = count;
  await page.route(address, async (route) => {
    if (left === 0 || route.request().method() !== 'POST') return route.continue();
    left -= 1;
    await route.fetch({ headers: { ...route.request().headers(), 'sec-fetch-site': 'same-origin' } });
    await route.abort('connectionreset');
  });
}

/** Expects no accessibility violation in any theme that is checked, and takes a picture in both. */
export const lookAt = (page: Page, name: string, options = {}): Promise<void> =>
  photographBoth(page, name, options, (rules) => expectNoViolation(page, rules));

/** `lookAt` for a further state of a screen: axe checks it in `npm run test:release` alone. */
export const lookAtState = (page: Page, name: string, options = {}): Promise<void> =>
  photographBoth(page, name, options, (rules) => expectNoViolationInState(page, rules));

export async function expectNoViolationInState(page: Page, rules?: readonly string[]): Promise<void> {
  if (everyCase) await expectNoViolation(page, rules);
}

/** Runs an admin command and returns its JSON output. */
export async function admin(args: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runAdmin({
    args,
    environment: { DATA_DIR: stack.dataDir },
    sqlFolder: resolve('sql'),
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  });
  expect([code, err]).toEqual([0, []]);
  return JSON.parse(out.join('')) as Readonly<Record<string, string>>;
}

/** Creates another workspace, and returns a key of it. */
export async function createWorkspaceKey(name: string): Promise<string> {
  const { workspaceId = '' } = await admin(['create-workspace', '--name', name]);
  const { apiKey = '' } = await admin([
    'create-key',
    '--workspace-id',
    String(workspaceId),
    '--scope',
    'workspace',
  ]);
  return apiKey;
}

export async function createCampaign(name: string, numbers: readonly string[]): Promise<string> {
  const { data } = await api.createCampaign(client, {
    name,
    template_id: stack.dev.templateIds['plain_notice'] ?? '',
    contact_selection_type: 'quick_contacts',
    quick_contacts: [...numbers],
    send_type: 'IMMEDIATE',
  });
  return data.campaign.id;
}

export const people = (count: number, from: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `+49151${from + at}`);

const setPace = (perSecond: number) =>
  admin(['update-channel', '--channel-id', stack.dev.channelId, '--messages-per-second', `${perSecond}`]);

/** Limits the channel's rate during `work`, so that the page's updates can be observed. */
export async function atPace(perSecond: number, work: () => Promise<void>): Promise<void> {
  await setPace(perSecond);
  try {
    await work();
  } finally {
    await setPace(1_000);
  }
}

/** Tomorrow, in the format of an `<input type="datetime-local">`; the browser's time zone is ahead of UTC. */
export const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
