import pg from 'pg';
import { randomUUID } from 'node:crypto';
import type { EventKey } from '../../src/domain/webhooks/event-key.ts';
import type { NewEvent } from '../../src/domain/webhooks/new-event.ts';
import type { Database } from '../../src/records/database/database.ts';
import { insertWebhookConfiguration } from '../../src/records/webhooks/configurations.ts';
import { scheduleDeliveries, type SchedulerLimits } from '../../src/records/webhooks/delivery-scheduler.ts';
import type { TestDatabase } from './database.ts';

/** Statements that only tests run; src/records/ offers no function for them. */
export async function query<R extends pg.QueryResultRow>(
  database: TestDatabase,
  text: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  try {
    return (await client.query<R>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

export async function makeWorkspace(database: TestDatabase): Promise<number> {
  const [row] = await query<{ id: number }>(
    database,
    `INSERT INTO workspace (name) VALUES ('Test') RETURNING id`,
  );
  if (row === undefined) throw new Error('no workspace');
  return row.id;
}

export interface ConfigurationOverrides {
  readonly id?: string;
  readonly url?: string;
  readonly events?: readonly EventKey[];
  readonly status?: 'active' | 'inactive';
  readonly secretEncrypted?: Buffer;
}

export function makeConfiguration(
  pool: Database,
  workspaceId: number,
  overrides: ConfigurationOverrides = {},
) {
  const configuration = {
    id: randomUUID(),
    title: 'Test',
    url: 'http://127.0.0.1:9/hook',
    status: 'active',
    events: ['contact.created'],
    secretEncrypted: null,
    ...overrides,
  } as const;
  return pool.transaction((transaction) =>
    insertWebhookConfiguration(transaction, workspaceId, configuration),
  );
}

/** Limits of one scheduler that locks every shard and schedules every waiting delivery. */
export const schedulerLimits: SchedulerLimits = {
  shards: { count: 16, first: 0, most: 16 },
  limit: 100,
  slowLimit: 100,
  perEndpoint: 1000,
  slowPerShard: 100,
  expiryHours: 24,
};

/** Schedules waiting deliveries within `schedulerLimits`; returns their ids. */
export async function handOut(
  pool: Database,
  overrides: Partial<SchedulerLimits> = {},
): Promise<readonly string[]> {
  const { deliveries } = await scheduleDeliveries(pool, { ...schedulerLimits, ...overrides });
  return deliveries.map(({ id }) => id);
}

/** A `contact.created` event. */
export function contactEvent(overrides: { readonly firstName?: string } = {}): NewEvent {
  const now = new Date('2026-01-02T03:04:05.678Z');
  return {
    eventKey: 'contact.created',
    occurredAt: now,
    data: {
      contact: {
        id: randomUUID(),
        firstName: overrides.firstName ?? 'Ada',
        lastName: 'Lovelace',
        chatName: '',
        username: '',
        email: '',
        phoneNumber: '1701234567',
        countryCode: '49',
        source: 'api',
        subscribed: true,
        consent: 'all',
        customFields: [],
        tagsId: [],
        dob: null,
        createdAt: now.toISOString(),
        updatedAt: now.toISOString(),
      },
    },
  };
}
