/** A workspace that creates campaigns over HTTP, as a customer does. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { createChannel } from '../../src/commands/workspaces/channels.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import type { Dependencies } from '../../src/dependencies.ts';

export interface ApiSender {
  readonly workspaceId: number;
  readonly phoneNumberId: string;
  /** Creates a campaign that starts at once. Returns its id; throws unless the answer is 201. */
  readonly create: (audience: Readonly<Record<string, unknown>>) => Promise<string>;
  /** How many of the workspace's campaigns are not completed. */
  readonly open: () => Promise<number>;
}

/** `baseUrl` is that of the API. */
export async function seedApiSender(
  { client, dependencies }: { readonly client: pg.Client; readonly dependencies: Dependencies },
  {
    baseUrl,
    phoneNumberId,
    messagesPerSecond,
  }: { readonly baseUrl: string; readonly phoneNumberId: string; readonly messagesPerSecond: number },
): Promise<ApiSender> {
  const { workspaceId } = await createWorkspace(dependencies, { name: 'Bench' });
  const businessAccountId = `10229${phoneNumberId}`;
  const { channelId } = await createChannel(dependencies, {
    workspaceId,
    phoneNumberId,
    displayPhoneNumber: '15550100000',
    businessAccountId,
    accessToken: 'token',
    messagesPerSecond,
  });
  const { apiKey } = await createApiKey(dependencies, { workspaceId, channelId, scope: 'channel' });
  const templateId = randomUUID();
  await client.query(
    `INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category,
      status, parameter_format, components)
    VALUES ($1, $2, $3, '1', 'hello', 'en_US', 'UTILITY', 'APPROVED', 'POSITIONAL', $4)`,
    [templateId, workspaceId, businessAccountId, JSON.stringify([{ type: 'BODY', text: 'Hello!' }])],
  );
  await client.query('UPDATE wallet SET balance = 1000000000000 WHERE channel_id = $1', [channelId]);
  await client.query(
    `INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount) VALUES ($1, $2, 'recharge', 1000000000000)`,
    [channelId, workspaceId],
  );
  const create = async (audience: Readonly<Record<string, unknown>>): Promise<string> => {
    const answer = await fetch(`${baseUrl}/api/campaigns/auto-trigger`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Order', template_id: templateId, send_type: 'IMMEDIATE', ...audience }),
    });
    if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`);
    const { data } = (await answer.json()) as {
      readonly data: { readonly campaign: { readonly id: string } };
    };
    return data.campaign.id;
  };
  const open = async (): Promise<number> => {
    const { rows } = await client.query<{ open: number }>(
      `SELECT count(*)::int AS open FROM campaign WHERE workspace_id = $1 AND status <> 'COMPLETED'`,
      [workspaceId],
    );
    return rows[0]?.open ?? 0;
  };
  return { workspaceId, phoneNumberId, create, open };
}

/** A campaign's audience of these numbers. */
export const quickContacts = (numbers: readonly string[]) => ({
  contact_selection_type: 'quick_contacts',
  quick_contacts: numbers,
});

/** Runs `work` `count` times, in as many lanes as `lanes` says. */
export async function inLanes(count: number, lanes: number, work: () => Promise<unknown>): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

export async function untilReady(baseUrl: string): Promise<void> {
  for (let tried = 0; tried < 300; tried += 1) {
    const ready = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
    if (ready?.status === 200) return;
    await sleep(200);
  }
  throw new Error('The API is not ready after a minute');
}
