import { sql } from 'slonik';
import type { FeatureSetting } from '../../domain/workspaces/feature.ts';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

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
