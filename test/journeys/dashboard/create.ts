/** A campaign of a messy CSV, made by the keyboard alone. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { makeDemoCsv } from '../../../local/demo/csv.ts';
import {
  atPace,
  client,
  createCampaign,
  expectNoViolation,
  openCampaign,
  signIn,
  stack,
  visit,
  expectAtScreen,
  expectFocus,
  goTo,
  lookAt,
  photograph,
  tabTo,
  use,
  within,
} from './fixture.ts';

const contactsAndCampaigns = async () => [
  (await api.listContacts(client)).data.length,
  (await api.listCampaigns(client)).data.length,
];

it('makes a campaign of a messy CSV by the keyboard alone, and nothing of it before the last button', async () => {
  const csv = makeDemoCsv({ rows: 1_000, seed: 20_240_229 });
  await atPace(60, () =>
    within(async (page) => {
      const type = (text: string) => page.keyboard.type(text);
      await goTo(page, 'Campaigns');
      await page.getByText('No campaign yet').waitFor();
      await photograph(page, 'campaigns-empty');
      const before = await contactsAndCampaigns();
      await use(page, page.getByRole('main').getByRole('link', { name: 'New campaign' }));
      // The focused link was removed: the next Tab continues in the new content.
      await page.getByRole('heading', { name: 'New campaign' }).waitFor();
      await tabTo(page, page.getByRole('combobox', { name: 'Template' }));
      await type('hello_campaign (en');
      await page.getByRole('option', { name: 'hello_campaign (en_US)' }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('figure').getByText('Hello {{1}}, thank you').waitFor();
      const choose = page.getByRole('button', { name: 'Choose a file' });
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), use(page, choose)]);
      await chooser.setFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv.text) });
      const chosen = (name: string) => page.getByRole('combobox', { name }).inputValue();
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
      await page
        .getByText('Skipped: The number stands in the list more than once', { exact: true })
        .waitFor();
      const outlook = page.getByRole('status').filter({ hasText: 'sent in about' });
      await outlook.getByText(/^\d+ people for [\d.]+ USD, sent in about \d+ s\.$/).waitFor();
      await outlook.getByText(`${csv.planted.invalid} will be skipped: not a phone number.`).waitFor();
      await lookAt(page, 'new-campaign-csv');
      await photograph(page, 'docs-new-campaign', { fullPage: false });
      // Another column, and back.
      await tabTo(page, page.getByRole('combobox', { name: 'Phone number' }));
      await page.keyboard.press('ArrowDown');
      await page.getByRole('option', { name: 'Full name' }).waitFor();
      await page.keyboard.press('Escape');
      await expectFocus(page, page.getByRole('combobox', { name: 'Phone number' }));
      expect(await chosen('Phone number')).toBe('Mobile phone');
      await tabTo(page, page.getByLabel('Campaign name'));
      await page.keyboard.press('Control+A');
      await type('Autumn collection');
      await tabTo(page, page.getByLabel('Country code'));
      await type('+49');
      await tabTo(page, page.getByLabel('Test number'));
      await type('0151 12345678');
      const send = page.getByRole('button', { name: 'Send test' });
      await use(page, send);
      await page.getByText('Sent: the provider accepted it.').waitFor();
      await expectFocus(page, send);
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
}, 120_000);

it('asks for the picture of a header and the end of a button’s address, and sends with them', async () => {
  await within(async (page) => {
    await goTo(page, 'New campaign');
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'order_update (en_US)' }).click();
    const buffer = Buffer.from('Phone,First name\n+4915120000031,Ada\n');
    const csv = { name: 'people.csv', mimeType: 'text/csv', buffer };
    await page.getByLabel('CSV file').setInputFiles(csv);
    await page.getByText('Choose a value for “Value of button 1”.').waitFor();
    for (const [name, value] of [
      ['{{2}} in the body', 'A-1001'],
      ['{{3}} in the body', 'Friday'],
      ['Value of button 1', 'A-1001'],
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
    await page.getByText(/^1 person for/).waitFor();
    await page.getByRole('button', { name: 'Create campaign' }).click();
    await page.getByText('Completed: 1 of 1 person was sent to.').waitFor({ timeout: 30_000 });
  });
}, 60_000);

const day = 86_400_000;
/** Format of an `<input type="datetime-local">`, in the browser's time zone, which is ahead of UTC. */
const tomorrow = new Date(Date.now() + day).toISOString().slice(0, 16);
const link = 'https://media.example.com/card.jpg';

/** For each kind of template: the fields beside its text, their values, and what the preview shows. */
const rare: readonly {
  readonly template: string;
  readonly values: Readonly<Record<string, string>>;
  readonly shown: string;
}[] = [
  {
    template: 'single_product_offer',
    values: {
      'Product in the header, by its id': 'plant-7',
      'Catalog of the product, by its id': '4711',
      '{{1}} in the body': '25OFF',
      '{{2}} in the body': '25%',
    },
    shown: 'plant-7',
  },
  {
    template: 'limited_time_trip',
    values: {
      'Address of the header’s file': link,
      '{{2}} in the body': 'TRIP25',
      'Value of button 1': 'TRIP25',
      'Value of button 2': 'n3mtql',
      'The offer ends': tomorrow,
    },
    shown: 'The offer ends ',
  },
  {
    template: 'media_carousel',
    values: {
      '{{2}} in the body': '20OFF',
      'Card 1: Address of the header’s file': link,
      'Card 1: {{1}} in the body': '20%',
      'Card 1: Value of button 2': 'fern',
      'Card 2: Address of the header’s file': link,
      'Card 2: {{1}} in the body': '30%',
      'Card 2: Value of button 2': 'moss',
    },
    shown: 'Take 30% off with this card today.',
  },
  {
    template: 'product_carousel',
    values: Object.fromEntries(
      [1, 2, 3].flatMap((card) => [
        [`Card ${card}: Product in the header, by its id`, `plant-${card}`],
        [`Card ${card}: Catalog of the product, by its id`, '4711'],
      ]),
    ),
    shown: 'plant-3',
  },
  {
    template: 'abandoned_cart',
    values: {
      '{{1}} in the header': 'Ada',
      '{{1}} in the body': '10OFF',
      'Products of button 1': 'Bread: 1017, 1018\nCake: 2001',
    },
    shown: 'Forgot something, Ada?',
  },
];

it('says of a template that cannot be sent that it cannot, as soon as it is chosen', async () => {
  const components = [
    { type: 'BODY', text: 'Pay here.' },
    { type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS', text: 'Pay' }] },
  ];
  const origin = new URL(stack.dev.providerUrl).origin;
  const template = { name: 'bill', language: 'en_US', components };
  await fetch(`${origin}/_simulator/templates`, { method: 'POST', body: JSON.stringify({ template }) });
  await api.syncTemplates(client);
  await within(async (page) => {
    await goTo(page, 'New campaign');
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'bill (en_US)' }).click();
    await page
      .getByText('cannot be sent by this service, choose another: it has a button of type ORDER_DETAILS.')
      .waitFor();
    expect(await page.getByRole('button', { name: 'Create campaign' }).isDisabled()).toBe(true);
  });
}, 60_000);

it('asks for products, cards and the end of an offer, and sends with them', async () => {
  await api.createContact(client, { phoneNumber: '+4915120000041', firstName: 'Ada', lastName: 'Segment' });
  const conditions = [{ field: 'lastName', operator: 'eq', value: 'Segment' }] as const;
  await api.createSegment(client, { name: 'One', match: 'all', conditions });
  await within(async (page) => {
    for (const { template, values, shown } of rare) {
      await goTo(page, 'Campaigns');
      await goTo(page, 'New campaign');
      await page.getByRole('combobox', { name: 'Template' }).click();
      await page.getByRole('option', { name: `${template} (en_US)` }).click();
      await page.getByRole('combobox', { name: 'Audience' }).click();
      if (template === 'abandoned_cart') {
        await page.getByRole('option', { name: 'Contacts of segments' }).click();
        await page.getByRole('combobox', { name: 'Segments' }).click();
        await page.getByRole('option', { name: 'One' }).click();
        await page.keyboard.press('Escape');
      } else {
        await page.getByRole('option', { name: 'Numbers typed here' }).click();
        await page.getByLabel('Numbers, one a line').fill('+4915120000042');
      }
      if (template === 'product_carousel') {
        await page.getByRole('combobox', { name: 'Cards' }).click();
        await page.getByRole('option', { name: '3', exact: true }).click();
      }
      const given = Object.entries({ '{{1}} in the body': 'Ada', ...values });
      for (const [name, value] of given)
        await page
          .locator('input, textarea')
          .and(page.getByLabel(name, { exact: true }))
          .fill(value);
      await page.getByRole('figure').getByText(shown).waitFor();
      await page.getByText(/^1 person for/).waitFor();
      await lookAt(page, `new-campaign-${template}`);
      await page.getByLabel('Campaign name').fill(template);
      await page.getByRole('button', { name: 'Create campaign' }).click();
      await page.getByRole('heading', { name: template }).waitFor();
    }
  });
  const sent = async () => {
    const { data } = await api.listCampaigns(client, { search: '_', limit: 20 });
    return data.flatMap(({ name, status, counters }) =>
      rare.some(({ template }) => template === name) ? [[status, counters.failed]] : [],
    );
  };
  await expect.poll(sent, { timeout: 30_000 }).toEqual(rare.map(() => ['COMPLETED', 0]));
}, 120_000);

const csvFile = (text: string) => ({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });

async function chooseTemplate(page: Page): Promise<void> {
  await goTo(page, 'New campaign');
  await page.getByRole('combobox', { name: 'Template' }).click();
  await page.getByRole('option', { name: 'plain_notice (en_US)' }).click();
}

it('keeps the form through a wrong year and a lost session, and sends no file that is not shown', async () => {
  await within(async (page) => {
    await chooseTemplate(page);
    await page.getByLabel('CSV file').setInputFiles(csvFile('Phone\n+4915120000051\n+4915120000052\n'));
    await page.getByText(/^2 people for/).waitFor();
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
    await page.getByText(/\(Europe\/Berlin\), in 2\d hr/).waitFor();
    await page.context().clearCookies();
    await page.reload();
    await page.getByLabel('API key', { exact: true }).fill(stack.dev.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(/^2 people for/).waitFor();
    await page.getByText('people.csv').waitFor();
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'Numbers typed here' }).click();
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'A CSV file' }).click();
    await page.getByText('Drop a CSV here, or').waitFor();
    expect(await page.getByRole('button', { name: 'Create campaign' }).isDisabled()).toBe(true);
    expect(await page.getByText(/^2 people for/).count()).toBe(0);
    await page.getByLabel('CSV file').setInputFiles(csvFile('+4915120000053,Ada\n+4915120000054,Grace\n'));
    await page.getByText('Is the first line a person?').waitFor();
    await lookAt(page, 'new-campaign-first-line');
    await page.getByRole('button', { name: 'It is a person' }).click();
    await page.getByText(/^2 people for/).waitFor();
  });
}, 60_000);

it('asks before it sends to many, and leaves out those for whom it is hopeless', async () => {
  const rows = Array.from({ length: 1_200 }, (_, at) => `+49151${26_000_000 + at}`);
  await within(async (page) => {
    await chooseTemplate(page);
    await page.getByLabel('CSV file').setInputFiles(csvFile(`Phone\n${rows.join('\n')}\n`));
    await page.getByText(/^1,200 people for/).waitFor();
    await page.getByRole('button', { name: 'Create campaign' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send to 1,200 people?' });
    await dialog.getByText(/“plain_notice” goes to 1,200 people for 66\.00 USD/).waitFor();
    await lookAt(page, 'new-campaign-confirm', { fullPage: false });
    await dialog.getByRole('button', { name: 'Keep as it is' }).click();
    const id = await createCampaign('Hopeless', ['+4915166131026', '+4915120000061']);
    await openCampaign(page, id, 'Hopeless');
    await page.getByRole('button', { name: 'Resend to failed' }).click({ timeout: 30_000 });
    const reasons = page.getByRole('dialog', { name: 'Resend to failed' });
    expect(await reasons.getByRole('checkbox').first().isChecked()).toBe(false);
    await expectNoViolation(page);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'New campaign', level: 1 }).waitFor();
    await expect.poll(() => page.getByLabel('Campaign name').inputValue()).toBe('Hopeless (copy)');
  });
}, 90_000);

it('says to a key that cannot send that it cannot, before a form is filled in', async () => {
  const { page, close } = await visit();
  try {
    await signIn(page, stack.dev.operatorKey);
    await goTo(page, 'New campaign');
    await page.getByText('This key cannot send').waitFor();
    await expectNoViolation(page);
  } finally {
    await close();
  }
}, 30_000);
