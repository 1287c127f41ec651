import { describe, expect, it } from 'vitest';
import { createMemoryBudget } from '../../../../src/api/frame/body/memory-budget.ts';

describe('the memory of bodies', () => {
  it('gives several requests of one holder no more than they leave for the others', () => {
    const budget = createMemoryBudget(1_000);
    const [first, second, third] = [budget.open('one'), budget.open('one'), budget.open('another')];
    first.take(400);
    second.take(100);
    expect(() => second.take(1)).toThrow('Too much is being received');
    third.take(500);
    expect(() => third.take(1)).toThrow('Too much is being received');
    first.release();
    second.release();
    third.take(500);
    third.release();
    budget.open('one').take(1_000);
  });

  it('is freed when a request ends, even if more of its body arrives', () => {
    const budget = createMemoryBudget(1_000);
    const gone = budget.open('one');
    gone.release();
    gone.take(900);
    budget.open('another').take(1_000);
  });
});
