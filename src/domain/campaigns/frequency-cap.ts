/** The frequency cap of a workspace: how many messages a contact gets at most in a number of days. Imports nothing. */

export const cappedCategories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const;

export interface FrequencyCap {
  readonly messages: number;
  readonly days: number;
  /** Of templates: messages of these count, and only messages of these are left out. */
  readonly categories: readonly (typeof cappedCategories)[number][];
}

export interface WorkspaceCap extends FrequencyCap {
  readonly workspaceId: number;
}

/** The cap that a campaign with a template of this category has to keep; undefined if none applies to it. */
export const capOn = (
  cap: FrequencyCap | null,
  { workspaceId, category }: { readonly workspaceId: number; readonly category: string },
): WorkspaceCap | undefined =>
  cap !== null && cap.categories.some((one) => one === category) ? { ...cap, workspaceId } : undefined;
