/** Describes, as notes of the doctor, what impairs the installation although Postgres and Temporal agree, such as a full disk. */
import { taskQueues } from '../../workflows/contract.ts';
import { isDiskFull } from '../../records/database/failure.ts';
import {
  probeDiskSpace,
  readCallbackSilence,
  readDatabaseState,
} from '../../records/operations/database-state.ts';
import { listImpairedChannels } from '../../records/operations/impaired-channels.ts';
import { listFailingWebhooks } from '../../records/webhooks/configurations.ts';
import type { Doctor } from './check.ts';

const mostNamed = 100;
/** 10 s: in a shorter silence, callbacks may still be on their way. */
const silentSeconds = 10;

export async function describeImpairments(doctor: Doctor): Promise<readonly string[]> {
  return [
    ...(await describeDatabase(doctor)),
    ...(await describeQueues(doctor)),
    ...(await describeCallbacks(doctor)),
    ...(await describeChannels(doctor)),
    ...(await describeReceivers(doctor)),
  ];
}

async function describeDatabase({ database }: Doctor): Promise<readonly string[]> {
  const state = await readDatabaseState(database);
  const notes = [];
  if (state.read_only) notes.push('Postgres is read-only: nothing can be recorded, and nothing is sent');
  else if (await database.transaction(probeDiskSpace).then(() => false, isDiskFull))
    notes.push('the disk of Postgres is full (53100): nothing can be recorded, and nothing is sent');
  if (state.archive_behind > 0)
    notes.push(
      `WAL is not archived since ${state.last_archived_at?.toISOString() ?? 'the start'}: see archive_command and the log of Postgres`,
    );
  return notes;
}

async function describeQueues({ workflows }: Doctor): Promise<readonly string[]> {
  const reasons = await Promise.all(Object.values(taskQueues).map((queue) => workflows.findUnserved(queue)));
  return reasons.filter((reason) => reason !== undefined);
}

async function describeCallbacks({ database }: Doctor): Promise<readonly string[]> {
  const { seconds, accepted_at: accepted, received_at: received } = await readCallbackSilence(database);
  if (seconds <= silentSeconds) return [];
  return [
    `the provider accepted messages until ${accepted?.toISOString()} and its last callback came ` +
      `${received === null ? 'never' : `at ${received.toISOString()}`}: see the callback address at the provider, ` +
      'PROVIDER_APP_SECRET, and the log line "provider callback refused"',
  ];
}

async function describeChannels({ database }: Doctor): Promise<readonly string[]> {
  const channels = await listImpairedChannels(database, mostNamed);
  return channels.map(({ id, workspace_id: workspaceId, kind, code, since }) => {
    const refusal = code === null ? '' : `, refused by the provider with ${code} at ${since?.toISOString()}`;
    return `channel ${id} of workspace ${workspaceId} is impaired: ${kind}${refusal}`;
  });
}

async function describeReceivers({ database }: Doctor): Promise<readonly string[]> {
  const webhooks = await listFailingWebhooks(database);
  return webhooks
    .slice(0, mostNamed)
    .map(
      ({ id, workspace_id: workspaceId, failing_since: since, consecutive_failures: failures }) =>
        `webhook ${id} of workspace ${workspaceId} has failed ${failures} times in a row, since ${since.toISOString()}`,
    );
}
