/** A browser page, with the errors it reported. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

export interface Visit {
  readonly page: Page;
  /** Dialogs, page errors and violations of the page's content security policy; expected to stay empty. */
  readonly mishaps: readonly string[];
  readonly close: () => Promise<void>;
}

export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    // Disables animations: no waiting, and no screenshot of half a movement.
    reducedMotion: 'reduce',
    ...options,
  });
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
  page.on('response', (response) => {
    // A check of an unfinished form.
    if (response.status() === 400 && response.url().endsWith('/campaigns/check'))
      mishaps.push(response.url());
  });
  return { page, mishaps, close: () => context.close() };
}
