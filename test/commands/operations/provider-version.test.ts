import { expect, it } from 'vitest';
import { describeVersion } from '../../../src/commands/operations/doctor.ts';

const warnings = (version: string, day: string) =>
  describeVersion(`https://graph.facebook.com/${version}`, new Date(`${day}T12:00:00Z`));

it('warns 180 days before the version of the provider’s API ends, and afterwards', () => {
  expect(warnings('v23.0', '2027-04-10')).toEqual([]);
  expect(warnings('v23.0', '2027-04-12')).toEqual([expect.stringContaining('v23.0 of the provider')]);
  expect(warnings('v23.0', '2027-04-12')[0]).toContain('ends on 2027-10-08');
  expect(warnings('v23.0', '2027-10-09')[0]).toContain('ended on 2027-10-08');
  expect(warnings('v26.0', '2030-01-01')).toEqual([]);
  expect(describeVersion('http://127.0.0.1:4010', new Date())).toEqual([]);
});
