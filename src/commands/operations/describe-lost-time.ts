import { findCampaignStates } from '../../records/operations/doctor-overdue.ts';
import type { Restore } from './check-lost-time.ts';
import type { Doctor } from './check.ts';

const mostNamed = 100;

/** Describes the losses of a restore that no repair can undo, for the operator. */
export async function describeLostTime(
  { database, workflows }: Doctor,
  { backupAt, stoppedAt, temporalToo }: Restore,
): Promise<readonly string[]> {
  const window = `${backupAt.toISOString()} to ${stoppedAt.toISOString()}`;
  const notes = [
    `of ${window} no record is left: single sends, recharges, contacts, opt-outs, keys and settings of that time have to be ` +
      'entered again or asked for again; statuses of its messages come as those of unknown messages',
  ];
  if (temporalToo)
    return [
      ...notes,
      'campaigns that were created in that time are lost in both databases and cannot be named; the provider may have ' +
        'accepted their messages: ask their callers before one is created again',
    ];
  for await (const ids of workflows.list('campaign', `StartTime >= '${backupAt.toISOString()}'`)) {
    const known = new Set(
      (await findCampaignStates(database, { ids, finished: [], seconds: 0 })).map(({ id }) => id),
    );
    for (const id of ids.filter((candidate) => !known.has(candidate))) {
      const snapshot = (await workflows.campaignHistory(id))?.snapshot;
      notes.push(
        `campaign ${id}${snapshot === undefined ? '' : ` of workspace ${snapshot.workspaceId}`} was created in that time and is ` +
          `lost; ${snapshot?.counts.accepted ?? 0} of its messages were accepted, at least`,
      );
      if (notes.length > mostNamed) return [...notes, 'and more'];
    }
  }
  return notes;
}
