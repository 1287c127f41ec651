import { expect, test } from 'vitest';
import { createUuidV7Generator, formatUuid } from '../../../src/records/database/uuid-v7.ts';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const at = new Date('2026-11-21T10:00:00.123Z');
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 13).replace('-', ''), 16);

test('ids of a generator ascend from its time on, also when they need more than one millisecond', () => {
  const next = createUuidV7Generator(at);
  const ids = Array.from({ length: 10_000 }, () => formatUuid(next()));
  expect(ids.every((id) => form.test(id))).toBe(true);
  expect(ids).toEqual([...new Set(ids)].toSorted());
  expect([timeOf(ids[0] ?? ''), timeOf(ids.at(-1) ?? '')]).toEqual([at.getTime(), at.getTime() + 2]);
});

test('generators that begin at the same time make different ids', () => {
  const [one, other] = [createUuidV7Generator(at), createUuidV7Generator(at)];
  expect(formatUuid(one())).not.toBe(formatUuid(other()));
});
