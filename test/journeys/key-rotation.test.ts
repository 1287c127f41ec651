/** Both keys exchanged while processes of the old and of the new configuration run side by side, as the runbook says. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAdmin } from '../../src/admin/run-admin.ts';
import type { Environment } from '../../src/config.ts';
import { bytes, nothing, row } from '../../src/records/database/row.ts';
import { createSecretBox } from '../../src/secrets.ts';
import { startTestApi, type SeededWorkspace, type TestApi, type TestApiOptions } from '../support/api.ts';

const oldKey = 'the secrets key until today';
const newKey = 'the secrets key from today on';
const oldPepper = 'the key pepper until today';
const newPepper = 'the key pepper from today on';
const configurations = 4_000;
const limitMs = 120_000;

let first: TestApi;
let workspace: SeededWorkspace;
const others: TestApi[] = [];

beforeAll(async () => {
  first = await startTestApi({ config: { secretsKeys: [oldKey], keyPeppers: [oldPepper] } });
  workspace = await first.seedWorkspace();
});
afterAll(async () => {
  for (const other of others) await other.close();
  await first?.close();
});

/** One more process on the same database, with another configuration. */
async function startProcess(config: TestApiOptions['config']): Promise<TestApi> {
  const started = await startTestApi({ database: first.database, ...(config && { config }) });
  others.push(started);
  return started;
}

/** The built program, so that it can be killed. */
function spawnAdmin(command: string, environment: Environment): ChildProcess {
  return spawn(process.execPath, [resolve('tools/run-built.mjs'), 'src/admin.js', command], {
    env: { PATH: process.env['PATH'], DATABASE_URL: first.database.url, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function admin(command: string, environment: Environment): Promise<Readonly<Record<string, unknown>>> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runAdmin({
    args: [command],
    environment: { DATABASE_URL: first.database.url, ...environment },
    sqlFolder: resolve('sql'),
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  });
  expect([code, err]).toEqual([0, []]);
  return JSON.parse(out.join('')) as Record<string, unknown>;
}

describe('another SECRETS_KEY', () => {
  const Stored = row(t.type({ id: t.string, title: t.string, secret: bytes }));
  const stored = () =>
    first.database.pool.any(sql.type(Stored)`
      SELECT id, title, secret_encrypted AS secret FROM webhook_configuration WHERE secret_encrypted IS NOT NULL`);
  const underNewKey = createSecretBox([newKey]);
  const staleCount = async () => (await stored()).filter(({ secret }) => underNewKey.isStale(secret)).length;
  const addWebhook = async (process: TestApi, secret: string) => {
    const { status, body } = await process.send('POST', '/api/external-webhooks', {
      key: workspace.channelKey,
      body: { title: secret, url: 'https://example.com/', events: ['sent'], secret },
    });
    expect(status).toBe(201);
    return body.data.id as string;
  };

  it(
    'is taken into use, the command is killed and run again, and the old key goes',
    async () => {
      const underOldKey = createSecretBox([oldKey]);
      const ids = Array.from({ length: configurations }, () => randomUUID());
      const secrets = ids.map((id, index) => underOldKey.encrypt(`secret ${index + 1}`, `webhook ${id}`));
      await first.database.pool.query(sql.type(nothing)`
      INSERT INTO webhook_configuration (id, workspace_id, title, url, status, events, secret_encrypted)
      SELECT id, ${workspace.workspaceId}, 'secret ' || number, 'https://example.com/', 'inactive', ARRAY['sent'], secret
      FROM unnest(${sql.array(ids, 'uuid')}, ${sql.array(secrets, 'bytea')}) WITH ORDINALITY AS given (id, secret, number)`);
      await first.database.pool.query(sql.type(nothing)`
      UPDATE webhook_configuration SET workspace_id = ${(await first.seedWorkspace()).workspaceId}`);

      // Step 1: every process can read the new key; none writes with it.
      const knowing = await startProcess({ secretsKeys: [oldKey, newKey], keyPeppers: [oldPepper] });
      // Step 2: the new key comes first. Processes that were not restarted yet can read what is written with it.
      const using = await startProcess({ secretsKeys: [newKey, oldKey], keyPeppers: [oldPepper] });
      await addWebhook(using, 'written under the new key');
      const changed = await addWebhook(knowing, 'written under the old key');
      for (const process of [knowing, using])
        for (const { id, title, secret } of await stored())
          expect(process.dependencies.secrets.decrypt(secret, `webhook ${id}`)).toBe(title);

      // Step 3: the command, killed in the middle, while secrets are changed.
      const rotation = { SECRETS_KEY: newKey, SECRETS_KEY_PREVIOUS: oldKey };
      const killed = spawnAdmin('rotate-secrets', rotation);
      const before = await staleCount();
      while (killed.exitCode === null && (await staleCount()) > before - 100) await sleep(5);
      const ended = once(killed, 'close');
      killed.kill('SIGKILL');
      expect((await ended)[1]).toBe('SIGKILL');
      const halfway = await staleCount();
      expect(halfway).toBeGreaterThan(0);
      expect(halfway).toBeLessThan(before);
      for (const { id, title, secret } of await stored())
        expect(knowing.dependencies.secrets.decrypt(secret, `webhook ${id}`)).toBe(title);

      const again = admin('rotate-secrets', rotation);
      await knowing.send('PATCH', `/api/external-webhooks/${changed}`, {
        key: workspace.channelKey,
        body: { secret: 'changed meanwhile' },
      });
      expect(Number((await again)['rotated'])).toBeGreaterThan(0);
      // Rotates again: an old process wrote with the old key after the first run.
      await admin('rotate-secrets', rotation);
      expect(await staleCount()).toBe(0);

      // Step 4: without the old key.
      const alone = await startProcess({ secretsKeys: [newKey], keyPeppers: [oldPepper] });
      const texts = (await stored()).map(({ id, title, secret }) => [
        title,
        alone.dependencies.secrets.decrypt(secret, `webhook ${id}`),
      ]);
      expect(texts).toHaveLength(configurations + 2);
      for (const [title, text] of texts)
        expect(text).toBe(title === 'written under the old key' ? 'changed meanwhile' : title);
    },
    limitMs,
  );
});

describe('another KEY_PEPPER', () => {
  it(
    'rehashes each key as it is used, lists those that were not used, and works without the old pepper',
    async () => {
      const ask = async (process: TestApi, key: string) =>
        (await process.send('GET', '/api/tags', { key })).status;
      const knowing = await startProcess({
        secretsKeys: [newKey, oldKey],
        keyPeppers: [oldPepper, newPepper],
      });
      const using = await startProcess({ secretsKeys: [newKey, oldKey], keyPeppers: [newPepper, oldPepper] });
      const { channelKey, workspaceKey } = workspace;
      expect(await ask(using, channelKey)).toBe(200);
      const made = (await using.seedChannel(workspace.workspaceId)).channelKey;
      expect([await ask(knowing, channelKey), await ask(knowing, made)]).toEqual([200, 200]);

      const peppers = { KEY_PEPPER: newPepper, KEY_PEPPER_PREVIOUS: oldPepper };
      const keyIdOf = (key: string) => key.split('_')[1] ?? '';
      const stale = async () => {
        const { keys } = await admin('list-stale-keys', peppers);
        return (keys as readonly { readonly keyId: string; readonly known: boolean }[]).map(
          ({ keyId }) => keyId,
        );
      };
      // From here on every process has the new one first; a key moves when it is used.
      const usedAndStale = async () => {
        for (const key of [channelKey, made]) expect(await ask(using, key)).toBe(200);
        const keys = await stale();
        return [channelKey, made].filter((key) => keys.includes(keyIdOf(key)));
      };
      await expect.poll(usedAndStale).toEqual([]);
      expect(await stale()).toContain(keyIdOf(workspaceKey));
      // A process without the new pepper refuses the key, which is why step 1 comes first.
      expect(await ask(first, channelKey)).toBe(401);

      const alone = await startProcess({ secretsKeys: [newKey, oldKey], keyPeppers: [newPepper] });
      const keys = [channelKey, made, workspaceKey];
      // The workspace's key was never used in between: it is the one to be made anew.
      expect(await Promise.all(keys.map((key) => ask(alone, key)))).toEqual([200, 200, 401]);
    },
    limitMs,
  );
});
