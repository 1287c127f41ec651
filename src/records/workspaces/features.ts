/** Features of a workspace. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Features, FeatureSetting } from '../../domain/workspaces/feature.ts';
import type { Connection } from '../database/database.ts';
import { nothing, nullable, row } from '../database/row.ts';

const FeatureRow = row(
  t.type({
    scheduleCampaigns: t.boolean,
    targetedSegments: t.boolean,
    broadcastsPerMonth: nullable(t.number),
  }),
);

export async function getFeatures(connection: Connection, workspaceId: number): Promise<Features> {
  return connection.one(sql.type(FeatureRow)`
    SELECT schedule_campaigns AS "scheduleCampaigns", targeted_segments AS "targetedSegments",
      broadcasts_per_month AS "broadcastsPerMonth"
    FROM workspace_feature WHERE workspace_id = ${workspaceId}`);
}

const columns = {
  schedule_campaigns: sql.fragment`schedule_campaigns`,
  targeted_segments: sql.fragment`targeted_segments`,
  broadcasts_per_month: sql.fragment`broadcasts_per_month`,
};

export async function saveFeature(
  connection: Connection,
  workspaceId: number,
  setting: FeatureSetting,
): Promise<void> {
  const column = columns[setting.feature];
  await connection.query(sql.type(nothing)`
    UPDATE workspace_feature SET ${column} = ${storedValue(setting)} WHERE workspace_id = ${workspaceId}`);
}

function storedValue(setting: FeatureSetting): boolean | number | null {
  if (setting.feature !== 'broadcasts_per_month') return setting.value === 'on';
  return setting.value === 'unlimited' ? null : setting.value;
}
