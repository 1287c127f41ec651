import { describe, expect, it } from 'vitest';
import { parseJsonObject } from '../../../src/api/frame/json-body.ts';

const list = (values: number, of = '{}'): Buffer =>
  Buffer.from(`{"list":[${Array.from({ length: values - 1 }, () => of).join(',')}]}`);

describe('a JSON body of many values', () => {
  it('is refused before it is parsed when it holds more than 2,500,000', () => {
    expect(() => parseJsonObject(list(2_500_002))).toThrow('must not hold more than 2500000 values');
  });

  it('is taken up to that, and commas inside its texts do not count', () => {
    expect(parseJsonObject(list(2_500_000))['list']).toHaveLength(2_499_999);
    expect(parseJsonObject(Buffer.from(`{"csv":"${','.repeat(3_000_000)}"}`))['csv']).toHaveLength(3_000_000);
  });
});
