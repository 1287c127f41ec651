import { expect, it } from 'vitest';
import { createPlaces } from '../../src/concurrency/places.ts';

it('leaves places to others when one owner asks for all of them', async () => {
  const places = createPlaces({ total: 3, perOwner: 2, waiting: 0 });
  const first = await places.take(1);
  expect(first).toBeDefined();
  expect(await places.take(1)).toBeDefined();
  expect(await places.take(1)).toBeUndefined();
  expect(await places.take(2)).toBeDefined();
  expect(await places.take(3)).toBeUndefined();
  first?.();
  expect(await places.take(3)).toBeDefined();
  expect(await places.take(1)).toBeUndefined();
});

it('lets those who wait in as they came, past an owner who has enough, and turns away who is too many', async () => {
  const places = createPlaces({ total: 2, perOwner: 1, waiting: 2 });
  const order: string[] = [];
  const one = await places.take(1);
  const two = await places.take(2);
  const oneAgain = places.take(1).then((leave) => {
    order.push('one again');
    return leave;
  });
  const three = places.take(3).then((leave) => {
    order.push('three');
    return leave;
  });
  expect(await places.take(4)).toBeUndefined();
  two?.();
  await three;
  expect(order).toEqual(['three']);
  one?.();
  await oneAgain;
  expect(order).toEqual(['three', 'one again']);
});
