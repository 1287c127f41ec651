/** What the forms of contacts, webhooks and segments guard against: a consent that changed meanwhile, and lost input. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { client, stack, within } from './fixture.ts';

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
}, 60_000);
