/** Creates workspaces and changes their features their sending window for marketing, and their event feed. */
import type { Dependencies } from '../../dependencies.ts';
import { describeWindow, type SendingWindow } from '../../domain/campaigns/sending-window.ts';
import { Invalid } from '../../domain/error.ts';
import {
  featureNames,
  type FeatureSetting,
  featureValues,
  parseFeatureSetting,
} from '../../domain/workspaces/feature.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import {
  deleteNoticeTarget,
  type NoticeTarget,
  saveNoticeTarget,
} from '../../records/operations/notice-targets.ts';
import { saveFeed } from '../../records/webhooks/event-feed.ts';
import {
  insertWorkspace,
  requireWorkspace,
  saveFeature,
  saveWorkspaceWindow,
} from '../../records/workspaces/workspaces.ts';

/** Creates a workspace with every feature on and unlimited broadcasts. */
export async function createWorkspace(
  { database }: Pick<Dependencies, 'database'>,
  { name }: { readonly name: string },
): Promise<{ readonly workspaceId: number }> {
  const length = [...name].length;
  if (name.trim() === '' || length > 255) throw Invalid.at('name', 'name must have 1 to 255 characters');
  return { workspaceId: await insertWorkspace(database, name) };
}

interface SetFeature {
  readonly workspaceId: number;
  readonly feature: string;
  /** See `featureValues`. */
  readonly value: string;
}

export async function setFeature(
  { database }: Pick<Dependencies, 'database'>,
  input: SetFeature,
): Promise<{ readonly workspaceId: number } & FeatureSetting> {
  const feature = featureNames.find((name) => name === input.feature);
  if (feature === undefined) {
    throw Invalid.at('feature', `feature must be one of ${featureNames.join(', ')}`);
  }
  const setting = parseFeatureSetting(feature, input.value);
  if (setting === undefined) throw Invalid.at('value', `${feature} must be ${featureValues[feature]}`);
  await requireWorkspace(database, input.workspaceId);
  const { workspaceId } = input;
  await database.transaction(async (transaction) => {
    await saveFeature(transaction, workspaceId, setting);
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'workspace.set-feature',
      objectId: feature,
      details: { after: input.value },
    });
  });
  return { workspaceId: input.workspaceId, ...setting };
}

/**
 * Sets the sending window of MARKETING campaigns, or removes it with null. Returns the running campaigns whose workflows the
 * caller should notify; a worker loop does it otherwise. Throws NotFound.
 */
export function setSendingWindow(
  { database }: Pick<Dependencies, 'database'>,
  workspaceId: number,
  window: SendingWindow | null,
): Promise<readonly string[]> {
  return database.transaction(async (transaction) => {
    const campaignIds = await saveWorkspaceWindow(transaction, workspaceId, window);
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'workspace.sending-window',
      objectId: String(workspaceId),
      details: { after: describeWindow(window) },
    });
    return campaignIds;
  });
}

/** Sets the address to which notices are posted. The caller has checked that the address is allowed. */
export function setNoticeTarget(
  { database, secrets }: Pick<Dependencies, 'database' | 'secrets'>,
  workspaceId: number,
  { url, secret }: { readonly url: string; readonly secret: string | null },
): Promise<NoticeTarget> {
  const id = createId();
  const secretEncrypted = secret === null ? null : secrets.encrypt(secret, `notice ${id}`);
  return database.transaction(async (transaction) => {
    const target = await saveNoticeTarget(transaction, workspaceId, { id, url, secretEncrypted });
    await insertAuditEntry(transaction, { workspaceId, action: 'workspace.notice-target', objectId: 'set' });
    return target;
  });
}

/** Notices that wait for the address are not posted. Safe to repeat. */
export function removeNoticeTarget(
  { database }: Pick<Dependencies, 'database'>,
  workspaceId: number,
): Promise<void> {
  return database.transaction(async (transaction) => {
    await deleteNoticeTarget(transaction, workspaceId);
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'workspace.notice-target',
      objectId: 'removed',
    });
  });
}

/** Switches the event feed of the workspace on or off. Safe to repeat. */
export function switchEventFeed(
  { database }: Pick<Dependencies, 'database'>,
  workspaceId: number,
  enabled: boolean,
): Promise<void> {
  return database.transaction(async (transaction) => {
    await saveFeed(transaction, workspaceId, enabled);
    const objectId = enabled ? 'on' : 'off';
    await insertAuditEntry(transaction, { workspaceId, action: 'workspace.event-feed', objectId });
  });
}
