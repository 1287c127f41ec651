/**
 * Every status that the document declares for an operation is answered by it, in the declared shape (`api.send` compares every
 * answer with the document). The list comes from the declarations: a status that nothing here provokes fails.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Declaration } from '../../../src/api/frame/endpoint.ts';
import { errorStatuses } from '../../../src/api/frame/document/openapi.ts';
import { routes } from '../../../src/api/routes.ts';
import { mintApiKey } from '../../../src/domain/workspaces/api-key.ts';
import { type MediaFile, ProviderRequestError } from '../../../src/provider/provider.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { postLedgerEntry } from '../../../src/records/wallet/wallets.ts';
import { createOperationFixtures, type OperationFixtures } from '../../support/operation-fixtures.ts';
import { startTestApi, type SeededWorkspace, type SendOptions, type TestApi } from '../../support/api.ts';
import { signatureOf } from '../../support/callback-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { accept, createFakeProvider, refuse, type Answer } from '../../support/fake-provider.ts';
import { createListingProvider } from '../../support/listing-provider.ts';
import { openTcpGate } from '../../support/tcp-gate.ts';

let database: TestDatabase;
let api: TestApi;
/** On the same database: one whose keys have no requests left, one whose database is away. */
let rateLimited: TestApi;
let cutOff: TestApi;
let workspace: SeededWorkspace;
let fixtures: OperationFixtures;
let answer: Answer = accept;
const listing = createListingProvider();
const provider = {
  ...listing,
  sendMessage: createFakeProvider((...call) => answer(...call)).sendMessage,
  uploadMedia: (file: MediaFile) =>
    answer === unreachable
      ? Promise.reject(new ProviderRequestError({ kind: 'unreachable', cause: 'ECONNREFUSED' }))
      : listing.uploadMedia(file),
  unpauseTemplate: () =>
    answer === unreachable
      ? Promise.reject(new ProviderRequestError({ kind: 'unreachable', cause: 'ECONNREFUSED' }))
      : Promise.resolve(),
};

beforeAll(async () => {
  database = await createTestDatabase();
  const limits = { headersMs: 300, bodyMs: 300, requestMs: 1_000 };
  api = await startTestApi({ database, dependencies: { provider }, limits });
  rateLimited = await startTestApi({ database, config: { rateLimitPerSecond: 1 } });
  const gate = await openTcpGate(database.url);
  cutOff = await startTestApi({ database: { ...database, url: gate.url } });
  await gate.shut();
  workspace = await api.seedWorkspace();
  const { channelId } = workspace;
  await postLedgerEntry(database.pool, { channelId, kind: 'recharge', amount: 10_000_000n });
  fixtures = createOperationFixtures({ api, workspace });
});
beforeEach(async () => {
  answer = accept;
  listing.serve([[]]);
  await database.pool.query(sql.type(nothing)`DELETE FROM webhook_configuration`);
  await database.pool.query(sql.type(nothing)`DELETE FROM contact_import`);
});
afterAll(async () => {
  await Promise.all([api, rateLimited, cutOff].map((one) => one.close()));
  await database.drop();
});

type Answered = Promise<{ readonly status: number }>;
type Request = (declaration: Declaration) => Answered;

const keyFor = ({ access }: Declaration): string | undefined => {
  if (access === 'public') return undefined;
  return access === 'operator' ? workspace.operatorKey : workspace.channelKey;
};

/** With the key and the example body of the operation, where `options` does not say otherwise. */
function send(declaration: Declaration, path: string, options: SendOptions = {}): Answered {
  const { method, bodyExample } = declaration;
  const key = keyFor(declaration);
  const body = options.body ?? bodyExample;
  return api.send(method, path, {
    ...(key !== undefined && { key }),
    ...(body !== undefined && { body }),
    ...options,
  });
}

const anywhere = ({ path }: Declaration) => path.replaceAll(/:\w+/g, randomUUID());
const merged = ({ bodyExample }: Declaration, change: object) => ({ ...(bodyExample as object), ...change });

/** A head and the beginning of a body that never ends; the answer is held to the document by hand. */
async function unfinished(declaration: Declaration, contentLength: number): Promise<{ status: number }> {
  const path = anywhere(declaration);
  const form = declaration.body === 'multipart' ? fixtures.upload().headers : undefined;
  const request = httpRequest(`${api.baseUrl}${path}`, {
    method: declaration.method,
    headers: {
      'X-API-Key': keyFor(declaration) ?? '',
      'Content-Type': 'application/json',
      'Content-Length': contentLength,
      'X-Hub-Signature-256': signatureOf(''),
      ...form,
    },
  });
  request.on('error', () => undefined);
  request.write('-');
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const answered = {
    status: response.statusCode ?? 0,
    contentType: response.headers['content-type'] ?? null,
  };
  api.contract.check({ method: declaration.method, path, ...answered, body: await json(response) });
  request.destroy();
  return answered;
}

/** Two requests with one Idempotency-Key: the first is valid, the second is the given one. */
async function twice(declaration: Declaration, first: object, second: object): Answered {
  const headers = { 'Idempotency-Key': randomUUID() };
  expect((await send(declaration, declaration.path, { headers, body: first })).status).toBeLessThan(300);
  return send(declaration, declaration.path, { headers, body: second });
}

/** A request with an Idempotency-Key that another request holds. */
async function whileTaken(declaration: Declaration, body: object): Answered {
  const lock = `${workspace.workspaceId} POST ${declaration.path} taken`;
  return database.pool.transaction(async (other) => {
    await other.query(sql.type(nothing)`SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))`);
    return send(declaration, declaration.path, { body, headers: { 'Idempotency-Key': 'taken' } });
  });
}

const campaignBody = async (declaration: Declaration) =>
  merged(declaration, { template_id: await fixtures.template() });
const messageBody = async (declaration: Declaration) =>
  merged(declaration, { templateId: await fixtures.template('Hi {{1}}.') });

const unreachable: Answer = () => ({ kind: 'unreachable', cause: 'ECONNREFUSED' });
const wrongState: Request = async (declaration) =>
  send(declaration, declaration.path.replace(':id', await fixtures.campaign('COMPLETED')));

const unpause: Request = async (declaration) => {
  const id = await fixtures.template();
  await database.pool.query(sql.type(nothing)`UPDATE template SET status = 'PAUSED' WHERE id = ${id}`);
  return send(declaration, declaration.path.replace(':templateId', id));
};

/** Successful responses, by operation and status. */
const successes: Readonly<Record<string, Request>> = {
  'createCampaign 201': async (operation) =>
    send(operation, operation.path, { body: await campaignBody(operation) }),
  'sendTemplateMessage 200': async (operation) =>
    send(operation, operation.path, { body: await messageBody(operation) }),
  'uploadMedia 201': (operation) => send(operation, operation.path, fixtures.upload('file', 'text/plain')),
  'createContactImport 202': (operation) => send(operation, operation.path, fixtures.upload()),
  'uploadCampaignCsv 201': (operation) => send(operation, operation.path, fixtures.upload()),
  'unpauseTemplate 200': unpause,
  'createContact 201': (operation) =>
    send(operation, operation.path, { body: { phoneNumber: fixtures.phoneNumber() } }),
  'createContact 200': async (operation) => {
    const { id, phoneNumber } = await fixtures.contact();
    await api.send('DELETE', `/api/contacts/${id}`, { key: workspace.channelKey });
    return send(operation, operation.path, { body: { phoneNumber } });
  },
  'updateContact 200': async (operation) =>
    send(operation, await fixtures.pathOf(operation), { body: { phoneNumber: fixtures.phoneNumber() } }),
  'loadPriceCard 200': (operation) => send(operation, operation.path, fixtures.prices({ dryRun: true })),
  'loadPriceCard 201': (operation) => send(operation, operation.path, fixtures.prices()),
  'rechargeWallet 200': (operation) =>
    send(operation, operation.path, { body: merged(operation, { channel_id: workspace.channelId }) }),
  'verifyProviderWebhook 200': (operation) =>
    send(
      operation,
      `${operation.path}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=the%20verify%20token%20of%20the%20tests`,
    ),
  'receiveProviderCallback 200': (operation) =>
    send(operation, operation.path, { body: '{}', headers: { 'X-Hub-Signature-256': signatureOf('{}') } }),
};

/** Error responses specific to an operation, by operation and status. */
const operationErrors: Readonly<Record<string, Request>> = {
  // Each download takes tokens of the caller's address by the size of the document; an address has tokens for 32 MiB.
  'getDescription 429': async ({ method, path }) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      let answered = await rateLimited.send(method, path);
      for (let asked = 1; answered.status === 200 && asked < 500; asked += 1)
        answered = await rateLimited.send(method, path);
      return answered;
    } finally {
      vi.useRealTimers();
    }
  },
  'createCampaign 404': (operation) =>
    send(operation, operation.path, { body: merged(operation, { template_id: randomUUID() }) }),
  'createCampaign 409': async (operation) => whileTaken(operation, await campaignBody(operation)),
  'createCampaign 422': async (operation) => {
    const body = await campaignBody(operation);
    return twice(operation, body, { ...body, name: 'Another' });
  },
  'sendTemplateMessage 404': (operation) =>
    send(operation, operation.path, { body: merged(operation, { templateId: randomUUID() }) }),
  'sendTemplateMessage 409': async (operation) => {
    let goOn: (() => void) | undefined;
    answer = async (...call) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      return accept(...call);
    };
    const request = { body: await messageBody(operation), headers: { 'Idempotency-Key': 'running' } };
    const first = send(operation, operation.path, request);
    await expect.poll(() => goOn).toBeDefined();
    const second = await send(operation, operation.path, request);
    goOn?.();
    expect((await first).status).toBe(200);
    return second;
  },
  'sendTemplateMessage 422': async (operation) => {
    const body = await messageBody(operation);
    return twice(operation, body, { ...body, variables: ['another'] });
  },
  'sendTemplateMessage 502': async (operation) => {
    answer = unreachable;
    return send(operation, operation.path, { body: await messageBody(operation) });
  },
  'testCampaign 502': async (operation) => {
    answer = unreachable;
    return send(operation, await fixtures.pathOf(operation));
  },
  'listCampaignRecipients 409': async (operation) => {
    const path = await fixtures.pathOf(operation);
    const [, , , campaignId = ''] = path.split('/');
    await database.pool.query(sql.type(nothing)`
      UPDATE campaign SET archived_at = now() WHERE id = ${campaignId}`);
    return send(operation, path);
  },
  'deleteSegment 409': async (operation) => {
    const path = await fixtures.pathOf(operation);
    const conditions = [{ field: 'segment', operator: 'in', value: [path.split('/').at(-1)] }];
    await api.send('POST', '/api/segments', { key: workspace.channelKey, body: { name: 'B', conditions } });
    return send(operation, path);
  },
  'deleteCampaignCsv 409': async (operation) => {
    const path = await fixtures.pathOf(operation);
    const campaignId = await fixtures.campaign('DRAFT');
    await database.pool.query(sql.type(nothing)`
      UPDATE campaign SET preparation_status = 'PREPARING', audience = jsonb_build_object('csv_file_key', ${path.split('/').at(-1) ?? ''}::text)
      WHERE id = ${campaignId}`);
    return send(operation, path);
  },
  'listContacts 404': (operation) => send(operation, `${operation.path}?segment=${randomUUID()}`),
  'testCampaign 409': async (operation) =>
    send(operation, await fixtures.pathOf(operation), { body: { phone_number: '+4915112345678' } }),
  'startCampaign 409': wrongState,
  'updateCampaign 409': wrongState,
  'resendMissed 409': async (operation) => {
    const path = await fixtures.pathOf(operation);
    const [, , , webhookId = ''] = path.split('/');
    await database.pool.query(sql.type(nothing)`
      UPDATE webhook_configuration SET status = 'inactive' WHERE id = ${webhookId}`);
    return send(operation, path, { body: merged(operation, {}) });
  },
  'listEvents 410': (operation) => {
    // A place that this feed has never had: that of a database before its restore.
    const place = JSON.stringify({ position: 1_000_000, eventId: null });
    return send(operation, `${operation.path}?after=${Buffer.from(place).toString('base64url')}`);
  },
  'pauseCampaign 409': wrongState,
  'cancelCampaign 409': wrongState,
  'syncTemplates 400': (operation) => {
    const refused = refuse(190)({} as never, 1) as ConstructorParameters<typeof ProviderRequestError>[0];
    listing.serve([new ProviderRequestError(refused)]);
    return send(operation, operation.path);
  },
  'syncTemplates 502': (operation) => {
    listing.serve([new ProviderRequestError({ kind: 'unreachable', cause: 'ECONNREFUSED' })]);
    return send(operation, operation.path);
  },
  'unpauseTemplate 409': async (operation) => send(operation, await fixtures.pathOf(operation)),
  'unpauseTemplate 502': (operation) => {
    answer = unreachable;
    return unpause(operation);
  },
  'uploadMedia 400': (operation) => send(operation, operation.path, fixtures.upload()),
  'loadPriceCard 400': (operation) => send(operation, operation.path, fixtures.prices({ valid: false })),
  'uploadMedia 502': (operation) => {
    answer = unreachable;
    return send(operation, operation.path, fixtures.upload('file', 'text/plain'));
  },
  'uploadMedia 415': (operation) => send(operation, operation.path, { body: {} }),
  'createContactImport 400': (operation) => send(operation, operation.path, fixtures.upload('another')),
  'createContactImport 404': (operation) =>
    send(operation, operation.path, { body: { csv_file_key: `csv_${randomUUID()}.csv` } }),
  'createContactImport 409': async (operation) => {
    for (let left = 20; left > 0; left -= 1) {
      const response = await send(operation, operation.path, fixtures.upload());
      if (response.status !== 202) return response;
    }
    throw new Error('Every import was taken');
  },
  'uploadCampaignCsv 400': (operation) => send(operation, operation.path, fixtures.upload('another')),
  'uploadCampaignCsv 415': (operation) => send(operation, operation.path, { body: {} }),
  'createContact 409': async (operation) => {
    const { phoneNumber } = await fixtures.contact();
    return send(operation, operation.path, { body: { phoneNumber } });
  },
  'updateContact 409': async (operation) => {
    const { phoneNumber } = await fixtures.contact();
    return send(operation, await fixtures.pathOf(operation), { body: { phoneNumber } });
  },
  'changeConversationStatus 409': async (operation) => {
    const { id: contactId } = await fixtures.contact();
    const closed = await fixtures.conversation({ status: 'closed', contactId });
    await fixtures.conversation({ contactId });
    return send(operation, operation.path.replace(':id', closed), { body: { status: 'open' } });
  },
  'deleteContact 400': async (operation) =>
    send(operation, `${await fixtures.pathOf(operation)}?erase=maybe`),
  'listWalletEntries 404': (operation) => send(operation, `${operation.path}?channel_id=${randomUUID()}`),
  'getWallet 404': (operation) => send(operation, `${operation.path}?channel_id=${randomUUID()}`),
  'listWalletComparison 404': (operation) => send(operation, `${operation.path}?channel_id=${randomUUID()}`),
  'getWalletStatement 404': (operation) => send(operation, `${operation.path}?channel_id=${randomUUID()}`),
  'putLowBalance 404': (operation) =>
    send(operation, operation.path, { body: { threshold: '10', channel_id: randomUUID() } }),
  'rechargeWallet 409': (operation) =>
    whileTaken(operation, merged(operation, { channel_id: workspace.channelId })),
  'rechargeWallet 422': async (operation) => {
    const body = merged(operation, { channel_id: workspace.channelId, amount: '1' });
    return twice(operation, body, { ...body, amount: '2' });
  },
  'rechargeWallet 404': (operation) =>
    send(operation, operation.path, { body: merged(operation, { channel_id: randomUUID() }) }),
  'verifyProviderWebhook 400': (operation) => send(operation, `${operation.path}?hub.mode=a&hub.mode=b`),
  'verifyProviderWebhook 403': (operation) => send(operation, operation.path),
  'receiveProviderCallback 400': (operation) =>
    send(operation, operation.path, { body: '[]', headers: { 'X-Hub-Signature-256': signatureOf('[]') } }),
  'receiveProviderCallback 401': (operation) => send(operation, operation.path, { body: '{}' }),
  'receiveProviderCallback 503': (operation) =>
    cutOff.send('POST', operation.path, {
      body: '{}',
      headers: { 'X-Hub-Signature-256': signatureOf('{}') },
    }),
  'getReadiness 503': (operation) => cutOff.send('GET', operation.path),
};

/** An invalid query for operations without `limit`. */
const wrongQueries: Readonly<Record<string, string>> = {
  getWallet: 'channel_id=x',
  getWalletStatement: 'month=2026-13',
  getCampaignTimeline: 'interval=x',
  getOverview: 'interval=x',
};

/** Error responses common to all operations with a key, id, query or body. */
const commonErrors: Readonly<Record<number, Request>> = {
  400: (operation) => {
    if (typeof operation.body === 'object') return send(operation, anywhere(operation), { body: '{' });
    const wrong = wrongQueries[operation.operationId] ?? 'limit=0';
    return fixtures.pathOf(operation).then((path) => send(operation, `${path}?${wrong}`));
  },
  401: (operation) => api.send(operation.method, anywhere(operation)),
  404: (operation) => send(operation, anywhere(operation)),
  408: (operation) => unfinished(operation, 1_000),
  409: (operation) => whileTaken(operation, merged(operation, {})),
  413: (operation) => unfinished(operation, 300 * 1024 * 1024),
  415: (operation) =>
    send(operation, anywhere(operation), { body: 'x', headers: { 'Content-Type': 'text/plain' } }),
  422: (operation) => twice(operation, merged(operation, {}), {}),
  429: async (operation) => {
    const request = () =>
      rateLimited.send(operation.method, anywhere(operation), { key: keyFor(operation) ?? '' });
    // The limiter's clock stands still, however slow the machine.
    vi.useFakeTimers({ toFake: ['performance'] });
    await request();
    await request();
    return request().finally(() => vi.useRealTimers());
  },
  503: (operation) =>
    cutOff.send(operation.method, anywhere(operation), { key: mintApiKey('an unknown pepper').apiKey }),
};

/** Operations that need no database are never unavailable (503). 500 has no fixture. */
const neverUnavailable = new Set(['verifyProviderWebhook', 'getHealth', 'getMetrics', 'getDescription']);
const answers = routes
  .map(({ declaration }) => declaration)
  .filter(({ undocumented }) => undocumented !== true)
  .flatMap((declaration) =>
    [...Object.keys(declaration.responses).map(Number), ...errorStatuses(declaration)]
      .filter(
        (status) => status !== 500 && !(status === 503 && neverUnavailable.has(declaration.operationId)),
      )
      .map((status) => ({ operationId: declaration.operationId, status, declaration })),
  );

describe('every declared answer', () => {
  it.each(answers)('of $operationId: $status', async ({ operationId, status, declaration }) => {
    const name = `${operationId} ${status}`;
    const succeeds: Request = async (operation) => send(operation, await fixtures.pathOf(operation));
    const fixture =
      status < 300 ? (successes[name] ?? succeeds) : (operationErrors[name] ?? commonErrors[status]);
    if (fixture === undefined) throw new Error(`No request here causes ${name}`);
    expect((await fixture(declaration)).status).toBe(status);
  });

  it('is one of the document', () => {
    const names = new Set(answers.map(({ operationId, status }) => `${operationId} ${status}`));
    expect(
      [...Object.keys(successes), ...Object.keys(operationErrors)].filter((name) => !names.has(name)),
    ).toEqual([]);
  });
});
