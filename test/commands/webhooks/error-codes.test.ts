/** Every way in which a delivery fails, made to happen and read back from the delivery log. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWebhookActivities } from '../../../src/activities/deliver-webhook.ts';
import type { WebhookErrorCode } from '../../../src/domain/webhooks/delivery.ts';
import { webhookErrorCodes } from '../../../src/domain/webhooks/delivery.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { sweepTimeouts } from '../../../src/records/webhooks/delivery-scheduler.ts';
import type { SeededWorkspace, TestApi } from '../../support/api.ts';
import { startTestApi } from '../../support/api.ts';
import { receiverCertificate } from '../../support/certificates.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import type { RawAnswer, RawReceiver } from '../../support/raw-receiver.ts';
import { rawResponse, startRawReceiver } from '../../support/raw-receiver.ts';
import { contactEvent, handOut, query } from '../../support/webhook-fixtures.ts';

const closers: (() => Promise<unknown>)[] = [];
let api: TestApi;
let workspace: SeededWorkspace;
let outbound: Outbound;

beforeAll(async () => {
  const dns = await startDnsServer((name) => {
    if (name === 'private.test') return { addresses: ['10.0.0.1'] };
    if (name === 'unknown.test') return { failure: 'not_found' };
    return { failure: 'silence' };
  });
  closers.push(dns.close);
  api = await startTestApi();
  closers.push(api.close);
  workspace = await api.seedWorkspace();
  outbound = createOutbound({ outboundAllowCidrs: ['127.0.0.0/8'], outboundDnsServers: [dns.address] });
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

async function receiver(...[answer, certificate]: Parameters<typeof startRawReceiver>): Promise<RawReceiver> {
  const started = await startRawReceiver(answer, certificate);
  closers.push(started.close);
  return started;
}

const ok: RawAnswer = (socket) => void socket.end(rawResponse('200 OK', [], 'thanks'));
const urlOf = ({ port }: RawReceiver, scheme = 'http') => `${scheme}://127.0.0.1:${port}/hook`;

interface Failing {
  readonly url: string;
  /** A statement, given the configuration's id, that runs between the creation of the delivery and its attempt. */
  readonly meanwhile?: string;
  readonly status?: number;
}

/** How each code comes about. */
async function failures(): Promise<Readonly<Record<WebhookErrorCode, Failing>>> {
  const [fine, gone, elsewhere] = [await receiver(ok), await receiver(ok), await receiver(ok)];
  await gone.close();
  const answering = async (answer: RawAnswer) => urlOf(await receiver(answer));
  return {
    blocked_address: { url: 'http://private.test/hook' },
    dns_error: { url: 'http://unknown.test/hook' },
    dns_timeout: { url: 'http://silent.test/hook' },
    connection_refused: { url: urlOf(gone) },
    connection_reset: { url: await answering((socket) => void socket.resetAndDestroy()) },
    tls_error: { url: urlOf(await receiver(ok, receiverCertificate), 'https') },
    timeout: { url: await answering(() => undefined) },
    redirect: {
      url: await answering(
        (socket) => void socket.end(rawResponse('307 Temporary', [`location: ${urlOf(elsewhere)}`])),
      ),
      status: 307,
    },
    non_2xx: { url: await answering((socket) => void socket.end(rawResponse('503 Busy'))), status: 503 },
    protocol_error: { url: await answering((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n')) },
    payload_too_large: {
      url: urlOf(fine),
      // Changes a copy of the event, because the other cases share the original.
      meanwhile: `WITH copy AS (
          INSERT INTO event (workspace_id, key, body, occurred_at, fanned_out_at)
          SELECT workspace_id, key, repeat('é', 131072) || '.', occurred_at, now() FROM event LIMIT 1 RETURNING id)
        UPDATE webhook_delivery SET event_id = copy.id FROM copy WHERE webhook_id = $1`,
    },
    disabled: {
      url: urlOf(fine),
      meanwhile: `UPDATE webhook_configuration SET status = 'disabled', disabled_reason = 'failing' WHERE id = $1`,
    },
    endpoint_inactive: {
      url: urlOf(fine),
      meanwhile: `DELETE FROM webhook_configuration WHERE id = $1`,
    },
    interrupted: {
      url: urlOf(fine),
      // The state that a worker killed during its attempt leaves.
      meanwhile: `UPDATE webhook_delivery SET state = 'sending', dispatched_at = now(), attempted_at = now(),
        sending_until = now() WHERE webhook_id = $1`,
    },
    expired: {
      url: urlOf(fine),
      meanwhile: `UPDATE webhook_delivery SET created_at = now() - interval '25 hours' WHERE webhook_id = $1`,
    },
    erased: {
      url: urlOf(fine),
      // A resent delivery whose event was emptied by an erasure.
      meanwhile: `WITH copy AS (
          INSERT INTO event (workspace_id, key, body, fanned_out_at)
          SELECT workspace_id, key, json_build_object('eventKey', key, 'data', json_build_object('erased', true))::text, now()
          FROM event LIMIT 1 RETURNING id)
        UPDATE webhook_delivery SET event_id = copy.id FROM copy WHERE webhook_id = $1`,
    },
  };
}

/** A webhook is switched off after the hand-out: before it, nothing would be handed out. */
const isSwitchedOff = (code: WebhookErrorCode): boolean =>
  code === 'endpoint_inactive' || code === 'disabled';

it('shows in the log why a delivery failed, for every code there is', async () => {
  const cases = await failures();
  const webhookIds = new Map<string, WebhookErrorCode>();
  for (const code of webhookErrorCodes) {
    const created = await api.send('POST', '/api/external-webhooks', {
      key: workspace.workspaceKey,
      body: { title: code, url: cases[code].url, status: 'active', events: ['contact.created'] },
    });
    expect(created.status).toBe(201);
    webhookIds.set(created.body.data.id, code);
  }
  const { pool } = api.database;
  await emitEvents(pool, workspace.workspaceId, [contactEvent()]);
  await fanOutEvents(pool, 100);
  for (const [id, code] of webhookIds) {
    const { meanwhile } = cases[code];
    if (meanwhile !== undefined && !isSwitchedOff(code)) await query(api.database, meanwhile, [id]);
  }

  const { deliverWebhook } = createWebhookActivities({ ...api.dependencies, outbound });
  const handedOut = await handOut(pool);
  for (const [id, code] of webhookIds)
    if (isSwitchedOff(code)) await query(api.database, cases[code].meanwhile ?? '', [id]);
  const counted = async (outcome: string): Promise<number> => {
    const { values } = await api.dependencies.metrics.webhooksSwept.get();
    return values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
  };
  const before = await counted('payload_too_large');
  const summaries = await Promise.all(handedOut.map((deliveryId) => deliverWebhook({ deliveryId })));
  // A delivery refused before any request reports its reason in the workflow's result and in the metrics too.
  expect(summaries).toEqual(
    expect.arrayContaining([
      'failed: payload_too_large',
      'failed: endpoint_inactive',
      'failed: disabled',
      'failed: expired',
      'failed: erased',
    ]),
  );
  expect(await counted('payload_too_large')).toBe(before + 1);
  await sweepTimeouts(pool, { expiryHours: 24, redispatchSeconds: 60 });

  for (const [id, code] of webhookIds) {
    // The log of a deleted webhook is not shown.
    if (code === 'endpoint_inactive') {
      const rows = await query(
        api.database,
        'SELECT state, error_code FROM webhook_delivery WHERE webhook_id = $1',
        [id],
      );
      expect(rows).toEqual([{ state: 'failed', error_code: code }]);
      continue;
    }
    const { body } = await api.send('GET', `/api/external-webhooks/${id}/deliveries?state=failed`, {
      key: workspace.workspaceKey,
    });
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({
      webhookId: id,
      state: 'failed',
      errorCode: code,
      responseStatus: cases[code].status ?? null,
    });
  }
});

it('ends a delivery whose event retention has removed, instead of waiting for it', async () => {
  const { pool } = api.database;
  const created = await api.send('POST', '/api/external-webhooks', {
    key: workspace.workspaceKey,
    body: { title: 'late', url: urlOf(await receiver(ok)), status: 'active', events: ['contact.created'] },
  });
  const { id: webhookId } = created.body.data;
  await emitEvents(pool, workspace.workspaceId, [contactEvent()]);
  await fanOutEvents(pool, 100);
  await query(
    api.database,
    `DELETE FROM event WHERE id IN (SELECT event_id FROM webhook_delivery WHERE webhook_id = $1)`,
    [webhookId],
  );
  const { body } = await api.send('GET', `/api/external-webhooks/${webhookId}/deliveries`, {
    key: workspace.workspaceKey,
  });
  const { deliverWebhook } = createWebhookActivities({ ...api.dependencies, outbound });
  expect(await deliverWebhook({ deliveryId: body.data[0].id })).toBe('failed: expired');
});
