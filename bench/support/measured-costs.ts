/** What `npm run bench -- costs` measured; see docs/scaling.md. */
import type { UnitCosts } from './simulated-day.ts';

export const measuredCosts: UnitCosts = {
  prepared: { node: 0.012, postgres: 0.008, wal: 500, kept: 480 },
  sent: { node: 0.1, postgres: 0.06, wal: 700, kept: 60 },
  callback: { node: 0.15, postgres: 0.02, wal: 900, kept: 850 },
  status: { node: 0.1, postgres: 0.06, wal: 500, kept: 0 },
  event: { node: 0.05, postgres: 0.03, wal: 1000, kept: 900 },
  delivery: { node: 7, postgres: 1, wal: 1500, kept: 600, temporal: 9, temporalKept: 9000 },
};
