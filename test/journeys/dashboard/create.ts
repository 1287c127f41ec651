/** A campaign of a messy CSV, made by the keyboard alone. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { makeDemoCsv } from '../../../local/demo/csv.ts';
import {
  atPace,
  client,
  expectAtScreen,
  expectFocus,
  goTo,
  lookAt,
  loseAnswers,
  photograph,
  tabTo,
  use,
  within,
} from './fixture.ts';

const contactsAndCampaigns = async () => [
  (await api.listContacts(client)).data.length,
  (await api.listCampaigns(client)).data.length,
];

it('creates a campaign from a messy CSV by the keyboard alone, and nothing before the last button', async () => {
  const csv = makeDemoCsv({ rows: 1_000, seed: 20_240_229 });
  await atPace(150, () =>
    within(async (page) => {
      const type = (text: string) => page.keyboard.type(text);
      await goTo(page, 'Campaigns');
      await page.getByText('No campaign yet').waitFor();
      await photograph(page, 'campaigns-empty');
      const before = await contactsAndCampaigns();
      await use(page, page.getByRole('main').getByRole('link', { name: 'New campaign' }));
      // The focused link was removed: the next Tab continues in the new content.
      await page.getByRole('heading', { name: 'New campaign' }).waitFor();
      await tabTo(page, page.getByLabel('Campaign name'));
      await type('Autumn collection');
      await tabTo(page, page.getByRole('combobox', { name: 'Template' }));
      await type('hello_campaign (en');
      await page.getByRole('option', { name: 'hello_campaign (en_US)' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('figure').getByText('Hello {{1}}, thank you').waitFor();
      const choose = page.getByRole('button', { name: 'Choose a file' });
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), use(page, choose)]);
      await chooser.setFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv.text) });
      const chosen = (name: string) => page.getByRole('combobox', { name, exact: true }).inputValue();
      await page.getByRole('combobox', { name: 'Phone number' }).waitFor();
      await expectFocus(page, page.getByRole('button', { name: 'Choose another' }));
      expect(await Promise.all(['Phone number', 'Country', 'Name', 'Email'].map(chosen))).toEqual([
        'Mobile phone',
        'Country',
        'Full name',
        'E-mail',
      ]);
      await page.getByRole('figure').getByText('Hello Björn Smith, thank you').waitFor();
      expect(await page.getByRole('row').count()).toBe(11);
      await page.getByText('Skipped: Duplicate number', { exact: true }).waitFor();
      const outlook = page.getByRole('status').filter({ hasText: 'will be skipped' });
      await outlook.getByText(/^\d+ people · [\d.]+ USD · about \d+ seconds$/).waitFor();
      await outlook.getByText(`${csv.planted.invalid} will be skipped: not a phone number.`).waitFor();
      await lookAt(page, 'new-campaign-csv');
      await photograph(page, 'docs-new-campaign', { fullPage: false });
      // Opening the list of columns and closing it with Escape changes nothing.
      await tabTo(page, page.getByRole('combobox', { name: 'Phone number' }));
      await page.keyboard.press('ArrowDown');
      await page.getByRole('option', { name: 'Full name' }).waitFor();
      await page.keyboard.press('Escape');
      await expectFocus(page, page.getByRole('combobox', { name: 'Phone number' }));
      expect(await chosen('Phone number')).toBe('Mobile phone');
      await tabTo(page, page.getByLabel('Country code', { exact: true }));
      await type('+49');
      await tabTo(page, page.getByLabel('Test number'));
      await type('0151 12345678');
      const send = page.getByRole('button', { name: 'Send test' });
      await loseAnswers(page, '**/message/send');
      await use(page, send);
      await page.getByRole('alert').getByText('The service did not answer.').waitFor({ timeout: 30_000 });
      await use(page, send);
      await page.getByText('Test sent. Charged like a normal message.').waitFor();
      await expectFocus(page, send);
      const sent = await api.listMessages(client, { phone_number: '+4915112345678' });
      expect(sent.data).toHaveLength(1);
      expect(await contactsAndCampaigns()).toEqual(before);
      await use(page, page.getByRole('button', { name: 'Create campaign' }));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Autumn collection' }).waitFor();
      await expectAtScreen(page);
      await expect
        .poll(async () => (await page.getByRole('progressbar').textContent()) ?? '', {
          timeout: 60_000,
          interval: 100,
        })
        .toMatch(/^[5-8]\d\d of/);
      await photograph(page, 'campaign-running');
      await photograph(page, 'docs-campaign', { fullPage: false });
      await goTo(page, 'Campaigns');
    }),
  );
  const { data } = await api.listCampaigns(client);
  expect(data.map(({ name }) => name)).toEqual(['Autumn collection']);
  const [made] = data;
  expect(made?.skipped_reasons['INVALID_PHONE']).toBe(csv.planted.invalid);
  const read = async () => (await api.getCampaign(client, made?.id ?? '')).data.status;
  await expect.poll(read, { timeout: 60_000 }).toBe('COMPLETED');
});

it('asks for the picture of a header and the end of a button’s address, and sends with them', async () => {
  await within(async (page) => {
    await goTo(page, 'New campaign');
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'order_update (en_US)' }).click();
    const buffer = Buffer.from('Phone,First name\n+4915120000031,Ada\n');
    const csv = { name: 'people.csv', mimeType: 'text/csv', buffer };
    await page.getByLabel('CSV file').setInputFiles(csv);
    await page.getByText('Fill in Link of button 1.').waitFor();
    for (const [name, value] of [
      ['Body {{2}}', 'A-1001'],
      ['Body {{3}}', 'Friday'],
      ['Link of button 1', 'A-1001'],
    ] as const)
      await page.getByRole('combobox', { name }).fill(value);
    const png = Buffer.from('iVBORw0KGgo=', 'base64');
    const picture = { name: 'header.png', mimeType: 'image/png', buffer: png };
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Upload file' }).click(),
    ]);
    await chooser.setFiles(picture);
    await page.getByText('header.png').waitFor();
    await page.getByText(/^1 person ·/).waitFor();
    await page.getByText('Body {{2}} is “A-1001” for all 1 person.').waitFor();
    const create = page.getByRole('button', { name: 'Create campaign' });
    await page.route('**/api/campaigns/csv-files/*/preview', (route) => route.abort());
    await page.getByRole('combobox', { name: 'Name', exact: true }).click();
    await page.getByRole('option', { name: 'Phone' }).click();
    await page.getByRole('alert').getByText('The service did not answer').waitFor();
    expect(await create.isDisabled()).toBe(true);
    await page.unroute('**/api/campaigns/csv-files/*/preview');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(/^1 person ·/).waitFor();
    await create.click();
    await page.getByText('Completed: sent to 1 of 1 person.').waitFor({ timeout: 30_000 });
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByText(/^Header file .*: Uploaded for “/).waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Fill in Header file (upload or URL).').waitFor();
  });
});
