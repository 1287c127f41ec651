import * as t from 'io-ts';
import { sql } from 'slonik';
import { FrequencyCap } from '../../codecs/frequency-cap.ts';
import { SendingWindow } from '../../codecs/sending-window.ts';
import { oneOf } from '../../codecs/struct.ts';
import { campaignStatuses, isFinished } from '../../domain/campaigns/campaign.ts';
import type { FrequencyCap as Cap } from '../../domain/campaigns/frequency-cap.ts';
import type { SendingWindow as Window } from '../../domain/campaigns/sending-window.ts';
import { type ConsentPolicy, consentPolicies } from '../../domain/contacts/consent.ts';
import { notFound, NotFound } from '../../domain/error.ts';
import { type FailureBrakeSetting, failureBrakeSettings } from '../../domain/sending/failure-brake.ts';
import type { FeatureSetting } from '../../domain/workspaces/feature.ts';
import { enqueueRefreshes } from '../campaigns/workflow-outbox.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

const WorkspaceId = row(t.type({ id: t.number }));

/** Inserts a workspace with every feature on and unlimited broadcasts; returns its id. */
export async function insertWorkspace(connection: Connection, name: string): Promise<number> {
  return connection.oneFirst(sql.type(WorkspaceId)`
    WITH inserted AS (
      INSERT INTO workspace (name) VALUES (${name}) RETURNING id
    ), feature AS (
      INSERT INTO workspace_feature (workspace_id) SELECT id FROM inserted
    )
    SELECT id FROM inserted`);
}

export async function requireWorkspace(connection: Connection, workspaceId: number): Promise<void> {
  const found = await connection.maybeOne(
    sql.type(WorkspaceId)`SELECT id FROM workspace WHERE id = ${workspaceId}`,
  );
  if (found === null) throw new NotFound('Workspace');
}

export async function getWorkspaceOfCampaign(connection: Connection, campaignId: string): Promise<number> {
  const found = await connection.maybeOneFirst(sql.type(WorkspaceId)`
    SELECT workspace_id AS id FROM campaign WHERE id = ${campaignId}`);
  return found ?? notFound('Campaign');
}

export async function saveFeature(
  connection: Connection,
  workspaceId: number,
  setting: FeatureSetting,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE workspace_feature SET ${sql.identifier([setting.feature])} = ${storedValue(setting)} WHERE workspace_id = ${workspaceId}`);
}

function storedValue(setting: FeatureSetting): boolean | number | null {
  if (setting.feature !== 'broadcasts_per_month') return setting.value === 'on';
  return setting.value === 'unlimited' ? null : setting.value;
}

// The workspace's sending window for MARKETING templates.

const Found = row(t.type({ sending_window: nullable(SendingWindow) }));
const ChangedCampaign = row(t.type({ id: t.string, status: oneOf(campaignStatuses) }));
const unfinishedStatuses = campaignStatuses.filter((status) => !isFinished(status));

/** Null: always open. Throws NotFound. */
export async function getWorkspaceWindow(
  connection: Connection,
  workspaceId: number,
): Promise<Window | null> {
  const found = await connection.maybeOne(sql.type(Found)`
    SELECT sending_window FROM workspace WHERE id = ${workspaceId}`);
  return (found ?? notFound('Workspace')).sending_window;
}

/**
 * Returns the ids of the running campaigns that follow the workspace's window, and puts a message for the workflow of each into
 * the outbox. Their epoch is raised: a step that sends under the previous window claims nothing more. Campaigns that are not
 * running are locked too, so that one which begins or resumes meanwhile reads the new window. Throws NotFound.
 */
export async function saveWorkspaceWindow(
  transaction: Connection,
  workspaceId: number,
  window: Window | null,
): Promise<readonly string[]> {
  const saved = await transaction.maybeOne(sql.type(Found)`
    UPDATE workspace SET sending_window = ${window === null ? null : JSON.stringify(window)}::jsonb
    WHERE id = ${workspaceId} RETURNING sending_window`);
  if (saved === null) return notFound('Workspace');
  const changed = await transaction.any(sql.type(ChangedCampaign)`
    WITH unfinished AS MATERIALIZED (
      SELECT campaign.id FROM campaign JOIN template ON template.id = campaign.template_id
      WHERE campaign.workspace_id = ${workspaceId} AND NOT ignore_quiet_hours AND template.category = 'MARKETING'
        AND campaign.status = ANY (${sql.array(unfinishedStatuses, 'text')})
      ORDER BY campaign.id FOR NO KEY UPDATE OF campaign
    )
    UPDATE campaign SET window_opens_at = NULL, epoch = epoch + 1, updated_at = now()
    WHERE id IN (SELECT id FROM unfinished) RETURNING id, status`);
  const ids = changed.filter(({ status }) => status === 'RUNNING').map(({ id }) => id);
  await enqueueRefreshes(transaction, ids);
  return ids;
}

// How soon campaigns of the workspace pause because their messages fail.

const Brake = row(t.type({ failure_brake: oneOf(failureBrakeSettings) }));

/** Throws NotFound. */
export async function getWorkspaceBrake(
  connection: Connection,
  workspaceId: number,
): Promise<FailureBrakeSetting> {
  const found = await connection.maybeOne(sql.type(Brake)`
    SELECT failure_brake FROM workspace WHERE id = ${workspaceId}`);
  return (found ?? notFound('Workspace')).failure_brake;
}

/** The next known outcome of each running campaign is judged by the new setting. */
export async function saveWorkspaceBrake(
  connection: Connection,
  workspaceId: number,
  setting: FailureBrakeSetting,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE workspace SET failure_brake = ${setting} WHERE id = ${workspaceId}`);
}

// Whether campaigns need recorded consent.

const Policy = row(t.type({ require_consent: oneOf(consentPolicies) }));

/** Throws NotFound. */
export async function getConsentPolicy(connection: Connection, workspaceId: number): Promise<ConsentPolicy> {
  const found = await connection.maybeOne(sql.type(Policy)`
    SELECT require_consent FROM workspace WHERE id = ${workspaceId}`);
  return (found ?? notFound('Workspace')).require_consent;
}

/** Applies to preparations that begin afterwards. */
export async function saveConsentPolicy(
  connection: Connection,
  workspaceId: number,
  policy: ConsentPolicy,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE workspace SET require_consent = ${policy} WHERE id = ${workspaceId}`);
}

// How many messages a contact gets at most.

const FoundCap = row(t.type({ frequency_cap: nullable(FrequencyCap) }));

/** Null: no limit. Throws NotFound. */
export async function getFrequencyCap(connection: Connection, workspaceId: number): Promise<Cap | null> {
  const found = await connection.maybeOne(sql.type(FoundCap)`
    SELECT frequency_cap FROM workspace WHERE id = ${workspaceId}`);
  return (found ?? notFound('Workspace')).frequency_cap;
}

/** Applies to preparations and send steps that begin afterwards. */
export async function saveFrequencyCap(
  connection: Connection,
  workspaceId: number,
  cap: Cap | null,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE workspace SET frequency_cap = ${cap === null ? null : JSON.stringify(cap)}::jsonb
    WHERE id = ${workspaceId}`);
}

// The country of numbers that name none.

const DefaultCountry = row(t.type({ default_country: nullable(t.string) }));

/** ISO 3166 alpha-2; null if none is set. Throws NotFound. */
export async function getWorkspaceCountry(
  connection: Connection,
  workspaceId: number,
): Promise<string | null> {
  const found = await connection.maybeOne(sql.type(DefaultCountry)`
    SELECT default_country FROM workspace WHERE id = ${workspaceId}`);
  return (found ?? notFound('Workspace')).default_country;
}

export async function saveWorkspaceCountry(
  connection: Connection,
  workspaceId: number,
  country: string | null,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE workspace SET default_country = ${country} WHERE id = ${workspaceId}`);
}
