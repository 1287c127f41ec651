/** The forms and lists of contacts, webhooks and segments: they overwrite no consent, lose no input and act on no hidden row. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  client,
  createWorkspaceKey,
  goTo,
  loseSession,
  openCampaign,
  stack,
  tomorrow,
  within,
} from './fixture.ts';

it('saves a name without undoing the opt-out that arrived while the form was open', async () => {
  const { id } = (await api.createContact(client, { phoneNumber: '+4915166133001', firstName: 'Ada' })).data;
  await within(async (page) => {
    await page.goto(`${stack.dev.dashboardUrl}/contacts/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('First name').fill('Ada Augusta');
    await api.updateContact(client, id, { subscribed: false });
    // A page whose tab is opened again fetches its records anew, those of the last second excepted.
    const reopen = () => page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await expect
      .poll(() => reopen().then(() => page.getByText('Opted out', { exact: true }).isVisible()), {
        timeout: 10_000,
      })
      .toBe(true);
    await dialog.getByRole('button', { name: 'Save contact' }).click();
    await page.getByRole('heading', { name: 'Ada Augusta', level: 1 }).waitFor();
    expect((await api.getContact(client, id)).data.subscribed).toBe(false);
  });
});

const hasText = (text: string) => `Object.values(sessionStorage).some((one) => one.includes('${text}'))`;

it('keeps the forms of contacts and segments through a lost session, until they are saved or left', async () => {
  await within(async (page) => {
    await goTo(page, 'Contacts');
    await page.getByRole('button', { name: 'New contact' }).click();
    await page.getByLabel('First name').fill('Grace');
    await page.getByLabel('Phone number').fill('+4915166133002');
    await page.getByRole('switch', { name: 'Agreed to receive campaigns' }).uncheck();
    const create = page.getByRole('button', { name: 'Create contact' });
    await loseSession(page, () => create.click());
    await create.click();
    await create.waitFor({ state: 'hidden' });
    const [contact] = (await api.listContacts(client, { search: '+4915166133002' })).data;
    expect(contact).toMatchObject({ firstName: 'Grace', subscribed: false });
    await page.reload();
    await page.getByRole('heading', { name: 'Contacts', level: 1 }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.goto(`${stack.dev.dashboardUrl}/contacts/${contact?.id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Last name').fill('Hopper');
    await page.reload();
    await expect.poll(() => page.getByLabel('Last name').inputValue()).toBe('Hopper');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await page.getByLabel('Last name').inputValue()).toBe('');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await goTo(page, 'Segments');
    await page.getByRole('button', { name: 'New segment' }).click();
    await page.getByLabel('Segment’s name').fill('Kept');
    await page.getByLabel('Value 1').fill('49');
    const save = page.getByRole('button', { name: 'Save segment' });
    await loseSession(page, () => save.click());
    await page.getByText(/contacts? match(es)?, of whom/).waitFor();
    await save.click();
    await page.getByRole('link', { name: 'Kept', exact: true }).waitFor();
    await page.getByRole('button', { name: 'New segment' }).click();
    await page.getByLabel('Segment’s name').fill('Of one workspace only');
    const apiKey = await createWorkspaceKey('Another');
    await loseSession(page, () => save.click(), apiKey);
    await page.getByText('Fill in the condition').waitFor();
    expect(await page.getByLabel('Segment’s name').inputValue()).toBe('');
  });
});

it('keeps the form of a webhook through a lost session, without its secret', async () => {
  await within(async (page) => {
    await goTo(page, 'Webhooks');
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Title').fill('Kept');
    await page.getByLabel('Address').fill('http://127.0.0.1:9/kept');
    await page.getByLabel('Secret', { exact: true }).fill('whsec_typed');
    await page.getByRole('checkbox', { name: 'read', exact: true }).check();
    expect(await page.evaluate(hasText('kept'))).toBe(true);
    expect(await page.evaluate(hasText('whsec_'))).toBe(false);
    const create = page.getByRole('button', { name: 'Create webhook' });
    await loseSession(page, () => create.click());
    await create.click();
    await page.getByText(/^whsec_/).waitFor();
    const [made] = (await api.listWebhooks(client)).data.filter(({ title }) => title === 'Kept');
    expect(made).toMatchObject({ url: 'http://127.0.0.1:9/kept', events: ['read'] });
    await page.reload();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await api.deleteWebhook(client, made?.id ?? '');
  });
});

it('shows the secret of a webhook whose form was to be closed before the answer came', async () => {
  await within(async (page) => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/\/api\/external-webhooks$/, async (route) => {
      if (route.request().method() === 'POST') await held;
      await route.continue();
    });
    await goTo(page, 'Webhooks');
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Left early');
    await dialog.getByLabel('Address').fill('http://127.0.0.1:9/early');
    await dialog.getByRole('checkbox', { name: 'read', exact: true }).check();
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await page.keyboard.press('Escape');
    expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    answer();
    await dialog.getByText(/^whsec_/).waitFor();
    await page.keyboard.press('n');
    await page.evaluate(`fetch('/dashboard/session').then(() => undefined)`);
    expect(page.url()).toBe(`${stack.dev.dashboardUrl}/webhooks`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    const [made] = (await api.listWebhooks(client)).data.filter(({ title }) => title === 'Left early');
    await api.deleteWebhook(client, made?.id ?? '');
  });
});

it('closes the question about one person when the page shows another', async () => {
  for (const [firstName, phoneNumber] of [
    ['Anton', '+4915166133021'],
    ['Berta', '+4915166133022'],
  ] as const)
    await api.createContact(client, { firstName, phoneNumber });
  await within(async (page) => {
    for (const name of ['Anton', 'Berta']) {
      await goTo(page, 'Contacts');
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Erase' }).click();
    await dialog.waitFor();
    await page.evaluate('history.go(-2)');
    await page.getByRole('heading', { name: 'Anton', level: 1 }).waitFor();
    await dialog.waitFor({ state: 'hidden', timeout: 5_000 });
  });
});

it('acts on chosen contacts only while they are shown', async () => {
  const named = async (firstName: string, phoneNumber: string) =>
    (await api.createContact(client, { firstName, phoneNumber })).data.id;
  const ids = [await named('Visible', '+4915166133011'), await named('Elsewhere', '+4915166133012')];
  const { tagId } = (await api.createTag(client, { name: 'For the seen' })).data;
  await within(async (page) => {
    await goTo(page, 'Contacts');
    await page.getByRole('checkbox', { name: 'Choose Visible' }).check();
    await page.getByRole('checkbox', { name: 'Choose Elsewhere' }).check();
    await page.getByText('2 selected').waitFor();
    await page.getByLabel('Search contacts').fill('Visible');
    await page.getByText('1 selected').waitFor();
    await page.getByRole('combobox', { name: 'Tag to add' }).click();
    await page.getByRole('option', { name: 'For the seen' }).click();
    await page.getByRole('button', { name: 'Add tag' }).click();
    await page.getByRole('region', { name: 'Chosen rows' }).waitFor({ state: 'hidden' });
    const tagged = await Promise.all(ids.map(async (id) => (await api.getContact(client, id)).data.tagsId));
    expect(tagged).toEqual([[tagId], []]);
    await page.getByRole('checkbox', { name: 'Choose Visible' }).check();
    await page.getByLabel('Search contacts').fill('Nobody at all');
    await page.getByText('Nobody matches').waitFor();
    await page.getByLabel('Search contacts').fill('');
    await page.getByRole('checkbox', { name: 'Choose Elsewhere' }).waitFor();
    expect(await page.getByRole('region', { name: 'Chosen rows' }).count()).toBe(0);
  });
});

it('leaves the next form alone, and the next screen, when the answer to a closed one comes', async () => {
  await within(async (page) => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/\/api\/(contacts|segments)$/, async (route) => {
      if (route.request().method() === 'POST') await held;
      await route.continue();
    });
    await goTo(page, 'Segments');
    await page.getByRole('button', { name: 'New segment' }).click();
    await page.getByLabel('Segment’s name').fill('Saved late');
    await page.getByLabel('Value 1').fill('49');
    await page.getByRole('button', { name: 'Save segment' }).click();
    await goTo(page, 'Contacts');
    await page.getByRole('button', { name: 'New contact' }).click();
    await page.getByLabel('First name').fill('Saved late');
    await page.getByLabel('Phone number').fill('+4915166133031');
    await page.getByRole('button', { name: 'Create contact' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'New contact' }).click();
    await page.getByLabel('First name').fill('Typed meanwhile');
    answer();
    await page.getByRole('link', { name: 'Saved late' }).waitFor();
    await expect
      .poll(async () => (await api.listSegments(client, { limit: 100 })).data.map(({ name }) => name))
      .toContain('Saved late');
    expect(await page.getByLabel('First name').inputValue()).toBe('Typed meanwhile');
    expect(page.url()).toBe(`${stack.dev.dashboardUrl}/contacts`);
  });
});

it('shows a segment as another user left it, and saves only what was changed', async () => {
  const of = (value: string) => [{ field: 'countryCode', operator: 'eq', value }] as const;
  const { id } = (
    await api.createSegment(client, { name: 'Shared', match: 'all', conditions: [...of('49')] })
  ).data;
  await within(async (page) => {
    await goTo(page, 'Segments');
    const open = page.getByRole('link', { name: 'Shared', exact: true });
    const value = page.getByLabel('Value 1');
    await open.click();
    await value.waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await value.waitFor({ state: 'hidden' });
    await api.updateSegment(client, id, { conditions: [...of('91')] });
    await open.click();
    await value.waitFor();
    expect(await value.inputValue()).toBe('91');
    await api.updateSegment(client, id, { conditions: [...of('33')] });
    await page.getByLabel('Segment’s name').fill('Shared, renamed');
    await page.getByRole('button', { name: 'Save segment' }).click();
    await page.getByRole('link', { name: 'Shared, renamed', exact: true }).waitFor();
    expect((await api.getSegment(client, id)).data.conditions).toMatchObject(of('33'));
  });
});

it('saves the events of a webhook without undoing the address that another user gave it', async () => {
  const given = {
    title: 'Shared hook',
    url: 'http://127.0.0.1:9/one',
    events: ['sent'],
    status: 'inactive',
  } as const;
  const { id } = (await api.createWebhook(client, { ...given, events: [...given.events] })).data;
  await within(async (page) => {
    await goTo(page, 'Webhooks');
    const card = page.getByRole('listitem', { name: 'Shared hook' });
    await card.getByRole('button', { name: 'Edit webhook' }).click();
    await api.updateWebhook(client, id, { url: 'http://127.0.0.1:9/two' });
    await page.getByRole('checkbox', { name: 'read', exact: true }).check();
    await page.getByRole('button', { name: 'Save webhook' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const saved = (await api.listWebhooks(client)).data.find((one) => one.id === id);
    expect(saved).toMatchObject({ url: 'http://127.0.0.1:9/two', events: ['sent', 'read'] });
    await api.deleteWebhook(client, id);
  });
});

it('leaves no dialog by a shortcut, and takes none with Control', async () => {
  const given = { title: 'Not left', url: 'http://127.0.0.1:9/hook', status: 'inactive' } as const;
  const { id } = (await api.createWebhook(client, { ...given, events: ['read'] })).data;
  await within(async (page) => {
    await goTo(page, 'Webhooks');
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
      await page.evaluate(`fetch('/dashboard/session').then(() => undefined)`);
      expect(page.url()).toBe(`${stack.dev.dashboardUrl}/webhooks`);
    };
    await page
      .getByRole('listitem', { name: 'Not left' })
      .getByRole('button', { name: 'Edit webhook' })
      .click();
    await page.getByRole('button', { name: 'Make a new secret' }).focus();
    await press('n');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await press('g', 'Control+c');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Keyboard shortcuts').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('n');
    expect(await page.getByLabel('Search', { exact: true }).inputValue()).toBe('n');
    await api.deleteWebhook(client, id);
  });
});

it('acts once on a key that is held down', async () => {
  const { id } = (await api.createContact(client, { phoneNumber: '+4915166133041', firstName: 'Held' })).data;
  await within(async (page) => {
    await page.goto(`${stack.dev.dashboardUrl}/contacts/${id}`);
    await page.getByRole('button', { name: 'Unsubscribe' }).focus();
    const changes: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(request.method());
    });
    await page.keyboard.down('Enter');
    await page.getByRole('button', { name: 'Subscribe', exact: true }).waitFor();
    await page.locator('button[aria-busy=false]').filter({ hasText: 'Subscribe' }).waitFor();
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    // A later request of the page was answered, so one of the repetition would have left too.
    await page.evaluate(`fetch('/dashboard/session').then(() => undefined)`);
    expect(changes).toEqual(['PUT']);
  });
});

const schedule = async (name: string) =>
  (
    await api.createCampaign(client, {
      name,
      template_id: stack.dev.templateIds['plain_notice'] ?? '',
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915120000097'],
      send_type: 'SCHEDULED',
      scheduled_at: new Date(`${tomorrow}Z`).toISOString(),
    })
  ).data.campaign.id;

it('keeps the forms of a campaign and of a recharge through a lost session', async () => {
  const id = await schedule('Changed late');
  await within(async (page) => {
    await goTo(page, 'Campaigns');
    await page.getByRole('button', { name: 'Actions for Changed late' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Campaign name').fill('Changed in time');
    const rename = dialog.getByRole('button', { name: 'Save name' });
    await loseSession(page, () => rename.click());
    await rename.click();
    await page.getByRole('link', { name: 'Changed in time' }).click();
    await page.getByRole('heading', { name: 'Changed in time', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Reschedule' }).click();
    await dialog.getByLabel('Send at').fill('2099-12-24T18:00');
    const move = dialog.getByRole('button', { name: 'Reschedule' });
    await loseSession(page, () => move.click());
    await move.click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Change sending window' }).click();
    await dialog.getByLabel('Send only in certain hours').check();
    await dialog.getByLabel('Send until').fill('18:45');
    const hold = dialog.getByRole('button', { name: 'Save sending window' });
    await loseSession(page, () => hold.click());
    await hold.click();
    await page.getByText(/^09:00 to 18:45, every day/).waitFor();
    const { name, scheduled_at: at } = (await api.getCampaign(client, id)).data;
    expect([name, at]).toEqual(['Changed in time', '2099-12-24T17:00:00.000Z']);
    await api.cancelCampaign(client, id);
    await goTo(page, 'Wallet');
    const operate = async () => {
      await page.getByLabel('Operator key', { exact: true }).fill(stack.dev.operatorKey);
      await page.getByRole('button', { name: 'Allow recharging' }).click();
    };
    await operate();
    await page.getByLabel('Amount in USD').fill('12.34');
    const recharge = page.getByRole('button', { name: 'Recharge' });
    await loseSession(page, () => recharge.click());
    await operate();
    await recharge.click();
    await page.getByText(/^12\.34 USD added; balance /).waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel('Amount in USD').inputValue()).toBe('');
  });
});

it('opens the dialogs of a campaign without what was typed and left', async () => {
  const id = await schedule('To be moved');
  await within(async (page) => {
    await openCampaign(page, id, 'To be moved');
    const open = page.getByRole('button', { name: 'Reschedule' });
    await open.click();
    const time = page.getByLabel('Send at');
    const planned = await time.inputValue();
    await time.fill('2099-12-24T18:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await open.click();
    expect(await time.inputValue()).toBe(planned);
    await page.keyboard.press('Escape');
    await api.cancelCampaign(client, id);
  });
});
