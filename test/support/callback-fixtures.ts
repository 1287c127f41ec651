/** Callbacks as the provider writes them, and what a worker needs to apply them. */
import { createHmac, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import * as t from 'io-ts';
import { sql } from 'slonik';
import type { CallbackDependencies } from '../../src/commands/callbacks/apply-items.ts';
import { createCallbackPoll } from '../../src/commands/callbacks/apply-provider-callbacks.ts';
import { defaultOptInWords, defaultOptOutWords } from '../../src/domain/callbacks/consent-words.ts';
import { eventKeys } from '../../src/domain/webhooks/event-key.ts';
import type { Database } from '../../src/records/database/database.ts';
import { createSecretBox } from '../../src/secrets.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { insertProviderCallbacks } from '../../src/records/callbacks/provider-callbacks.ts';
import { nothing, row } from '../../src/records/database/row.ts';

export const appSecret = 'the app secret of the tests';

export function signatureOf(body: string | Buffer): string {
  return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
}

/** Temporal is a fake here that records its signals. */
export interface RecordingApplier extends CallbackDependencies {
  readonly orchestratorCalls: string[];
  /** Log lines at level warning or error. */
  readonly complaints: string[];
  /** The same log lines with all of their fields. */
  readonly lines: Json[];
}

export function createApplier(
  database: Database,
  overrides: Partial<CallbackDependencies> = {},
): RecordingApplier {
  const orchestratorCalls: string[] = [];
  const complaints: string[] = [];
  const lines: Json[] = [];
  return {
    database,
    config: {
      optOutWords: defaultOptOutWords,
      optInWords: defaultOptInWords,
    } as unknown as CallbackDependencies['config'],
    logger: pino(
      { level: 'warn' },
      {
        write: (text) => {
          const line = JSON.parse(text) as Json & { msg: string };
          lines.push(line);
          complaints.push(line.msg);
        },
      },
    ),
    metrics: createMetrics('test'),
    secrets: createSecretBox(['a key of the tests, long enough']),
    now: () => new Date('2026-03-01T12:00:00.000Z'),
    orchestrator: {
      refreshCampaign: async (id: string) => orchestratorCalls.push(`refresh ${id}`) > 0,
      startTemplateSync: async (id: string) => void orchestratorCalls.push(`sync ${id}`),
    } as unknown as CallbackDependencies['orchestrator'],
    orchestratorCalls,
    complaints,
    lines,
    ...overrides,
  };
}

type Json = Readonly<Record<string, unknown>>;

const envelope = (accountId: string, changes: readonly Json[]): Json => ({
  object: 'whatsapp_business_account',
  entry: [{ id: accountId, time: 1_751_247_548, changes }],
});

export function messagesCallback(
  phoneNumberId: string,
  value: {
    readonly statuses?: readonly Json[];
    readonly messages?: readonly Json[];
    readonly contacts?: readonly Json[];
  },
): Json {
  const metadata = { display_phone_number: '15550100000', phone_number_id: phoneNumberId };
  return envelope('1000200030004000', [
    { field: 'messages', value: { messaging_product: 'whatsapp', metadata, ...value } },
  ]);
}

export function fieldCallback(accountId: string, field: string, value: Json): Json {
  return envelope(accountId, [{ field, value }]);
}

export interface StatusSpec {
  readonly status: string;
  readonly providerMessageId: string;
  readonly callbackData?: string;
  readonly code?: number;
  readonly pricing?: Json;
}

export function status({ status: name, providerMessageId, callbackData, code, pricing }: StatusSpec): Json {
  return {
    id: providerMessageId,
    status: name,
    timestamp: '1751142888',
    recipient_id: '4915100000001',
    ...(callbackData !== undefined && { biz_opaque_callback_data: callbackData }),
    ...(pricing !== undefined && { pricing }),
    ...(code !== undefined && {
      errors: [{ code, title: 'Refused', message: 'Refused', error_data: { details: `because of ${code}` } }],
    }),
  };
}

/** Stores callbacks as the API does and lets the worker apply all of them. */
export async function deliverAnyhow(
  applier: CallbackDependencies,
  callbacks: readonly (Json | Buffer)[],
): Promise<void> {
  const bodies = callbacks.map((callback) =>
    Buffer.isBuffer(callback) ? callback : Buffer.from(JSON.stringify(callback)),
  );
  if (bodies.length > 0) await insertProviderCallbacks(applier.database, bodies);
  while ((await createCallbackPoll(applier)()) > 0);
}

/** Like `deliverAnyhow`, but fails if a batch could not be applied as a whole. */
export async function deliver(
  applier: RecordingApplier,
  callbacks: readonly (Json | Buffer)[],
): Promise<void> {
  await deliverAnyhow(applier, callbacks);
  if (applier.complaints.includes('callbacks are applied by channel')) throw new Error('A batch failed');
}

/** Subscribes the workspace to every event, so that events are written. */
export async function subscribeToAll(database: Database, workspaceId: number): Promise<void> {
  await database.query(sql.type(nothing)`
    INSERT INTO webhook_configuration (id, workspace_id, title, url, status, events)
    VALUES (${randomUUID()}, ${workspaceId}, 'all', 'http://127.0.0.1:9/', 'active', ${sql.array([...eventKeys], 'text')})`);
}

export interface WrittenEvent {
  readonly eventKey: string;
  readonly workspaceId: number;
  readonly timestamp: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests look into data of every shape
  readonly data: any;
}

export async function eventsOf(database: Database, workspaceId: number): Promise<readonly WrittenEvent[]> {
  const bodies = await database.anyFirst(sql.type(row(t.type({ body: t.string })))`
    SELECT body FROM event WHERE workspace_id = ${workspaceId} ORDER BY id`);
  return bodies.map((body) => JSON.parse(body) as WrittenEvent);
}

/** The rows of a query, undecoded: `columns` is a JSON object made by the statement. */
export async function rowsOf<T>(
  database: Database,
  statement: ReturnType<typeof sql.fragment>,
): Promise<readonly T[]> {
  const rows = await database.anyFirst(sql.type(row(t.type({ line: t.unknown })))`
    SELECT to_jsonb(line) AS line FROM (${statement}) AS line`);
  return rows as readonly T[];
}
