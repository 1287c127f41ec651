/**
 * The API on its own database, over real HTTP on a free port. `send` checks every response against the OpenAPI document.
 * Temporal and the provider are fakes unless a test brings its own.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiServer, type ServerLimits } from '../../src/api/frame/app.ts';
import type { Endpoint } from '../../src/api/frame/endpoint.ts';
import { routes } from '../../src/api/routes.ts';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { createChannel } from '../../src/commands/workspaces/channels.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import { createDependencies, type Dependencies } from '../../src/dependencies.ts';
import type { Orchestrator } from '../../src/orchestrator/orchestrator.ts';
import { createContract, type Contract } from './contract.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createListingProvider } from './listing-provider.ts';

export interface TestApi {
  readonly baseUrl: string;
  readonly port: number;
  readonly server: Server;
  readonly database: TestDatabase;
  readonly dependencies: Dependencies;
  readonly contract: Contract;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<TestResponse>;
  /** A workspace with one channel and a key of every scope. */
  readonly seedWorkspace: (name?: string) => Promise<SeededWorkspace>;
  /** One more channel of a workspace, with its key. */
  readonly seedChannel: (workspaceId: number, businessAccountId?: string) => Promise<SeededChannel>;
  /** Stops taking requests, as a process that ends does. */
  readonly drain: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface SendOptions {
  readonly key?: string;
  /** Sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON body; undefined for another media type. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers whose shape they assert
  readonly body: any;
  readonly text: string;
}

export interface SeededChannel {
  readonly channelId: string;
  readonly phoneNumberId: string;
  readonly businessAccountId: string;
  readonly channelKey: string;
}

export interface SeededWorkspace extends SeededChannel {
  readonly workspaceId: number;
  readonly workspaceKey: string;
  readonly operatorKey: string;
}

export interface TestApiOptions {
  readonly endpoints?: readonly Endpoint[];
  readonly config?: Partial<Config>;
  readonly dependencies?: Partial<Dependencies>;
  readonly limits?: Partial<ServerLimits>;
  /** Database of an earlier `startTestApi`, for a second process of the product. `close` leaves it open. */
  readonly database?: TestDatabase;
}

export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { endpoints = routes } = options;
  const database = options.database ?? (await createTestDatabase());
  const dataDir = await mkdtemp(join(tmpdir(), 'messaging-campaigns-api-'));
  const config = { ...testConfig(database.url, dataDir), ...options.config };
  const open = await createDependencies(config, 'api');
  const dependencies: Dependencies = {
    ...open,
    provider: createListingProvider(),
    orchestrator: createIdleOrchestrator(),
    ...options.dependencies,
  };
  const { server, drain } = createApiServer(dependencies, endpoints, options.limits, {
    pageFolder: 'dist/dashboard',
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const contract = createContract(endpoints);

  const seedChannel: TestApi['seedChannel'] = async (workspaceId, businessAccountId = randomDigits()) => {
    const phoneNumberId = randomDigits();
    const { channelId } = await createChannel(dependencies, {
      workspaceId,
      phoneNumberId,
      displayPhoneNumber: '+49 30 1234567',
      businessAccountId,
      accessToken: 'access token of the tests',
    });
    const { apiKey } = await createApiKey(dependencies, { workspaceId, channelId, scope: 'channel' });
    return { channelId, phoneNumberId, businessAccountId, channelKey: apiKey };
  };

  return {
    baseUrl,
    port,
    server,
    database,
    dependencies,
    contract,
    seedChannel,
    async seedWorkspace(name = 'Workspace of a test') {
      const { workspaceId } = await createWorkspace(dependencies, { name });
      const keyOf = async (scope: 'workspace' | 'operator') =>
        (await createApiKey(dependencies, { workspaceId, scope })).apiKey;
      return {
        workspaceId,
        ...(await seedChannel(workspaceId)),
        workspaceKey: await keyOf('workspace'),
        operatorKey: await keyOf('operator'),
      };
    },
    async send(method, path, { key, body, headers = {} } = {}) {
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(key !== undefined && { 'X-API-Key': key }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const contentType = response.headers.get('content-type');
      const parsed: unknown =
        contentType?.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined;
      contract.check({
        method,
        path: path.split('?')[0] ?? path,
        status: response.status,
        contentType,
        body: parsed,
      });
      return { status: response.status, headers: response.headers, body: parsed, text };
    },
    drain: () => drain(1_000),
    async close() {
      server.closeAllConnections();
      await drain(100);
      await open.close();
      if (options.database === undefined) await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function testConfig(databaseUrl: string, dataDir: string): Config {
  return loadConfig({
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '6',
    DATA_DIR: dataDir,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    PROVIDER_BASE_URL: 'http://127.0.0.1:1/v23.0',
    PROVIDER_APP_SECRET: 'the app secret of the tests',
    PROVIDER_VERIFY_TOKEN: 'the verify token of the tests',
    KEY_PEPPER: 'a key pepper for the tests',
    SECRETS_KEY: 'a secrets key for the tests',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    RATE_LIMIT_PER_SECOND: '100000',
    LOG_LEVEL: 'silent',
    LOG_FORMAT: 'json',
  });
}

/** Takes every start and signal and does nothing. */
export function createIdleOrchestrator(overrides: Partial<Orchestrator> = {}): Orchestrator {
  return {
    startCampaign: async () => undefined,
    refreshCampaign: async () => true,
    startWebhookDelivery: async () => 'started',
    scheduleTemplateSync: async () => undefined,
    scheduleRetention: async () => undefined,
    schedulePriceComparison: async () => undefined,
    startTemplateSync: async () => undefined,
    startContactImport: async () => undefined,
    namespace: async () => ({ id: 'a namespace', name: 'default' }),
    close: async () => undefined,
    get client(): never {
      throw new Error('This test has no Temporal');
    },
    ...overrides,
  };
}

function randomDigits(): string {
  return BigInt(`0x${randomUUID().replaceAll('-', '').slice(0, 12)}`)
    .toString()
    .padStart(15, '1');
}
