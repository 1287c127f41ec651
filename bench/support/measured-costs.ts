/** What `npm run bench -- costs` and `-- prepare` measured; docs/scaling.md says when and how. */
import type { UnitCosts } from './simulated-day.ts';

export const measuredCosts: UnitCosts = {
  // Node and Postgres: bench prepare, contacts included. WAL and size: bench costs, the recipient alone.
  prepared: { node: 0.008, postgres: 0.014, wal: 483, kept: 508 },
  sent: { node: 0.416, postgres: 0.128, wal: 955, kept: 234 },
  // Node: one process takes 3,790 requests a second (bench callbacks).
  callback: { node: 0.26, postgres: 0.031, wal: 921, kept: 739 },
  // The space of the row's former version is used again after a vacuum.
  status: { node: 0.095, postgres: 0.044, wal: 2_082, kept: 0 },
  event: { node: 0.013, postgres: 0.033, wal: 943, kept: 1_038 },
  delivery: { node: 11.8, postgres: 1.8, wal: 3_928, kept: 901, temporal: 8.5, temporalKept: 23_043 },
};
