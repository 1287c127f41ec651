/** After a campaign: its new name, the replies to it, an answer, and actions on several campaigns. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  client,
  createCampaign,
  expectAtScreen,
  expectFocus,
  expectNoViolation,
  goTo,
  hasten,
  loseSession,
  lookAt,
  lookAtState,
  loseAnswers,
  openCampaign,
  stack,
  tabTo,
  use,
  within,
} from './fixture.ts';

const simulator = () => new URL(stack.dev.providerUrl).origin;
const control = (name: string, body: object) =>
  fetch(`${simulator()}/_simulator/${name}`, { method: 'POST', body: JSON.stringify(body) });

it('renames a campaign, shows who replied to it, and answers with a template', async () => {
  const number = '+4915120000081';
  const id = await createCampaign('Working title', [number]);
  await within(async (page) => {
    await page.clock.install();
    await openCampaign(page, id, 'Working title');
    await page.getByText('Completed: sent to 1 of 1 person.').waitFor({ timeout: 30_000 });
    // By the keyboard alone.
    const rename = page.getByRole('button', { name: 'Rename' });
    await use(page, rename);
    const dialog = page.getByRole('dialog', { name: 'Rename the campaign' });
    await tabTo(page, dialog.getByLabel('Campaign name'));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('Closed on Monday');
    await tabTo(page, dialog.getByLabel('Description'));
    await page.keyboard.type('For all who came in October');
    await expectNoViolation(page);
    await use(page, dialog.getByRole('button', { name: 'Save name' }));
    await page.getByRole('heading', { name: 'Closed on Monday', level: 1 }).waitFor();
    await expectFocus(page, rename);
    await page.getByText('For all who came in October').waitFor();
    const tabs = page.getByRole('navigation', { name: 'Campaign' });
    await tabs.getByRole('link', { name: 'Replies' }).click();
    await page.getByText('No reply', { exact: true }).waitFor();
    await control('inbound', {
      from: number.slice(1),
      text: 'Are you open on Tuesday?',
      profileName: 'Edda',
    });
    const link = page.getByRole('table', { name: 'Replies' }).getByRole('link');
    await hasten(page, link);
    await lookAt(page, 'campaign-replies');
    await link.click();
    await page.getByText('Are you open on Tuesday?').waitFor();
    await page.getByText(/^You can reply here with templates\./).waitFor();
    await lookAt(page, 'conversation');
    await page.getByRole('button', { name: 'Answer with a template' }).click();
    const answer = page.getByRole('dialog', { name: 'Answer with a template' });
    await answer.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'hello_campaign (en_US)' }).click();
    await answer.getByText(/^Still without a value: /).waitFor();
    expect(await answer.getByRole('button', { name: 'Send answer' }).isDisabled()).toBe(true);
    await answer.getByRole('combobox', { name: 'Body {{1}}' }).fill('Edda');
    await loseSession(page, () => answer.getByRole('button', { name: 'Send answer' }).click());
    await answer.getByRole('figure').getByText('Hello Edda, thank you').waitFor();
    await lookAtState(page, 'conversation-answer');
    await loseAnswers(page, '**/message/send');
    await answer.getByRole('button', { name: 'Send answer' }).click();
    await hasten(page, answer.getByText('The service did not answer'));
    await answer.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Answer with a template' }).click();
    await answer.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'hello_campaign (en_US)' }).click();
    await answer.getByRole('combobox', { name: 'Body {{1}}' }).fill('Edda');
    await answer.getByRole('button', { name: 'Send answer' }).click();
    await hasten(page, page.getByText('Template hello_campaign'));
    await answer.waitFor({ state: 'hidden' });
    const sent = (await api.listMessages(client, { phone_number: number })).data;
    expect(sent.filter(({ direction }) => direction === 'outbound')).toHaveLength(1);
    await page.getByRole('button', { name: 'Resolve' }).click();
    await page.getByRole('button', { name: 'Open again' }).waitFor();
    await page.getByRole('button', { name: 'Open again' }).click();
    await page.getByRole('button', { name: 'Assign' }).click();
    await page.getByLabel('Who answers').fill('Grace');
    const assign = page.getByRole('button', { name: 'Save assignment' });
    await loseSession(page, () => assign.click());
    await assign.click();
    await page.getByText('Assigned to Grace').waitFor();
  });
});

it('shows in a conversation what a campaign wrote to the person, with the values of that person', async () => {
  const number = '4915129990086';
  const found = await api.listTemplates(client, { search: 'hello_campaign' });
  const { data } = await api.createCampaign(client, {
    name: 'Personal',
    template_id: found.data.find(({ language }) => language === 'en_US')?.id ?? '',
    contact_selection_type: 'quick_contacts',
    quick_contacts: [`+${number}, Edda`],
    send_type: 'IMMEDIATE',
  });
  await within(async (page) => {
    await page.clock.install();
    await openCampaign(page, data.campaign.id, 'Personal');
    await hasten(page, page.getByText('Completed: sent to 1 of 1 person.'));
    await control('inbound', { from: number, text: 'Where is the shop?', profileName: 'Edda' });
    await page.getByRole('navigation', { name: 'Campaign' }).getByRole('link', { name: 'Replies' }).click();
    const link = page.getByRole('table', { name: 'Replies' }).getByRole('link');
    await hasten(page, link);
    await link.click();
    await page.getByRole('button', { name: 'Show the message' }).click();
    await page.getByRole('figure').getByText('Hello Edda, thank you for being with us.').waitFor();
    await lookAtState(page, 'conversation-message');
    await page.setViewportSize({ width: 375, height: 800 });
    await lookAtState(page, 'conversation-message-phone');
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
    await page.getByRole('button', { name: 'Hide the message' }).click();
    await page.getByRole('figure').waitFor({ state: 'hidden' });
  });
});

it('acts on several campaigns at once by the keyboard alone, and says where that is refused', async () => {
  const at = new Date(Date.now() + 86_400_000).toISOString();
  const name = (part: string) => `Together ${part}`;
  for (const part of ['one', 'two'])
    await api.createCampaign(client, {
      name: name(part),
      template_id: stack.dev.templateIds['plain_notice'] ?? '',
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915120000083'],
      send_type: 'SCHEDULED',
      scheduled_at: at,
    });
  await within(async (page) => {
    await goTo(page, 'Campaigns');
    await page.getByLabel('Search by name').fill('Together');
    await page.getByText('Together one').waitFor();
    await page.route('**/pause', (route) => route.abort());
    await page.getByRole('button', { name: 'Actions for Together one' }).click();
    await page.getByRole('menuitem', { name: 'Pause' }).click();
    await page.getByRole('alert').getByText('The service did not answer').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    for (const part of ['one', 'two']) {
      await tabTo(page, page.getByRole('checkbox', { name: `Choose ${name(part)}` }));
      await page.keyboard.press('Space');
    }
    const bar = page.getByRole('region', { name: 'Chosen rows' });
    await bar.getByText('2 selected').waitFor();
    await lookAtState(page, 'campaigns-chosen');
    await use(page, bar.getByRole('button', { name: 'Cancel' }));
    const question = page.getByRole('dialog');
    await expectFocus(page, question.getByRole('button', { name: 'Keep campaigns' }));
    await use(page, question.getByRole('button', { name: 'Cancel the campaigns' }));
    await bar.waitFor({ state: 'hidden' });
    await expectAtScreen(page);
    const statuses = async () =>
      (await api.listCampaigns(client, { search: 'Together' })).data.map(({ status }) => status);
    await expect.poll(statuses).toEqual(['CANCELLED', 'CANCELLED']);
    await tabTo(page, page.getByRole('checkbox', { name: 'Choose all' }));
    await page.keyboard.press('Space');
    await use(page, bar.getByRole('button', { name: 'Start' }));
    await page.getByRole('alert').getByText('Could not change 2').waitFor();
  });
});

it('skips who opted out in the file, and offers the skipped rows as a file before anything is created', async () => {
  await within(async (page) => {
    await goTo(page, 'New campaign');
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'plain_notice (en_US)' }).click();
    const rows = ['+4915120000084,', 'none,', '+4915120000084,', '+4915120000085,ja', '0151 20000086,'];
    const buffer = Buffer.from(`Phone,Opt-out\n${rows.join('\n')}\n`);
    await page.getByLabel('CSV file').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer });
    expect(await page.getByRole('combobox', { name: 'Opt-out column' }).inputValue()).toBe('Opt-out');
    await page.getByText('Skip ja (1 person)').waitFor();
    await page.getByRole('combobox', { name: 'Numbers without a plus sign are from' }).fill('Germany');
    await page.getByRole('option', { name: 'Germany (+49)' }).click();
    await page.getByRole('cell', { name: '+4915120000086' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download skipped rows' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[1]).toContain('"3","none: the cell is empty","Not a phone number"');
    expect(lines[2]).toContain('"4","+4915120000084","Duplicate number"');
    expect(lines[3]).toContain('"5","+4915120000085","The person has unsubscribed"');
  });
});

it('tags contacts as they are imported, and several at once later', async () => {
  await within(async (page) => {
    await goTo(page, 'Contacts');
    await page.getByRole('button', { name: 'Import contacts' }).click();
    const dialog = page.getByRole('dialog');
    const buffer = Buffer.from('phone,first name\n+4915166132011,Mina\n+4915166132012,Minos\n');
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer });
    await dialog.getByLabel('Add a tag').fill('Autumn fair');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('2 contacts created').waitFor({ timeout: 30_000 });
    await dialog.getByRole('button', { name: 'Done' }).click();
    await api.createTag(client, { name: 'Regulars' });
    await page.reload();
    await page.getByLabel('Search contacts').fill('Min');
    await page.getByRole('row', { name: /Minos.*Autumn fair/ }).waitFor();
    // The rows of all contacts are gone: their table would take the focus with it.
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    // By the keyboard alone.
    await tabTo(page, page.getByRole('checkbox', { name: 'Choose all' }));
    await page.keyboard.press('Space');
    await tabTo(page, page.getByRole('combobox', { name: 'Tag to add' }));
    await page.keyboard.type('Regul');
    await page.getByRole('option', { name: 'Regulars' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await use(page, page.getByRole('button', { name: 'Add tag' }));
    await page.getByRole('row', { name: /Mina.*Autumn fair.*Regulars/ }).waitFor();
    await expectNoViolation(page);
  });
});
