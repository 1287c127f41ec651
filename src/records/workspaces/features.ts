/** Features of a workspace. */
import { sql } from 'slonik';
import type { FeatureSetting } from '../../domain/workspaces/feature.ts';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

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
