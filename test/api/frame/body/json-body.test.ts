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
    expect(await count(`[${'1,'.repeat(2_000_000)}1]`, 1000)).toBe(1001);
    expect(await count(`[${'[[[1]]],'.repeat(30_000)}1]`, 120_001)).toBe(120_002);
  });
});

describe('a JSON body is refused for', () => {
  const members = (length: number) =>
    `{"a":{${Array.from({ length }, (_, at) => `"${at}":[1,2]`).join(',')}}}`;
  const kibibytes = 70 * 1024;

  it.each([
    ['an object of 10,001 members', members(10_001), '10000 members'],
    ['100,001 objects and lists', `{"a":[${'{},[],'.repeat(50_000)}1]}`, '100000 objects'],
    ['a long number', `{"a":${'9'.repeat(kibibytes)}}`, 'a number'],
    ['a long number in a list', `{"a":[1,${'9'.repeat(kibibytes)}]}`, 'a number'],
    ['a long key', `{"${'k'.repeat(kibibytes)}":1}`, 'a key'],
    ['a long key before blanks', `{"${'k'.repeat(kibibytes)}" :1}`, 'a key'],
    ['blanks before it', `${' '.repeat(kibibytes)}{}`, 'blanks'],
    ['blanks inside', `{"a"${'\n'.repeat(kibibytes)}:1}`, 'blanks'],
    ['blanks after it', `{}${' '.repeat(kibibytes)}`, 'blanks'],
  ])('%s', async (_, text, message) => {
    await expect(count(text)).rejects.toThrow(message);
  });

  it('neither 10,000 members, a longer list, nor long texts', async () => {
    expect(await count(members(10_000))).toBe(30_002);
    expect(await count(`{"a":[${'1,'.repeat(20_000)}1]}`)).toBe(20_003);
    expect(await count(`{"a":"${'x'.repeat(kibibytes)}","b":["${' '.repeat(kibibytes)}"]}`)).toBe(4);
  });
});
