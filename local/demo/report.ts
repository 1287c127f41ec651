/** The table at the end of the demo. */
import type { CampaignRecord } from './campaign.ts';
import { count } from '../stack/progress-bar.ts';

export interface DemoReportOptions {
  readonly campaign: Pick<
    CampaignRecord,
    'id' | 'status' | 'counters' | 'skipped_reasons' | 'failed_reasons'
  >;
  readonly received: ReadonlyMap<string, number>;
  readonly seconds: number;
}

export function demoReport({ campaign, received, seconds }: DemoReportOptions): string {
  const lines = [
    '',
    `Campaign ${campaign.id}: ${campaign.status} after ${seconds.toFixed(1)} s`,
    ...table('Recipients by state', Object.entries(campaign.counters)),
    ...table('Skipped by reason', Object.entries(campaign.skipped_reasons)),
    ...table('Failed by reason', Object.entries(campaign.failed_reasons)),
    ...table('Webhook deliveries received, by event', [...received]),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function table(title: string, rows: readonly (readonly [string, number])[]): readonly string[] {
  const present = rows.filter(([, value]) => value > 0);
  if (present.length === 0) return ['', `${title}: none`];
  const sorted = present.toSorted(([, a], [, b]) => b - a);
  const total = sorted.reduce((sum, [, value]) => sum + value, 0);
  const line = ([name, value]: readonly [string, number]) =>
    `  ${name.padEnd(26)}${count(value).padStart(10)}`;
  return ['', title, ...sorted.map(line), `  ${'total'.padEnd(26)}${count(total).padStart(10)}`];
}
