/** The dashboard of a stack as somebody uses it in a browser: signed in, looked at, photographed. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { runAdmin } from '../../src/admin/run-admin.ts';
import { createClient, type Client } from '../../clients/typescript/src/index.ts';
import type { TestStack } from './stack.ts';

/** Ignored by git: whoever changes a screen looks at these. */
const photographs = 'dist/screenshots';

export interface Visit {
  readonly page: Page;
  /** What must not happen: dialogs, errors of the page, refusals by its own policy. */
  readonly mishaps: readonly string[];
  readonly close: () => Promise<void>;
}

export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
  const page = await context.newPage();
  const mishaps: string[] = [];
  page.on('dialog', (dialog) => {
    mishaps.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', ({ message }) => mishaps.push(message));
  page.on('console', (line) => {
    if (line.text().includes('Content Security Policy')) mishaps.push(line.text());
  });
  return { page, mishaps, close: () => context.close() };
}

export async function signIn(page: Page, { dev }: TestStack, key = dev.apiKey): Promise<void> {
  await page.goto(dev.dashboardUrl);
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Campaigns', exact: true }).waitFor();
}

/** Signed in, for as long as it takes; what must not happen did not. */
export async function signedIn(
  browser: Browser,
  stack: TestStack,
  use: (visited: Visit) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const visited = await visit(browser, options);
  try {
    await signIn(visited.page, stack);
    await use(visited);
    expect(visited.mishaps).toEqual([]);
  } finally {
    await visited.close();
  }
}

export async function expectNoViolation(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
}

export async function photograph(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  mkdirSync(photographs, { recursive: true });
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(photographs, `${name}.png`), fullPage });
}

export const clientOf = ({ dev }: TestStack): Client =>
  createClient({ baseUrl: dev.baseUrl, apiKey: dev.apiKey });

/** What the command printed. */
export async function admin(
  stack: TestStack,
  args: readonly string[],
): Promise<Readonly<Record<string, string>>> {
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
