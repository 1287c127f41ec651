/** Command-line options of `npm run chaos`. */
import { outageKinds, type OutageKind } from './outages.ts';
import { StackError } from '../../stack/error.ts';
import type { Options } from '../rehearsal.ts';

export interface ChaosPlan {
  readonly recipients: number;
  readonly kills: number;
  readonly seed: number;
  /** The channel's limit, messages per second. */
  readonly rate: number;
  readonly workers: number;
  /** Kinds of outage, caused one after the other and spread over the campaign. */
  readonly outages: readonly OutageKind[];
  /** Duration of each outage. */
  readonly seconds: number;
}

export const chaosUsage = `npm run chaos [-- options]

Runs a campaign against the simulator, breaks things meanwhile, and compares the simulator's own list with the records.
  --recipients <n>    default 20000
  --rate <n>          limit of the channel per second, default 300
  --workers <n>       worker processes, default 1
  --seed <n>          of the random choices, default 1
  --kills <n>         SIGKILL to the worker, the API, Temporal or Postgres; default 20, 0 with --outage
  --outage <kinds>    what is unavailable, one after the other; comma-separated, or all:
                      ${outageKinds.join(' ')}
  --seconds <n>       how long each outage lasts, default 60
  --webhooks          three deliveries per message instead, the worker killed while they queue; see --webhooks --help
  --cluster           hosts of a cluster die instead; see --cluster --help
`;

export const chaosOptions = ['recipients', 'rate', 'workers', 'seed', 'kills', 'outage', 'seconds'];

/** Throws StackError. */
export function readChaosPlan({ text, whole }: Options): ChaosPlan {
  const outages = readOutages(text('outage'));
  return {
    recipients: whole('recipients', 20_000),
    rate: whole('rate', 300),
    workers: whole('workers', 1),
    seed: whole('seed', 1),
    kills: whole('kills', outages.length > 0 ? 0 : 20),
    outages,
    seconds: whole('seconds', 60),
  };
}

function readOutages(list: string | undefined): readonly OutageKind[] {
  if (list === undefined) return [];
  if (list === 'all') return outageKinds;
  return list.split(',').map((name) => {
    const kind = outageKinds.find((known) => known === name.trim());
    if (kind === undefined)
      throw new StackError(`There is no outage "${name}", only ${outageKinds.join(', ')}`);
    return kind;
  });
}
