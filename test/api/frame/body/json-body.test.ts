import { describe, expect, it } from 'vitest';
import { countValues } from '../../../../src/api/frame/body/json-body.ts';

const count = (text: string, most = 1_000_000) => countValues(Buffer.from(text), most);

describe('the values of a JSON body', () => {
  it.each([
    ['{}', 1],
    ['{"a":1}', 2],
    ['[[],{},[[]]]', 5],
    ['{"a":[1,2,3],"b":{"c":null}}', 7],
    [`{"csv":"${'[,{,'.repeat(1000)}"}`, 2],
    ['[1,"a\\",b",2]', 4],
  ])('of %.40s are %i', async (text, values) => {
    expect(await count(text)).toBe(values);
  });

  it('are counted to one beyond the limit, however deep they lie', async () => {
    expect(await count(`[${'{},'.repeat(2_000_000)}{}]`, 1000)).toBe(1001);
    expect(await count(`[${'[[[1]]],'.repeat(100_000)}1]`, 400_001)).toBe(400_002);
  });
});
