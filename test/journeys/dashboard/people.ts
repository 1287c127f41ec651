/** Contacts, segments, conversations, webhooks and activity, as a new user works with them on the first day. */
import { expect, it } from 'vitest';
import { expectNoViolation, goTo, lookAt, lookAtState, loseAnswers, within } from './fixture.ts';

const csv = [
  'phone,first name,city',
  '+4915166132001,Ada,Berlin',
  '+4915166132002,Ottilie,Hamburg',
  '+4915166132002,Ottilie,Hamburg',
  '12,Nobody,Nowhere',
].join('\n');

it('imports contacts, finds one by a number as it is dialled, and shows its page', async () => {
  await within(async (page) => {
    await goTo(page, 'Contacts');
    await page.getByRole('button', { name: 'Import contacts' }).click();
    const dialog = page.getByRole('dialog');
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) };
    await dialog.locator('input[type=file]').setInputFiles(file);
    await dialog.getByText('2 contacts would be created').waitFor({ timeout: 30_000 });
    await dialog.getByText('1: No valid phone number').waitFor();
    await expectNoViolation(page);
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('2 contacts created, 0 updated').waitFor({ timeout: 30_000 });
    await dialog.getByText('1: Duplicate number').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByLabel('Search contacts').fill('0151 66132001');
    await page.getByRole('link', { name: 'Ottilie' }).waitFor({ state: 'hidden' });
    await expectNoViolation(page);
    await page.getByRole('link', { name: 'Ada' }).click();
    await page.getByRole('heading', { name: 'Ada', level: 1 }).waitFor();
    await page.getByRole('cell', { name: 'Berlin' }).waitFor();
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByText('Opted out by an operator or the API').waitFor();
    // The second click of a double click.
    const turned = page.getByRole('button', { name: 'Subscribe', exact: true });
    await turned.dispatchEvent('click', { detail: 2 });
    await lookAt(page, 'contact');
    expect(await turned.count()).toBe(1);
    await page.getByRole('button', { name: 'Erase' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Erase for good' }).click();
    await page.getByRole('status').getByText('The contact was erased.').waitFor();
    await page.goBack();
    await page.getByText('This contact was erased.').waitFor();
    expect(await page.getByText(/^(No connection to the service|The service cannot answer)/).count()).toBe(0);
    await goTo(page, 'Contacts');
    await page.getByLabel('Search contacts').fill('0151 66132001');
    await page.getByText('Nobody matches').waitFor();
  });
});

it('counts a segment while it is written, saves it, and narrows contacts by it', async () => {
  await within(async (page) => {
    await goTo(page, 'Segments');
    await page.getByRole('button', { name: 'New segment' }).click();
    await page.getByText('Fill in the condition to see the count.').waitFor();
    await page.getByLabel('Segment’s name').fill('Hamburg');
    await page.getByRole('combobox', { name: 'Field 1' }).click();
    await page.getByRole('option', { name: 'First name' }).waitFor();
    await expectNoViolation(page);
    await page.getByRole('option', { name: 'First name' }).click();
    await page.getByLabel('Value 1').fill('Ottilie');
    await page.getByText('1 contact matches, of whom 1 can receive campaigns.').waitFor();
    await loseAnswers(page, '**/api/segments', 1);
    await page.getByRole('button', { name: 'Save segment' }).click();
    await page.getByRole('link', { name: 'Hamburg', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Hamburg', exact: true }).count()).toBe(1);
    await loseAnswers(page, '**/api/tags', 1);
    await page.getByLabel('New tag').fill('Harbour');
    await page.getByRole('button', { name: 'Create tag' }).click();
    await page.getByRole('link', { name: 'Harbour' }).waitFor();
    expect(await page.getByRole('link', { name: 'Harbour' }).count()).toBe(1);
    await page.route('**/api/segments/*', (route) => route.abort());
    await page
      .getByRole('row', { name: /Hamburg/ })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByRole('button', { name: 'Delete segment' }).click();
    await page.getByRole('alert').getByText('The service did not answer').waitFor({ timeout: 30_000 });
    await page.unroute('**/api/segments/*');
    await page.getByRole('link', { name: 'Show the contacts of Hamburg' }).click();
    await page.getByRole('link', { name: 'Ottilie' }).waitFor();
    expect(page.url()).toContain('segment=');
    await goTo(page, 'New campaign');
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'hello_campaign (en_US)' }).click();
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'Segments' }).click();
    await page.getByRole('combobox', { name: 'Segments' }).click();
    await page.getByRole('option', { name: 'Hamburg' }).click();
    await page.getByRole('figure').getByText('Hello Ottilie, thank you').waitFor();
    await page.getByText('Example: Ottilie.').waitFor();
    await page.getByText(/^1 person ·/).waitFor();
    await lookAtState(page, 'new-campaign-segment');
  });
});

it('makes a webhook with a secret that is shown once, tests, pauses and deletes it', async () => {
  await within(async (page) => {
    await goTo(page, 'Webhooks');
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Data warehouse');
    await dialog.getByLabel('Address').fill('http://127.0.0.1:9/hook');
    await dialog.getByRole('checkbox', { name: 'read', exact: true }).check();
    await expectNoViolation(page);
    await loseAnswers(page, '**/api/external-webhooks');
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByRole('alert').getByText('The service did not answer').waitFor({ timeout: 30_000 });
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await page.mouse.click(10, 500);
    expect(await dialog.getByText(/^whsec_/).isVisible()).toBe(true);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const card = page.getByRole('listitem', { name: 'Data warehouse' });
    expect(await card.count()).toBe(1);
    await card.getByText('No deliveries yet').waitFor();
    await card.getByRole('button', { name: 'Send test event' }).click();
    await card.getByText('A test event was sent to Data warehouse.').waitFor();
    await card.getByRole('button', { name: 'Pause webhook' }).click();
    await card.getByRole('button', { name: 'Activate webhook' }).waitFor();
    await card.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await card.waitFor({ state: 'hidden' });
    await goTo(page, 'Activity');
    await page.getByRole('tab', { name: 'Audit log' }).click();
    await page.getByRole('cell', { name: 'Webhook deleted' }).first().waitFor();
    await expectNoViolation(page);
  });
});
