/** Sending windows: of a new campaign, changed while it waits, and of the workspace. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  client,
  expectFocus,
  expectNoViolationInState,
  goTo,
  lookAt,
  lookAtState,
  stack,
  tabTo,
  use,
  within,
} from './fixture.ts';

const hour = 3_600_000;

/** The full hour in Berlin, `hours` from now. */
function hourFromNow(hours: number): string {
  const form = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', hour: '2-digit' });
  return `${form.format(new Date(Date.now() + hours * hour))}:00`;
}

it('waits for the window of a new campaign, says until when, and sends once it is removed', async () => {
  await within(async (page) => {
    await goTo(page, 'New campaign');
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'plain_notice (en_US)' }).click();
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'Type numbers' }).click();
    await page.getByLabel('One number per line').fill('+4915120000071');
    await page.getByLabel('Campaign name').fill('Not at night');
    await page.getByLabel('Send only in certain hours').check();
    expect(await page.getByRole('combobox', { name: 'Time zone' }).inputValue()).toBe('Europe/Berlin');
    await page.getByLabel('Send from').fill('09:00');
    await page.getByLabel('Send until').fill('09:00');
    await page.getByText('The two times must differ.').waitFor();
    expect(await page.getByRole('button', { name: 'Create campaign' }).isDisabled()).toBe(true);
    await page.getByLabel('Send from').fill(hourFromNow(3));
    await page.getByLabel('Send until').fill(hourFromNow(5));
    await page
      .getByText(/^The sending window is closed now: sending begins .*\(Europe\/Berlin\), in \d h/)
      .waitFor();
    await lookAtState(page, 'new-campaign-window');
    await page.getByRole('button', { name: 'Create campaign' }).click();
    await page
      .getByText(/^Waits for \d\d:00.*, Europe\/Berlin, in \d+ (hours|minutes)/)
      .waitFor({ timeout: 30_000 });
    await lookAtState(page, 'campaign-window');
    // By the keyboard alone from here on.
    const change = page.getByRole('button', { name: 'Change sending window' });
    await use(page, change);
    const dialog = page.getByRole('dialog', { name: 'Sending window' });
    await tabTo(page, dialog.getByRole('checkbox', { name: 'Sun' }));
    await page.keyboard.press('Space');
    await expectNoViolationInState(page);
    await use(page, dialog.getByRole('button', { name: 'Save sending window' }));
    await page.getByText(/^\d\d:00 to \d\d:00, Mon–Sat \(Europe\/Berlin\)$/).waitFor();
    await expectFocus(page, change);
    await page.keyboard.press('Enter');
    await tabTo(page, dialog.getByLabel('Send only in certain hours'));
    await page.keyboard.press('Space');
    await use(page, dialog.getByRole('button', { name: 'Save sending window' }));
    await page.getByText('Completed: sent to 1 of 1 person.').waitFor({ timeout: 30_000 });
  });
});

it('sets the hours of the workspace’s marketing with an operator’s key, and removes them, by the keyboard alone', async () => {
  await within(async (page) => {
    await goTo(page, 'Overview');
    await use(page, page.getByRole('button', { name: 'Account' }));
    await use(page, page.getByRole('link', { name: 'Workspace settings' }));
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.getByText('At any hour', { exact: true }).waitFor();
    await tabTo(page, page.getByLabel('Operator key', { exact: true }));
    await page.keyboard.type(stack.dev.operatorKey);
    await page.keyboard.press('Enter');
    const limited = page.getByLabel('Send marketing only in certain hours');
    await tabTo(page, limited);
    await page.keyboard.press('Space');
    await tabTo(page, page.getByLabel('Send until'));
    // From 20:00 on, whether the browser's field counts twelve hours or twenty-four.
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.type('30');
    await lookAt(page, 'settings');
    const save = page.getByRole('button', { name: 'Save sending window' });
    await use(page, save);
    await page.getByText('Saved: marketing is sent 09:00 to 21:30, every day (Europe/Berlin).').waitFor();
    await expectFocus(page, save);
    expect((await api.getSendingWindow(client)).data).toMatchObject({
      to: '21:30',
      timezone: 'Europe/Berlin',
    });
    await tabTo(page, limited);
    await page.keyboard.press('Space');
    await use(page, save);
    await page.getByText('Saved: marketing is sent at any hour.').waitFor();
    expect((await api.getSendingWindow(client)).data).toBeNull();
  });
});
