/** Screens at first sight: planned times, campaigns that failed or wait, typed numbers, the wallets of a workspace. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  admin,
  atPace,
  client,
  createCampaign,
  goTo,
  lookAtState,
  openCampaign,
  people,
  stack,
  tabTo,
  tomorrow,
  visitAs,
  within,
} from './fixture.ts';

it('says when a planned campaign begins, to the keyboard too, and marks one of which every message failed', async () => {
  const failed = await createCampaign('Everybody failed', ['+4915166131026']);
  const { data } = await api.createCampaign(client, {
    name: 'Tomorrow',
    template_id: stack.dev.templateIds['plain_notice'] ?? '',
    contact_selection_type: 'quick_contacts',
    quick_contacts: ['+4915120000098'],
    send_type: 'SCHEDULED',
    scheduled_at: new Date(`${tomorrow}Z`).toISOString(),
  });
  await within(async (page) => {
    await openCampaign(page, data.campaign.id, 'Tomorrow');
    await page.getByText(/^\w{3},? \d+ \w{3}.* \d\d:\d\d \(Europe\/Berlin\), in 2\d h/).waitFor();
    await tabTo(page, page.getByRole('time').first());
    await page
      .getByRole('tooltip')
      .getByText(/20\d\d, \d\d:\d\d:\d\d CES?T$/)
      .waitFor();
    await openCampaign(page, failed, 'Everybody failed');
    await page.getByText(/^Completed: sent to 0 of 1 person/).waitFor({ timeout: 30_000 });
    const badge = page.getByRole('main').locator('.mantine-Badge-root').filter({ hasText: 'Completed' });
    expect(await badge.first().getAttribute('style')).toContain('red');
    await goTo(page, 'New campaign');
    await page.getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'plain_notice (en_US)' }).click();
    await page.getByRole('combobox', { name: 'Audience' }).click();
    await page.getByRole('option', { name: 'Type numbers' }).click();
    await page.getByLabel('One number per line').fill('+4915120000099\nAda');
    await page.getByText(/^Line 2\b/).waitFor();
    expect(await page.getByLabel('Country code', { exact: true }).inputValue()).toBe('');
  });
  await api.cancelCampaign(client, data.campaign.id);
});

it('names five paused campaigns on the overview, and how many more there are', () =>
  atPace(1, async () => {
    const numbers = [1, 2, 3, 4, 5, 6].map((at) => people(20, 97_000_000 + at * 100));
    const ids = await Promise.all(numbers.map((list, at) => createCampaign(`Paused ${at}`, list)));
    for (const id of ids) {
      const status = async () => (await api.getCampaign(client, id)).data.status;
      await expect.poll(status).toBe('RUNNING');
      await api.pauseCampaign(client, id);
    }
    await within(async (page) => {
      await goTo(page, 'Overview');
      await page.getByText(/^and \d+ more paused campaigns?$/).click();
      await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
      await page.getByRole('link', { name: 'Paused 0' }).waitFor();
      expect(page.url()).toContain('status=PAUSED');
    });
    for (const id of ids) await api.cancelCampaign(client, id);
  }));

it('says that nobody is prepared yet, instead of 0 of 0, when a campaign is paused before its audience is known', async () => {
  const at = new Date(Date.now() + 86_400_000).toISOString();
  const { data } = await api.createCampaign(client, {
    name: 'Unprepared',
    template_id: stack.dev.templateIds['plain_notice'] ?? '',
    contact_selection_type: 'quick_contacts',
    quick_contacts: ['+4915120000088'],
    send_type: 'SCHEDULED',
    scheduled_at: at,
  });
  const { id } = data.campaign;
  await within(async (page) => {
    // A real preparation ends before the page is open.
    const unprepared = { status: 'PAUSED', pause_reason: 'OPERATOR', total_contacts: 0 };
    await page.route(`**/api/campaigns/${id}/stream`, () => undefined);
    await page.route(`**/api/campaigns/${id}`, async (route) => {
      const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
      const response = await route.fetch({ headers });
      const answer = (await response.json()) as { data: object };
      await route.fulfill({ response, json: { ...answer, data: { ...answer.data, ...unprepared } } });
    });
    await openCampaign(page, id, 'Unprepared');
    await page.getByText('Preparing the audience …', { exact: true }).waitFor();
    expect(await page.getByText('0 of 0 processed').count()).toBe(0);
    await lookAtState(page, 'campaign-unprepared');
  });
  await api.cancelCampaign(client, id);
});

it('shows a workspace’s key the wallet of each channel, and says that it cannot send', async () => {
  const { workspaceId = '' } = await admin(['create-workspace', '--name', 'Two channels']);
  const workspace = ['--workspace-id', String(workspaceId)];
  for (const number of ['+49 30 1', '+49 30 2']) {
    const id = number.replaceAll(/\D/g, '');
    const ids = ['--phone-number-id', id, '--business-account-id', 'two', '--access-token', 'unused'];
    await admin(['create-channel', ...workspace, ...ids, '--display-phone-number', number]);
  }
  const { apiKey = '' } = await admin(['create-key', ...workspace, '--scope', 'workspace']);
  const { page, mishaps, close } = await visitAs(apiKey);
  try {
    await goTo(page, 'Wallet');
    await page.getByRole('combobox', { name: 'Channel' }).click();
    await page.getByRole('option', { name: '+49 30 2' }).click();
    await expect.poll(() => page.url()).toContain('channel=');
    await page.getByText('Available', { exact: true }).waitFor();
    await goTo(page, 'New campaign');
    await page.getByText('This key cannot send').waitFor();
    expect(mishaps).toEqual([]);
  } finally {
    await close();
  }
});
