/** How often an open page asks the service. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import { atPace, client, createCampaign, people, signIn, stack, visit } from './fixture.ts';

/** Requests in a minute from each open screen, with everything that a long list asks for. */
it('asks at most 20 times a minute from any screen, whatever the number of webhooks', async () => {
  const url = 'http://127.0.0.1:9/hook';
  const created = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      api.createWebhook(client, { title: `Many ${at}`, url, events: ['read'], status: 'inactive' }),
    ),
  );
  const id = await createCampaign('Asked', people(3_000, 95_000_000));
  const { page, close } = await visit();
  const asked: string[] = [];
  try {
    await atPace(1, async () => {
      await page.clock.install();
      await signIn(page);
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.startsWith('/dashboard/api/')) asked.push(pathname);
      });
      const paths = ['', 'campaigns', 'contacts', 'segments', 'conversations', 'templates', 'webhooks'];
      const ofOne = ['', '/recipients', '/replies', '/activity'].map((part) => `campaigns/${id}${part}`);
      for (const path of [...paths, ...ofOne, `wallet?campaign=${id}`, 'channels', 'activity']) {
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
}, 120_000);
