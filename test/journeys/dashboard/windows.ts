/** Sending windows: of a new campaign, changed while it waits, and of the workspace. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { client, expectNoViolation, goTo, lookAt, stack, within } from './fixture.ts';

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
    await page.getByRole('option', { name: 'Numbers typed here' }).click();
    await page.getByLabel('Numbers, one a line').fill('+4915120000071');
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
      .getByText(/^The sending window is closed now: sending begins .*\(Europe\/Berlin\), in \d hr/)
      .waitFor();
    await lookAt(page, 'new-campaign-window');
    await page.getByRole('button', { name: 'Create campaign' }).click();
    await page
      .getByText(/^Waits for \d\d:00.*, Europe\/Berlin, in \d+ (hours|minutes)/)
      .waitFor({ timeout: 30_000 });
    await lookAt(page, 'campaign-window');
    await page.getByRole('button', { name: 'Change sending window' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sending window' });
    await dialog.getByText('Sun', { exact: true }).click();
    await expectNoViolation(page);
    await dialog.getByRole('button', { name: 'Save sending window' }).click();
    await page.getByText(/^\d\d:00 to \d\d:00, Mon–Sat \(Europe\/Berlin\)$/).waitFor();
    await page.getByRole('button', { name: 'Change sending window' }).click();
    await dialog.getByLabel('Send only in certain hours').uncheck();
    await dialog.getByRole('button', { name: 'Save sending window' }).click();
    await page.getByText('Completed: 1 of 1 person was sent to.').waitFor({ timeout: 30_000 });
  });
}, 90_000);

it('sets the hours of the workspace’s marketing with an operator’s key, and removes them', async () => {
  await within(async (page) => {
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('link', { name: 'Workspace settings' }).click();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.getByText('At any hour', { exact: true }).waitFor();
    await page.getByLabel('Operator key', { exact: true }).fill(stack.dev.operatorKey);
    await page.getByRole('button', { name: 'Allow changes' }).click();
    await page.getByLabel('Send marketing only in certain hours').check();
    await page.getByLabel('Send until').fill('21:30');
    await lookAt(page, 'settings');
    await page.getByRole('button', { name: 'Save sending window' }).click();
    await page.getByText('Saved: marketing is sent 09:00 to 21:30, every day (Europe/Berlin).').waitFor();
    expect((await api.getSendingWindow(client)).data).toMatchObject({
      to: '21:30',
      timezone: 'Europe/Berlin',
    });
    await page.getByLabel('Send marketing only in certain hours').uncheck();
    await page.getByRole('button', { name: 'Save sending window' }).click();
    await page.getByText('Saved: marketing is sent at any hour.').waitFor();
    expect((await api.getSendingWindow(client)).data).toBeNull();
  });
}, 60_000);
