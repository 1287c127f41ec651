/** The installation that is attacked, and the keys that attackers have. */
export interface AttackTarget {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  /** API keys of the attacking tenants, four workspaces. */
  readonly keys: readonly string[];
  readonly seconds: number;
}

/** The key of the first attacking tenant. */
export const first = ({ keys }: AttackTarget): string => keys[0] ?? '';
/** Headers of a JSON request. */
export const json = (key: string) => ({ 'x-api-key': key, 'content-type': 'application/json' });
