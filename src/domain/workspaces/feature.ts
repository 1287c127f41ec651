/** Features of a workspace's plan (Spec 4.1 rules 3–5). Imports neither io-ts nor Node. */

export const featureNames = ['schedule_campaigns', 'targeted_segments', 'broadcasts_per_month'] as const;
export type FeatureName = (typeof featureNames)[number];

export interface Features {
  readonly scheduleCampaigns: boolean;
  readonly targetedSegments: boolean;
  /** null = unlimited */
  readonly broadcastsPerMonth: number | null;
}

/** One feature with the value to set. */
export type FeatureSetting =
  | { readonly feature: 'schedule_campaigns' | 'targeted_segments'; readonly value: 'on' | 'off' }
  | { readonly feature: 'broadcasts_per_month'; readonly value: number | 'unlimited' };

const largestQuota = 2_147_483_647;

/** Says for each feature which values an operator may write. */
export const featureValues: Readonly<Record<FeatureName, string>> = {
  schedule_campaigns: 'on or off',
  targeted_segments: 'on or off',
  broadcasts_per_month: `a whole number, at most ${largestQuota}, or unlimited`,
};

/** Reads a setting as an operator writes it; undefined when the feature does not take the value. */
export function parseFeatureSetting(feature: FeatureName, value: string): FeatureSetting | undefined {
  if (feature !== 'broadcasts_per_month') {
    return value === 'on' || value === 'off' ? { feature, value } : undefined;
  }
  if (value === 'unlimited') return { feature, value };
  const quota = Number(value);
  return /^\d{1,10}$/.test(value) && quota <= largestQuota ? { feature, value: quota } : undefined;
}

/** First day of the UTC calendar month over which broadcasts are counted, as `YYYY-MM-DD`. */
export function quotaMonth(now: Date): string {
  return `${now.getUTCFullYear()}-${String(now.getUTCMonth() + 1).padStart(2, '0')}-01`;
}
