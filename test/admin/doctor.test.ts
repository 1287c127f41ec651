import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { resolve } from 'node:path';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAdmin } from '../../src/admin/run-admin.ts';
import { nothing } from '../../src/records/database/row.ts';
import { seedCampaign } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTemporal } from '../support/temporal.ts';

let temporal: TestWorkflowEnvironment;
let database: TestDatabase;

beforeAll(async () => {
  [temporal, database] = await Promise.all([startTemporal(), createTestDatabase()]);
  await database.pool.query(sql.type(nothing)`INSERT INTO workspace (name) VALUES ('Test')`);
});
afterAll(async () => {
  await temporal?.teardown();
  await database?.drop();
});

async function doctor(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runAdmin({
    args: ['doctor', ...(args.includes('--pause-seconds') ? [] : ['--pause-seconds', '0']), ...args],
    environment: { DATABASE_URL: database.url, TEMPORAL_ADDRESS: temporal.address, DATA_DIR: '/nonexistent' },
    sqlFolder: resolve('sql'),
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  });
  return { code, out: out.join(''), err: err.join('') };
}

async function haveCurrentPrices(): Promise<void> {
  await database.pool.query(sql.type(nothing)`
    INSERT INTO price_card (currency, effective_on, source, sha256, loaded_by)
    VALUES ('USD', current_date - 1, 'test', repeat('0', 64), 'test')`);
}

// No worker runs beside this test.
const notes = ['campaigns', 'webhooks', 'maintenance']
  .map((queue) => `note: no worker serves the task queue ${queue}\n`)
  .join('');

describe('admin doctor', () => {
  it('prints a line for each finding, repairs it with --repair, and finds nothing afterwards', async () => {
    const { campaignId } = await seedCampaign(database.pool, { recipients: 1 });
    await haveCurrentPrices();
    const missing = `campaign-without-workflow ${campaignId}: the campaign is RUNNING and has no workflow: nothing will happen to it`;
    const starts = `start workflow campaign-${campaignId}, which goes on from the record`;
    expect(await doctor()).toEqual({
      code: 1,
      err: '',
      out: `${notes}${missing}; --repair would ${starts}\n1 findings, 1 of them not settled.\n`,
    });
    const { code, out } = await doctor('--json', '--repair');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      clean: true,
      findings: [{ kind: 'campaign-without-workflow', id: campaignId, outcome: 'repaired', repair: starts }],
    });
    await expect
      .poll(() => doctor())
      .toEqual({
        code: 0,
        err: '',
        out: `${notes}Nothing to repair: Postgres and Temporal agree.\n`,
      });
  });

  it('says what a restore has lost', async () => {
    const { out } = await doctor(
      '--backup-at',
      '2026-01-01T12:00:00Z',
      '--stopped-at',
      '2026-01-01T12:10:00Z',
      '--temporal-kept',
    );
    expect(out).toMatch(/^note: no record is left of 2026-01-01T12:00:00.000Z to 2026-01-01T12:10:00.000Z/);
  });

  it('asks whether Temporal was restored too when Temporal shows nothing after the backup', async () => {
    const time = ['--backup-at', '2026-01-01T12:00:00Z', '--stopped-at', '2026-01-01T12:10:00Z'];
    const { code, out, err } = await doctor(...time);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/add --temporal-too/);
    expect((await doctor(...time, '--temporal-too')).out).toMatch(/lost in both databases/);
  });

  it.each([
    [['--backup-at', '2026-01-01T12:00:00Z'], /go together/],
    [['--temporal-kept'], /--temporal-kept needs --backup-at and --stopped-at/],
    [['--temporal-too'], /--temporal-too needs --backup-at and --stopped-at/],
    [
      [
        '--backup-at',
        '2026-01-01T12:00:00Z',
        '--stopped-at',
        '2026-01-01T12:10:00Z',
        '--temporal-too',
        '--temporal-kept',
      ],
      /contradict/,
    ],
    [
      ['--backup-at', 'yesterday', '--stopped-at', '2026-01-01T12:10:00Z'],
      /--backup-at must be a date and time/,
    ],
    [
      ['--backup-at', '2026-02-30T12:00:00Z', '--stopped-at', '2026-03-02T12:10:00Z'],
      /--backup-at must be a date and time/,
    ],
    [['--pause-seconds', '2147483647'], /--pause-seconds must be a whole number, at most 3600/],
    [['--backup-at', '2026-01-02T00:00:00Z', '--stopped-at', '2026-01-01T12:10:00Z'], /is later than/],
    [['--backup-at', '2026-01-01T12:00:00Z', '--stopped-at', '2126-01-01T12:10:00Z'], /lies in the future/],
  ])('refuses %j', async (args, problem) => {
    const { code, out, err } = await doctor(...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(problem);
  });
});
