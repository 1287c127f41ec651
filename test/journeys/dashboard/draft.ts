/** The form of a new campaign loses no input, takes no wrong file, and asks before it sends to many. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  client,
  createCampaign,
  expectNoViolationInState,
  goTo,
  lookAtState,
  loseAnswers,
  openCampaign,
  stack,
  tomorrow,
  visitAs,
  within,
} from './fixture.ts';

const csvFile = (text: string) => ({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });

async function chooseTemplate(page: Page): Promise<void> {
  await goTo(page, 'New campaign');
  await page.getByRole('combobox', { name: 'Template' }).click();
  await page.getByRole('option', { name: 'plain_notice (en_US)' }).click();
}

it('keeps the form through a wrong year, a lost session and a lost answer, and sends no file that is not shown', async () => {
  await within(async (page) => {
    await chooseTemplate(page);
    await page.getByLabel('CSV file').setInputFiles(csvFile('Phone\n+4915120000051\n+4915120000052\n'));
    await page.getByText(/^2 people ·/).waitFor();
    const field = page.getByLabel('Send at');
    // Sets a year of five digits, as the browser's own field does when a user types a fifth digit.
    await page.evaluate(`{
      const input = document.querySelector('input[type=datetime-local]');
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, '12026-11-25T09:00');
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
    await page.getByText('This is not a date with a year of four digits.').waitFor();
    expect(await page.getByRole('button', { name: 'Create campaign' }).isDisabled()).toBe(true);
    await field.fill(tomorrow);
    await page.getByText(/\(Europe\/Berlin\), in 2\d h/).waitFor();
    const create = page.getByRole('button', { name: 'Create campaign' });
    await create.and(page.locator(':enabled')).waitFor();
    await page.context().clearCookies();
    await create.click();
    await page.getByLabel('API key', { exact: true }).fill(stack.dev.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(/^2 people ·/).waitFor();
    await page.getByText('people.csv').waitFor();
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'Type numbers' }).click();
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'A CSV file' }).click();
    await page.getByText('Drop a CSV here, or').waitFor();
    expect(await page.getByRole('button', { name: 'Create campaign' }).isDisabled()).toBe(true);
    expect(await page.getByText(/^2 people ·/).count()).toBe(0);
    await page.getByLabel('CSV file').setInputFiles(csvFile('+4915120000053,Ada\n+4915120000054,Grace\n'));
    await page.getByText('Is the first line a person?').waitFor();
    await lookAtState(page, 'new-campaign-first-line');
    await page.getByRole('button', { name: 'It is a person' }).click();
    await page.getByText(/^2 people ·/).waitFor();
    await page.getByLabel('Campaign name').fill('Created once');
    await loseAnswers(page, '**/campaigns/auto-trigger');
    await page.getByRole('button', { name: 'Create campaign' }).click();
    await page.getByRole('alert').getByText('The service did not answer').waitFor({ timeout: 30_000 });
    await page.reload();
    await page.getByText(/^2 people ·/).waitFor();
    await page.getByRole('button', { name: 'Create campaign' }).click();
    await page.getByRole('heading', { name: 'Created once', level: 1 }).waitFor();
    expect((await api.listCampaigns(client, { search: 'Created once' })).data).toHaveLength(1);
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await expect.poll(() => page.getByLabel('Campaign name').inputValue()).toBe('Created once (copy)');
    expect(await field.inputValue()).toBe(tomorrow);
    let leave = (): void => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    await page.route('**/campaigns/auto-trigger', (route) => left.then(() => route.continue()));
    await create.click();
    await page.getByRole('link', { name: 'Contacts', exact: true }).click();
    await page.getByRole('button', { name: 'New contact' }).click();
    const created = page.waitForResponse('**/campaigns/auto-trigger');
    leave();
    await (await created).finished();
    await page.getByLabel('First name').fill('Ada');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor();
  });
});

it('asks before it sends to many, and preselects no reason for which a second send would fail again', async () => {
  const rows = Array.from({ length: 1_200 }, (_, at) => `+49151${26_000_000 + at}`);
  await within(async (page) => {
    await chooseTemplate(page);
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'Type numbers' }).click();
    const numbers = page.getByLabel('One number per line');
    const create = page.getByRole('button', { name: 'Create campaign' });
    const dialog = page.getByRole('dialog', { name: 'Send to 1,200 people?' });
    await numbers.fill(rows[0] ?? '');
    await page.getByText(/^1 person ·/).waitFor();
    // Before the new audience is counted.
    await numbers.fill(rows.join('\n'));
    await create.click();
    await dialog.getByRole('button', { name: 'Go back' }).click();
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'A CSV file' }).click();
    await page.getByLabel('CSV file').setInputFiles(csvFile(`Phone\n${rows.join('\n')}\n`));
    await page.getByText(/^1,200 people ·/).waitFor();
    await create.click();
    await dialog.getByText(/“plain_notice” goes to 1,200 people for 66\.00 USD/).waitFor();
    await lookAtState(page, 'new-campaign-confirm', { fullPage: false });
    await dialog.getByRole('button', { name: 'Go back' }).click();
    const id = await createCampaign('Hopeless', ['+4915166131026', '+4915120000061']);
    await openCampaign(page, id, 'Hopeless');
    await page.getByRole('button', { name: 'Resend to failed' }).click({ timeout: 30_000 });
    const reasons = page.getByRole('dialog', { name: 'Resend to failed' });
    expect(await reasons.getByRole('checkbox').first().isChecked()).toBe(false);
    await expectNoViolationInState(page);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'New campaign', level: 1 }).waitFor();
    await expect.poll(() => page.getByLabel('Campaign name').inputValue()).toBe('Hopeless (copy)');
  });
});

it('creates one campaign when its confirmation is clicked twice', async () => {
  await within(
    async (page) => {
      await chooseTemplate(page);
      await page.getByRole('combobox', { name: 'Audience' }).click();
      await page.getByRole('option', { name: 'Type numbers' }).click();
      const rows = Array.from({ length: 1_200 }, (_, at) => `+49151${27_000_000 + at}`);
      await page.getByLabel('One number per line').fill(rows.join('\n'));
      await page.getByText(/^1,200 people ·/).waitFor();
      await page.getByRole('button', { name: 'Create campaign' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send to 1,200 people?' });
      let requests = 0;
      // Without an answer the client repeats no request by itself.
      await page.route('**/campaigns/auto-trigger', () => void (requests += 1));
      await dialog.getByRole('button', { name: 'Send to 1,200 people' }).dblclick();
      await dialog.waitFor({ state: 'hidden' });
      await expect.poll(() => requests).toBe(1);
      // A later request of the page was answered, so one of the second click would have left too.
      await page.evaluate(`fetch('/dashboard/session')`);
      expect(requests).toBe(1);
    },
    // Only with animations does the dialog stay for a moment after the first click.
    { reducedMotion: 'no-preference' },
  );
});

it('warns before a second resend to people whom the first one may have reached', async () => {
  const id = await createCampaign('Resent twice', ['+4915166131026', '+4915120000062']);
  await within(async (page) => {
    await openCampaign(page, id, 'Resent twice');
    const again = page.getByRole('button', { name: 'Resend to failed' });
    await again.click({ timeout: 30_000 });
    const dialog = page.getByRole('dialog', { name: 'Resend to failed' });
    await dialog.getByRole('checkbox').first().check();
    const next = dialog.getByRole('button', { name: 'Continue with 1 person' });
    const warning = dialog.getByText('You have already resent to these people');
    expect(await warning.count()).toBe(0);
    await next.click();
    await page.getByLabel('Campaign name').fill('The first resend');
    await page.getByRole('button', { name: 'Create campaign' }).click();
    await page.getByRole('heading', { name: 'The first resend', level: 1 }).waitFor();
    await openCampaign(page, id, 'Resent twice');
    await again.click();
    await dialog.getByRole('checkbox').first().check();
    await warning.waitFor();
    await dialog.getByRole('link', { name: 'The first resend' }).waitFor();
    await dialog.getByRole('checkbox').first().uncheck();
    await warning.waitFor({ state: 'hidden' });
  });
});

it('tells the holder of a key without the right to send so before the form is filled in', async () => {
  const { page, close } = await visitAs(stack.dev.operatorKey);
  try {
    await goTo(page, 'New campaign');
    await page.getByText('This key cannot send').waitFor();
    await expectNoViolationInState(page);
  } finally {
    await close();
  }
});

it('keeps the columns that were chosen through a reload and in a copy, and lets a corrected file be chosen again', async () => {
  await within(async (page) => {
    await chooseTemplate(page);
    const file = csvFile('Name,Phone,Mobile\nAda,+4915166000071,+4915166000081\n');
    await page.getByLabel('CSV file').setInputFiles(file);
    const column = page.getByRole('combobox', { name: 'Phone number' });
    await column.click();
    await page.getByRole('option', { name: 'Mobile' }).click();
    const row = page.getByRole('cell', { name: '+4915166000081' });
    await row.waitFor();
    expect(await page.getByRole('combobox', { name: 'Country', exact: true }).inputValue()).toBe('Mobile');
    await page.reload();
    await page.getByText(/^Draft of .+ restored\.$/).waitFor();
    await page.getByText(/^1 person ·/).waitFor();
    expect(await column.inputValue()).toBe('Mobile');
    await row.waitFor();
    await page.getByLabel('Campaign name').fill('By mobile');
    await page.getByRole('button', { name: 'Create campaign' }).click();
    await page.getByRole('heading', { name: 'By mobile', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await row.waitFor();
    expect(await column.inputValue()).toBe('Mobile');
    await page.getByLabel('CSV file').setInputFiles(file);
    await page.getByText('people.csv').waitFor();
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose another' }).click();
    await chooser;
    expect(await page.getByLabel('CSV file').inputValue()).toBe('');
  });
});

it('takes the file that was dropped last, though the one before it is uploaded later', async () => {
  await within(async (page) => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    let uploads = 0;
    await page.route('**/campaigns/csv-files', async (route) => {
      uploads += 1;
      if (uploads === 1) await held;
      await route.continue();
    });
    await chooseTemplate(page);
    const drop = async (name: string, number: string) => {
      const dataTransfer = await page.evaluateHandle(`{
        const data = new DataTransfer();
        data.items.add(new File(['Phone\\n${number}\\n'], '${name}', { type: 'text/csv' }));
        data;
      }`);
      await page.getByText(/^Drop a CSV here/).dispatchEvent('drop', { dataTransfer });
    };
    await drop('first.csv', '+4915166000091');
    await drop('second.csv', '+4915166000092');
    await page.getByText('second.csv').waitFor();
    const late = page.waitForResponse('**/campaigns/csv-files');
    answer();
    await (await late).finished();
    await page.getByText(/^1 person ·/).waitFor();
    await page.evaluate(`fetch('/dashboard/session').then(() => undefined)`);
    await page.getByRole('cell', { name: '+4915166000092' }).waitFor();
    expect(await page.getByText('first.csv').count()).toBe(0);
    await page.reload();
    await page.getByText('second.csv').waitFor();
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByText('Drop a CSV here, or').waitFor();
    expect(await page.getByRole('combobox', { name: 'Template' }).inputValue()).toBe('');
  });
});

it('keeps what is typed on the screen where the tab has no room to keep it', async () => {
  await within(async (page) => {
    await goTo(page, 'New campaign');
    // The browser refuses a list of more than five million characters so.
    await page.evaluate(
      `Storage.prototype.setItem = () => { throw new DOMException('Full', 'QuotaExceededError'); }`,
    );
    await page.getByLabel('Campaign name').fill('Still here');
    await page.getByRole('heading', { name: 'Review' }).waitFor();
    expect(await page.getByLabel('Campaign name').inputValue()).toBe('Still here');
  });
});
