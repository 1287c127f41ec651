import { expect, it } from 'vitest';
import { problemOf } from '../../src/admin/run-admin.ts';

const refused = { code: 14, details: 'connect ECONNREFUSED 127.0.0.1:9', metadata: {} };
const call = (fields: typeof refused) => Object.assign(new Error('14 UNAVAILABLE'), fields);

it('says that Temporal does not answer, also when the reason is only in the cause of the error', () => {
  const sentence = 'Temporal (TEMPORAL_ADDRESS) does not answer: connect ECONNREFUSED 127.0.0.1:9';
  expect(problemOf(call(refused))).toBe(sentence);
  expect(problemOf(new Error('Failed to list workflows', { cause: call(refused) }))).toBe(sentence);
});

it('says why Temporal refuses', () => {
  const missing = { ...refused, code: 5, details: 'Namespace nope is not found.' };
  expect(problemOf(call(missing))).toBe('Temporal (TEMPORAL_ADDRESS) refuses: Namespace nope is not found.');
});

it('names the setting of the owner when the role lacks a right', () => {
  const error = Object.assign(new Error('permission denied for schema public'), { code: '42501' });
  expect(problemOf(error)).toBe(
    "Postgres: permission denied for schema public. Migrate as the schema's owner (DATABASE_OWNER_URL), then run the command again",
  );
});

it('leaves every other message as it is', () => {
  expect(problemOf(new Error('--amount must be positive'))).toBe('--amount must be positive');
});
