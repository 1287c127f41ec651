/** How a page keeps up to date: what it shows without a reload, how often it asks, and what it says when answers fail. */
import pg from 'pg';
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  atPace,
  client,
  createCampaign,
  goTo,
  hasten,
  openCampaign,
  people,
  sampled,
  stack,
  visitAs,
  within,
} from './fixture.ts';

it('says since when the numbers are old while every answer is an error', async () => {
  await createCampaign('Listed', ['+4915120000092']);
  await within(async (page) => {
    await page.clock.install();
    await goTo(page, 'Campaigns');
    // The table itself is drawn before its rows are loaded.
    await page.getByRole('link', { name: /^Listed/ }).waitFor();
    await page.route('**/dashboard/api/campaigns?*', (route) =>
      route.fulfill({ status: 503, json: { status: 'error', code: 503, message: 'Not now' } }),
    );
    const banner = page
      .getByRole('alert')
      .getByText(/^The service cannot answer now\. What you see is as of \d\d:\d\d;/);
    await hasten(page, banner);
    await page.unroute('**/dashboard/api/campaigns?*');
    await hasten(page, banner, false);
  });
});

it('updates recipients, progress and cost together, and announces only changes of state to screen readers', () =>
  atPace(10, async () => {
    const id = await createCampaign('Fresh', people(600, 90_000_000));
    await within(async (page) => {
      await page.goto(`${stack.dev.dashboardUrl}/campaigns/${id}/recipients`);
      const waiting = page.getByRole('row').filter({ hasText: 'Pending' });
      await waiting.last().waitFor();
      const atFirst = await waiting.count();
      await expect.poll(() => waiting.count()).toBeLessThan(atFirst);
      await openCampaign(page, id, 'Fresh');
      await page.getByText('● live').waitFor();
      // Only the stream brings numbers from here on.
      await page.route(`**/dashboard/api/campaigns/${id}`, (route) => route.abort());
      await page.evaluate(`{
          window.announced = [];
          const live = '[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]';
          new MutationObserver((changes) => {
            for (const { target } of changes) {
              const region = (target.nodeType === 1 ? target : target.parentElement)?.closest(live);
              if (region) window.announced.push(region.textContent);
            }
          }).observe(document.body, { subtree: true, childList: true, characterData: true });
        }`);
      const figures = async () => {
        const done = await page.getByRole('progressbar').textContent();
        const cost = await page.getByText(/^for \d+ messages?$/).textContent();
        return [done, cost].map((text) => Number(/\d+/.exec(text ?? '')?.[0]));
      };
      const [before = 0] = await figures();
      await expect.poll(async () => (await figures())[0]).toBeGreaterThan(before + 20);
      const [done, paid] = await figures();
      expect(Math.abs((done ?? 0) - (paid ?? 0))).toBeLessThan(15);
      expect(await page.evaluate('window.announced')).toEqual([]);
      await page.unroute(`**/dashboard/api/campaigns/${id}`);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('status').getByText('The campaign is paused').waitFor({ state: 'attached' });
      await api.cancelCampaign(client, id);
    });
  }));

it('draws a campaign of two days by hours, with dates and the values below the pointer', async () => {
  const id = await createCampaign('Two days', ['+4915120000091']);
  await expect.poll(async () => (await api.getCampaign(client, id)).data.status).toBe('COMPLETED');
  const database = new pg.Client({ connectionString: stack.dev.databaseUrl });
  await database.connect();
  await database.query(
    `INSERT INTO campaign_minute (campaign_id, at, accepted)
     SELECT $1, date_trunc('hour', now()) - make_interval(mins => minute), 1 FROM generate_series(1, 2880) AS minute`,
    [id],
  );
  await database.query(`UPDATE campaign SET started_at = now() - interval '49 hours' WHERE id = $1`, [id]);
  await database.end();
  await within(async (page) => {
    await openCampaign(page, id, 'Two days');
    const plot = page.getByRole('img', { name: /^Messages per hour/ });
    await plot.waitFor();
    await plot.hover();
    await page.getByText('Sent 60', { exact: true }).waitFor();
    await page.getByText('Table', { exact: true }).click();
    // The heading and at least forty-eight hours.
    expect(await page.getByRole('table').first().getByRole('row').count()).toBeGreaterThanOrEqual(49);
  });
});

/** Requests in a minute from each open screen, with everything that a long list asks for. */
it('asks at most 20 times a minute from any screen, whatever the number of webhooks', async () => {
  const url = 'http://127.0.0.1:9/hook';
  const created = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      api.createWebhook(client, { title: `Many ${at}`, url, events: ['read'], status: 'inactive' }),
    ),
  );
  const id = await createCampaign('Asked', people(3_000, 95_000_000));
  const { page, close } = await visitAs(stack.dev.apiKey);
  const asked: string[] = [];
  try {
    await atPace(1, async () => {
      await page.clock.install();
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.startsWith('/dashboard/api/')) asked.push(pathname);
      });
      const paths = ['', 'campaigns', 'contacts', 'segments', 'conversations', 'templates', 'webhooks'];
      const ofOne = ['', '/recipients', '/replies', '/activity'].map((part) => `campaigns/${id}${part}`);
      for (const path of sampled([...paths, ...ofOne, `wallet?campaign=${id}`, 'channels', 'activity'])) {
        await page.goto(`${stack.dev.dashboardUrl}/${path}`);
        await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
        await page.waitForLoadState('load');
        const before = asked.length;
        // Five seconds of the page's clock; in between the answers come.
        for (let second = 0; second < 60; second += 5) {
          await page.clock.runFor(5_000);
          await page.evaluate('fetch("/dashboard/session").then(() => undefined)');
        }
        expect([path, asked.length - before <= 20]).toEqual([path, true]);
      }
      await api.cancelCampaign(client, id);
    });
  } finally {
    await close();
    for (const { data } of created) await api.deleteWebhook(client, data.id);
  }
});

it(
  'closes the stream of a campaign while its tab is hidden, so that other tabs get a connection',
  () =>
    atPace(1, async () => {
      const id = await createCampaign('Hidden', people(300, 97_000_000));
      await within(async (page) => {
        await openCampaign(page, id, 'Hidden');
        await page.getByText('● live').waitFor();
        const show = (state: 'hidden' | 'visible') =>
          page.evaluate(`{
          Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
          document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
        }`);
        await show('hidden');
        await page.getByText('connecting …').waitFor({ timeout: 5_000 });
        await show('visible');
        await page.getByText('● live').waitFor();
        await api.cancelCampaign(client, id);
      });
    }),
  60_000,
);
