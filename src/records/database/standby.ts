/** A standby of the database, for reading what may be some seconds old; see `Declaration.standby`. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Database } from './database.ts';
import { row } from './row.ts';

export interface Freshness {
  /**
   * Seconds since when the standby may lack what was committed; undefined when that is too long, or not known. Does not
   * wait: it answers by the last look and has another one made.
   */
  readonly ageSeconds: () => number | undefined;
}

const lookEveryMs = 500;
const Place = row(t.type({ place: t.bigint }));

/** By places in the log: a standby that has replayed what the primary had written a second ago is a second old at most. */
export function watchFreshness(primary: Database, standby: Database, mostSeconds: number): Freshness {
  let marks: readonly { readonly at: number; readonly place: bigint }[] = [];
  let freshAt: number | undefined;
  let nextLook = 0;

  const look = async (): Promise<void> => {
    const at = performance.now();
    const place = await primary.oneFirst(
      sql.type(Place)`SELECT (pg_current_wal_lsn() - '0/0')::int8 AS place`,
    );
    // A standby that was made the primary is as new as can be.
    const replayed = await standby.oneFirst(sql.type(Place)`
      SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() - '0/0' ELSE ${place} END::int8 AS place`);
    const known = [...marks, { at, place }];
    freshAt = known.findLast((mark) => mark.place <= replayed)?.at ?? freshAt;
    marks = known.filter((mark) => mark.at > (freshAt ?? 0) && at - mark.at < mostSeconds * 1000);
  };

  return {
    ageSeconds() {
      const now = performance.now();
      if (now >= nextLook) {
        nextLook = Infinity;
        void look()
          .catch(() => (freshAt = undefined))
          .finally(() => (nextLook = performance.now() + lookEveryMs));
      }
      const age = freshAt === undefined ? Infinity : (now - freshAt) / 1000;
      return age > mostSeconds ? undefined : age;
    },
  };
}
