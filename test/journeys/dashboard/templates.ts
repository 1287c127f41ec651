/** Campaigns of templates with products, cards, offers, or a component that cannot be sent. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { client, goTo, lookAtState, stack, tomorrow, within } from './fixture.ts';

const files = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'image/jpeg' }).end('card');
});
await new Promise<void>((resolve) => {
  files.listen(0, '127.0.0.1', resolve);
});
afterAll(() => void files.close());
const link = `http://127.0.0.1:${(files.address() as AddressInfo).port}/card.jpg`;

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
      'Body {{1}}': '25OFF',
      'Body {{2}}': '25%',
    },
    shown: 'plant-7',
  },
  {
    template: 'limited_time_trip',
    values: {
      'Header file (upload or URL)': link,
      'Body {{2}}': 'TRIP25',
      'Code of button 1': 'TRIP25',
      'Link of button 2': 'n3mtql',
      'The offer ends': tomorrow,
    },
    shown: 'The offer ends ',
  },
  {
    template: 'media_carousel',
    values: {
      'Body {{2}}': '20OFF',
      'Card 1: Header file (upload or URL)': link,
      'Card 1: Body {{1}}': '20%',
      'Card 1: Link of button 2': 'fern',
      'Card 2: Header file (upload or URL)': link,
      'Card 2: Body {{1}}': '30%',
      'Card 2: Link of button 2': 'moss',
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
      'Header {{1}}': 'Ada',
      'Body {{1}}': '10OFF',
      'Products of button 1': 'Bread: 1017, 1018\nCake: 2001',
    },
    shown: 'Forgot something, Ada?',
  },
];

it('warns of a template that cannot be sent as soon as it is chosen', async () => {
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
});

it('asks for products, cards and the end of an offer, and sends with them', async () => {
  await api.createContact(client, { phoneNumber: '+4915120000041', firstName: 'Ada', lastName: 'Segment' });
  const conditions = [{ field: 'lastName', operator: 'eq', value: 'Segment' }] as const;
  await api.createSegment(client, { name: 'One', match: 'all', conditions });
  await within(async (page) => {
    for (const { template, values, shown } of rare) {
      await goTo(page, 'New campaign');
      await page.getByRole('combobox', { name: 'Template' }).click();
      await page.getByRole('option', { name: `${template} (en_US)` }).click();
      await page.getByRole('combobox', { name: 'Audience' }).click();
      if (template === 'abandoned_cart') {
        await page.getByRole('option', { name: 'Segments' }).click();
        await page.getByRole('combobox', { name: 'Segments' }).click();
        await page.getByRole('option', { name: 'One' }).click();
        await page.keyboard.press('Escape');
      } else {
        await page.getByRole('option', { name: 'Type numbers' }).click();
        await page.getByLabel('One number per line').fill('+4915120000042');
      }
      if (template === 'product_carousel') {
        await page.getByRole('combobox', { name: 'Cards' }).click();
        await page.getByRole('option', { name: '3', exact: true }).click();
      }
      const given = Object.entries({ 'Body {{1}}': 'Ada', ...values });
      for (const [name, value] of given)
        await page
          .locator('input, textarea')
          .and(page.getByLabel(name, { exact: true }))
          .fill(value);
      await page.getByRole('figure').getByText(shown).waitFor();
      await page.getByText(/^1 person ·/).waitFor();
      await lookAtState(page, `new-campaign-${template}`);
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
  await expect.poll(sent).toEqual(rare.map(() => ['COMPLETED', 0]));
});
