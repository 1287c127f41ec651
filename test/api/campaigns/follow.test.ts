/** Endpoints that show a running campaign: diagnosis, timeline, stream, list filters, one recipient. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventStream } from '../../../src/api/campaigns/follow.ts';
import { revokeApiKey } from '../../../src/records/workspaces/api-keys.ts';
import { createApiKey } from '../../../src/commands/workspaces/api-keys.ts';
import { moveCampaignCounters } from '../../../src/commands/callbacks/apply-statuses.ts';
import { prepareCampaign } from '../../../src/commands/audience/prepare-campaign.ts';
import { formatAmount } from '../../../src/domain/money.ts';
import type { Progress, ProgressFeed } from '../../../src/records/campaigns/progress-feed.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { aCampaignToPrepare, aSender } from '../../support/audience-campaign.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const run = (statement: ReturnType<typeof sql.fragment>) =>
  api.database.pool.query(sql.type(nothing)`${statement}`);

async function aCampaign(
  seed: Parameters<typeof seedCampaign>[1],
): Promise<SeededCampaign & { key: string }> {
  const campaign = await seedCampaign(api.database.pool, seed);
  const { workspaceId, channelId } = campaign;
  const { apiKey } = await createApiKey(api.dependencies, { workspaceId, channelId, scope: 'channel' });
  return { ...campaign, key: apiKey };
}

describe('GET /api/campaigns/:id', () => {
  it.each([
    ['a campaign in preparation', `status = 'DRAFT', preparation_status = 'PREPARING'`, 'PREPARATION'],
    ['a running campaign', `status = 'RUNNING'`, null],
  ])(
    'says that nothing moves while no worker has checked the workflows for a minute: %s',
    async (_, state, before) => {
      const { campaignId, key } = await aCampaign({ recipients: 1 });
      const owner = new pg.Client({ connectionString: api.database.ownerUrl });
      await owner.connect();
      const waitsFor = async () =>
        (await api.send('GET', `/api/campaigns/${campaignId}`, { key })).body.data.waiting_for;
      try {
        await owner.query(`UPDATE campaign_watch SET looked_at = now()`);
        await owner.query(
          `UPDATE campaign SET ${state}, updated_at = now() - interval '2 minutes' WHERE id = '${campaignId}'`,
        );
        expect(await waitsFor()).toBe(before);
        await owner.query(`UPDATE campaign_watch SET looked_at = now() - interval '2 minutes'`);
        expect(await waitsFor()).toBe('WORKFLOW_STUCK');
        await owner.query(`UPDATE campaign_watch SET looked_at = NULL`);
        expect(await waitsFor()).toBe('WORKFLOW_STUCK');
        await owner.query(`UPDATE campaign SET updated_at = now() WHERE id = '${campaignId}'`);
        expect(await waitsFor()).toBe(before);
      } finally {
        await owner.query(`UPDATE campaign_watch SET looked_at = now()`);
        await owner.end();
      }
    },
  );

  it('says that nothing moves when no worker ends the wait for the first statuses', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 2 });
    const waitsFor = async () =>
      (await api.send('GET', `/api/campaigns/${campaignId}`, { key })).body.data.waiting_for;
    await run(
      sql.fragment`UPDATE campaign SET updated_at = now() - interval '5 minutes' WHERE id = ${campaignId}`,
    );
    await run(
      sql.fragment`UPDATE campaign_counter SET pending = 1, accepted = 1 WHERE campaign_id = ${campaignId}`,
    );
    await run(sql.fragment`INSERT INTO campaign_brake (campaign_id, gate_size, gate_since)
      VALUES (${campaignId}, 1, now() - interval '30 seconds')`);
    await run(sql.fragment`UPDATE campaign_watch SET looked_at = now() - interval '3 minutes'`);
    try {
      expect(await waitsFor()).toBe('FIRST_STATUSES');
      await run(sql.fragment`UPDATE campaign_brake SET gate_since = now() - interval '2 minutes'
        WHERE campaign_id = ${campaignId}`);
      expect(await waitsFor()).toBe('WORKFLOW_STUCK');
    } finally {
      await run(sql.fragment`UPDATE campaign_watch SET looked_at = now()`);
    }
  });
});

describe('GET /api/campaigns/:id/diagnosis', () => {
  it('returns the price of the pending recipients, and the missing amount', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 812, balance: 500n });
    await run(sql.fragment`UPDATE campaign SET status = 'PAUSED', pause_reason = 'INSUFFICIENT_BALANCE'
      WHERE id = ${campaignId}`);
    const { body } = await api.send('GET', `/api/campaigns/${campaignId}/diagnosis`, { key });
    expect(body.data[0]).toEqual({
      check: 'STATUS',
      ok: false,
      detail:
        'Paused: the wallet holds 0.0005 USD and the next message costs 0.001 USD. 812 people still to send.',
      action: 'Recharge at least 0.8115 USD to send to all, then start the campaign again.',
    });
    const wallet = (body.data as { check: string }[]).find(({ check }) => check === 'WALLET');
    expect(wallet).toMatchObject({ ok: false, missing: '0.8115' });
  });

  it('names the refusal of the provider that paused the campaign', async () => {
    const { campaignId, channelId, key } = await aCampaign({ recipients: 3 });
    await run(sql.fragment`UPDATE channel SET refusal_code = 190, refusal_cause = 'token', refused_at = now()
      WHERE id = ${channelId}`);
    const statusOf = async () =>
      (await api.send('GET', `/api/campaigns/${campaignId}/diagnosis`, { key })).body.data[0];
    expect((await statusOf()).detail).toBe('Sending. 3 people still to send.');
    await run(sql.fragment`UPDATE campaign SET status = 'PAUSED', pause_reason = 'CHANNEL_BLOCKED'
      WHERE id = ${campaignId}`);
    expect(await statusOf()).toEqual({
      check: 'STATUS',
      ok: false,
      detail:
        'Paused: the provider refused messages of the channel (190: access token or permission). 3 people still to send.',
      action: 'Solve the problem at the provider or renew the access token, then start the campaign again.',
    });
  });

  it('counts the pending recipients by country exactly, at any position of the campaign', async () => {
    const { database } = api.dependencies;
    const sender = await aSender(database);
    const rows = Array.from({ length: 12_000 }, (_, at) =>
      at % 3 === 0 ? `20155${String(at).padStart(5, '0')},1` : `1511${String(at).padStart(7, '0')},49`,
    );
    const campaignId = await aCampaignToPrepare(database, sender, {
      audience: { csv_mapping: { phone_column: 0, country_code_column: 1 } },
      content: ['phone,code', ...rows].join('\n'),
    });
    const watch = { heartbeat: () => undefined, signal: new AbortController().signal };
    await prepareCampaign(api.dependencies, campaignId, watch);
    const { workspaceId, channelId } = sender;
    await run(sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
      VALUES (${workspaceId}, 'MARKETING', 'DE', 3000), (${workspaceId}, 'MARKETING', 'US', 7000)`);
    const key = (await createApiKey(api.dependencies, { workspaceId, channelId, scope: 'channel' })).apiKey;
    for (const claimed of [0, 1, 4_999, 5_000, 7_000, 11_000]) {
      await run(
        sql.fragment`UPDATE recipient SET state = 'SENT' WHERE campaign_id = ${campaignId} AND position <= ${claimed}`,
      );
      await run(sql.fragment`UPDATE campaign_counter SET claimed_position = ${claimed}, sent = ${claimed},
        pending = 12000 - ${claimed} WHERE campaign_id = ${campaignId}`);
      const american = Math.ceil((12_000 - Math.ceil(claimed / 3) * 3) / 3);
      const cost = american * 7_000 + (12_000 - claimed - american) * 3_000;
      const { body } = await api.send('GET', `/api/campaigns/${campaignId}/diagnosis`, { key });
      const wallet = (body.data as { check: string; missing: string; action: string }[]).find(
        ({ check }) => check === 'WALLET',
      );
      expect([claimed, wallet?.missing]).toEqual([claimed, formatAmount(BigInt(cost))]);
      expect(wallet?.action).toContain('at least');
    }
  });

  it('estimates the price when many pending recipients were not counted by country', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 5_001, balance: 500n });
    const { body } = await api.send('GET', `/api/campaigns/${campaignId}/diagnosis`, { key });
    expect(body.data[0].action).toContain('about 5.01 USD');
  });
});

describe('the endpoints that report on a campaign', () => {
  it('report the same recipients when one unsubscribed before the message left', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 3 });
    await run(sql.fragment`UPDATE campaign_counter SET pending = 0, accepted = 1, failed = 1, skipped = 1
      WHERE campaign_id = ${campaignId}`);
    await run(sql.fragment`UPDATE campaign SET status = 'COMPLETED' WHERE id = ${campaignId}`);
    const read = async (path = '') =>
      (await api.send('GET', `/api/campaigns/${campaignId}${path}`, { key })).body.data;
    const totals = { total_contacts: 2, total_contacts_skipped: 1 };
    expect(await read()).toMatchObject(totals);
    expect((await read('/diagnosis'))[0].detail).toBe('Completed: sent to 1 of 2 people; 1 failed.');
    const text = await (await follow(campaignId, key)).ended();
    expect(JSON.parse(/data: (\{.+\})/.exec(text)?.[1] ?? '')).toMatchObject(totals);
  });
});

describe('GET /api/campaigns/:id/timeline', () => {
  it('returns the counts of status changes by minute and by hour', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 3 });
    const move = (from: 'CLAIMED' | 'SENT' | 'DELIVERED', to: 'SENT' | 'READ' | 'DELIVERED' | 'FAILED') => ({
      campaignId,
      from: { state: from, reason: null },
      to: { state: to, reason: null },
      charged: to === 'SENT' ? 55_000n : 0n,
    });
    await run(
      sql.fragment`UPDATE campaign_counter SET claimed = 3, pending = 0 WHERE campaign_id = ${campaignId}`,
    );
    await moveCampaignCounters(api.database.pool, [move('CLAIMED', 'SENT'), move('CLAIMED', 'SENT')]);
    await moveCampaignCounters(api.database.pool, [move('SENT', 'READ'), move('SENT', 'DELIVERED')]);
    await moveCampaignCounters(api.database.pool, [move('CLAIMED', 'FAILED'), move('DELIVERED', 'READ')]);
    for (const interval of ['minute', 'hour']) {
      const { body } = await api.send('GET', `/api/campaigns/${campaignId}/timeline?interval=${interval}`, {
        key,
      });
      const sums = { accepted: 0, delivered: 0, read: 0, failed: 0 };
      for (const part of body.data)
        for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += part[name];
      expect(sums).toEqual({ accepted: 2, delivered: 2, read: 2, failed: 1 });
    }
  });
});

async function follow(campaignId: string, key: string) {
  const stop = new AbortController();
  const response = await fetch(`${api.baseUrl}/api/campaigns/${campaignId}/stream`, {
    headers: { 'X-API-Key': key },
    signal: stop.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let text = '';
  const until = async (wanted: string): Promise<string> => {
    while (!text.includes(wanted)) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`The stream ended: ${text}`);
      text += value;
    }
    return text;
  };
  const ended = async (): Promise<string> => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
  };
  return { response, until, ended, stop: () => stop.abort() };
}

describe('GET /api/campaigns/:id/stream', () => {
  it('sends an event for each change of progress, and ends with the campaign', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 2 });
    const stream = await follow(campaignId, key);
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    await stream.until('"pending":2');
    await run(
      sql.fragment`UPDATE campaign_counter SET pending = 0, accepted = 2, charged = 110000
        WHERE campaign_id = ${campaignId}`,
    );
    await stream.until('"accepted":2');
    await stream.until('"charged":"0.11"');
    await run(sql.fragment`UPDATE campaign SET status = 'COMPLETED' WHERE id = ${campaignId}`);
    const text = await stream.ended();
    expect(text).toMatch(
      /event: progress\ndata: \{.*"status":"COMPLETED".*\}\n\nevent: end\ndata: \{\}\n\n$/,
    );
    const progress = [...text.matchAll(/data: (\{.+\})/g)].map(([, data = '']) => JSON.parse(data) as object);
    expect(progress[0]).toMatchObject({
      id: campaignId,
      rate: 0,
      eta_seconds: null,
      counters: { pending: 2 },
    });
  });

  it('repeats the progress after ten seconds without a change, so that silence means a lost connection', async () => {
    const { campaignId } = await aCampaign({ recipients: 1 });
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      const request = { isStopping: () => false, isStillAllowed: async () => true };
      const progress = { id: campaignId, charged: 0n, isFinished: false } as Progress;
      const tellOnce: ProgressFeed['follow'] = (_, tell) => {
        tell(progress);
        return () => undefined;
      };
      const stream = eventStream({ follow: tellOnce } as ProgressFeed, campaignId, request);
      const parts: string[] = [];
      stream.on('data', (part) => parts.push(String(part)));
      await vi.advanceTimersByTimeAsync(31_000);
      stream.destroy();
      expect(parts.filter((part) => part.startsWith('event: progress'))).toHaveLength(3);
      expect(parts.filter((part) => part === ':\n\n').length).toBeGreaterThanOrEqual(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends after the revocation of its key, before it sends a comment for want of events', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 1 });
    const stream = await follow(campaignId, key);
    await stream.until('progress');
    await revokeApiKey(api.database.pool, key.split('_')[1] ?? '');
    // A comment is sent after 15 seconds without an event, by the clock of the stream.
    expect(await stream.ended()).not.toContain('\n:\n');
  });

  it('queries the database once for all open streams', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 1 });
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow(campaignId, key)));
    await Promise.all(streams.map((stream) => stream.until('progress')));
    await run(
      sql.fragment`UPDATE campaign_counter SET pending = 0, accepted = 1 WHERE campaign_id = ${campaignId}`,
    );
    const texts = await Promise.all(streams.map((stream) => stream.until('"accepted":1')));
    expect(new Set(texts.map((text) => text.split('event: progress').length))).toEqual(new Set([3]));
    for (const stream of streams) stream.stop();
  });

  it('answers 429 to the 21st stream of a workspace, and counts only those that are open', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 1 });
    const other = await aCampaign({ recipients: 1 });
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow(campaignId, key)));
    expect(streams.map(({ response }) => response.status)).toEqual(Array(20).fill(200));
    const refused = await api.send('GET', `/api/campaigns/${campaignId}/stream`, { key });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.body.message).toContain('at most 20 streams');
    const elsewhere = await follow(other.campaignId, other.key);
    await elsewhere.until('progress');
    elsewhere.stop();
    streams[0]?.stop();
    await expect
      .poll(async () => {
        const next = await follow(campaignId, key);
        if (next.response.status === 200) streams.push(next);
        else next.stop();
        return next.response.status;
      })
      .toBe(200);
    for (const stream of streams) stream.stop();
  });

  it('takes no more than a quarter of the connections of the process', async () => {
    const small = await startTestApi({ database: api.database, limits: { connections: 8 } });
    try {
      const campaigns = await Promise.all([1, 2, 3].map(() => aCampaign({ recipients: 1 })));
      const answers = [];
      for (const { campaignId, key } of campaigns)
        answers.push(
          await fetch(`${small.baseUrl}/api/campaigns/${campaignId}/stream`, {
            headers: { 'X-API-Key': key },
          }),
        );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
      for (const { body } of answers) await body?.cancel();
    } finally {
      await small.close();
    }
  });

  it('ends after an hour', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const feed = { follow: () => () => undefined };
      const request = { isStopping: () => false, isStillAllowed: async () => true };
      const stream = eventStream(feed, randomUUID(), request).resume();
      let hasEnded = false;
      stream.once('end', () => (hasEnded = true));
      await vi.advanceTimersByTimeAsync(59 * 60_000);
      expect(hasEnded).toBe(false);
      await vi.advanceTimersByTimeAsync(2 * 60_000);
      expect(hasEnded).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it('answers 404 to another workspace', async () => {
    const { campaignId } = await aCampaign({ recipients: 1 });
    const stranger = await aCampaign({ recipients: 0 });
    expect((await api.send('GET', `/api/campaigns/${campaignId}/stream`, { key: stranger.key })).status).toBe(
      404,
    );
  });
});

describe('PATCH /api/campaigns/:id', () => {
  it('moves a scheduled campaign to another time, and no other one', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 1 });
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const patch = (scheduled_at: string) =>
      api.send('PATCH', `/api/campaigns/${campaignId}`, { key, body: { scheduled_at } });
    expect((await patch(later)).status).toBe(409);
    await run(sql.fragment`UPDATE campaign SET status = 'SCHEDULED', send_type = 'SCHEDULED', scheduled_at = now()
      WHERE id = ${campaignId}`);
    expect((await patch(later)).body.data.scheduled_at).toBe(later);
    expect((await patch('2020-01-01T00:00:00Z')).status).toBe(400);
  });
});

describe('GET /api/campaigns', () => {
  it.each(['fruhling', 'SÃO', '客户', 'gross'])(
    'finds a name by %j, whatever its case and accents',
    async (search) => {
      const { campaignId, key } = await aCampaign({ recipients: 1 });
      await run(
        sql.fragment`UPDATE campaign SET name = 'Frühling in Sao Paulo, Groß, VIP客户' WHERE id = ${campaignId}`,
      );
      const { body } = await api.send('GET', `/api/campaigns?search=${encodeURIComponent(search)}`, { key });
      expect(body.data).toHaveLength(1);
    },
  );

  it('filters by status, name, template and time, and says what a campaign was created with', async () => {
    const { campaignId, templateId, key } = await aCampaign({ recipients: 1 });
    const list = async (search: string) =>
      (await api.send('GET', `/api/campaigns?${search}`, { key })).body.data.map(
        ({ id }: { id: string }) => id,
      );
    for (const search of [
      'status=RUNNING&status=PAUSED',
      'search=TES',
      `template_id=${templateId}`,
      `from=${new Date(Date.now() - 60_000).toISOString()}`,
    ]) {
      expect(await list(search)).toEqual([campaignId]);
    }
    for (const search of [
      'status=PAUSED',
      'search=%25',
      `template_id=${randomUUID()}`,
      `to=${new Date(Date.now() - 60_000).toISOString()}`,
    ]) {
      expect(await list(search)).toEqual([]);
    }
    const { body } = await api.send('GET', `/api/campaigns/${campaignId}`, { key });
    expect(body.data).toMatchObject({
      template: { id: templateId, name: 'hello', language: 'en_US', category: 'UTILITY' },
      created_by: 'key',
      audience: {},
      variable_mapping: null,
      charged: '0',
    });
  });
});

describe('GET /api/campaigns/:id/recipients/:recipientId', () => {
  it('shows the message and the time of each status, found by number', async () => {
    const { campaignId, key } = await aCampaign({ recipients: 2 });
    await run(sql.fragment`UPDATE recipient SET state = 'DELIVERED', provider_message_id = 'wamid.1', statuses_seen = 3,
        accepted_at = '2026-11-21T09:00:00Z', delivered_at = '2026-11-21T09:00:02Z'
      WHERE campaign_id = ${campaignId} AND position = 1`);
    const number = encodeURIComponent('+49 151 00000001');
    const list = await api.send('GET', `/api/campaigns/${campaignId}/recipients?phone_number=${number}`, {
      key,
    });
    expect(list.body.data).toHaveLength(1);
    const { body } = await api.send(
      'GET',
      `/api/campaigns/${campaignId}/recipients/${list.body.data[0].id}`,
      { key },
    );
    expect(body.data).toMatchObject({
      phone_number: '4915100000001',
      message: { body: 'Hi Ada 1', footer: null, buttons: [] },
      history: [
        { status: 'accepted', at: '2026-11-21T09:00:00.000Z' },
        { status: 'sent', at: null },
        { status: 'delivered', at: '2026-11-21T09:00:02.000Z' },
      ],
    });
  });
});
