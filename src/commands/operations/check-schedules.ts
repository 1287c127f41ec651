import { listAllBusinessAccounts } from '../../records/workspaces/business-accounts.ts';
import { retentionScheduleId, templateSyncScheduleId } from '../../workflows/contract.ts';
import type { Doctor, Finding } from './check.ts';

/** Checks that retention and every business account have a schedule, and that no sync schedule lacks its account. */
export async function* checkSchedules({ database, orchestrator, workflows }: Doctor): AsyncIterable<Finding> {
  const present = await workflows.scheduleIds();
  const accounts = await listAllBusinessAccounts(database);
  const missing = (id: string, what: string, run: () => Promise<void>): Finding => ({
    kind: 'schedule-missing',
    id,
    fingerprint: '',
    meaning: `schedule ${id} is missing: ${what}`,
    repair: { does: 'create the schedule', run },
  });
  if (!present.has(retentionScheduleId)) {
    yield missing(retentionScheduleId, 'nothing old is removed', () => orchestrator.scheduleRetention());
  }
  for (const account of accounts) {
    const id = templateSyncScheduleId(account.id);
    if (!present.has(id)) {
      yield missing(id, 'templates of the account are not synced', () =>
        orchestrator.scheduleTemplateSync(account),
      );
    }
  }
  const wanted = new Set([retentionScheduleId, ...accounts.map(({ id }) => templateSyncScheduleId(id))]);
  for (const id of present) {
    if (wanted.has(id) || !id.startsWith(templateSyncScheduleId(''))) continue;
    yield {
      kind: 'schedule-without-account',
      id,
      fingerprint: '',
      meaning: `schedule ${id} syncs a business account that has no record`,
      repair: { does: 'delete the schedule', run: () => workflows.deleteSchedule(id) },
    };
  }
}
