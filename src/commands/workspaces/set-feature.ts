import type { Dependencies } from '../../dependencies.ts';
import { Invalid } from '../../domain/error.ts';
import {
  featureNames,
  featureValues,
  parseFeatureSetting,
  type FeatureSetting,
} from '../../domain/workspaces/feature.ts';
import { saveFeature } from '../../records/workspaces/features.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';

export interface SetFeature {
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
  await saveFeature(database, input.workspaceId, setting);
  return { workspaceId: input.workspaceId, ...setting };
}
