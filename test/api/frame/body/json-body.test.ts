import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonObject, scanJson } from '../../../../src/api/frame/body/json-body.ts';
import { HttpProblem } from '../../../../src/api/frame/error-envelope.ts';

const count = async (text: string, most = 1_000_000) => (await scanJson(Buffer.from(text), most)).values;

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

// Bodies above a mebibyte are parsed in pieces, with the same results and refusals as JSON.parse of the whole text.
const filler = `"filler":"${'x'.repeat(1_100_000)}"`;
const read = async (text: string) => {
  const bytes = Buffer.from(text);
  return parseJsonObject(bytes, await scanJson(bytes, Infinity));
};
const outcomeOf = async (parse: () => unknown): Promise<unknown> => {
  try {
    return await parse();
  } catch (error) {
    return error instanceof SyntaxError || error instanceof HttpProblem ? 'refused' : error;
  }
};
async function expectAsJsonParse(text: string): Promise<void> {
  const wanted = await outcomeOf(() => JSON.parse(text));
  const found = await outcomeOf(() => read(text));
  expect(found === 'refused').toBe(wanted === 'refused');
  // Compared as text: vitest would spend minutes on printing how a million values differ.
  expect(JSON.stringify(found) === JSON.stringify(wanted)).toBe(true);
}

const large = 'x'.repeat(300_000);
const list = JSON.stringify(Array.from({ length: 60_000 }, (_, at) => at));

/** Texts around values that are larger than a piece, right and wrong ones. */
const texts = [
  `{"a":${list}}`,
  `{"a":"${large}"}`,
  ` { "a" : ${list} , "b" : [ ${list} ] } `,
  `{"a":[1,"${large}",2,"${large}",${list},{"a":"${large}","b":[${list}]},null]}`,
  `{"a":${list},"b":1,"a":2}`,
  `{"a":1,"a":${list}}`,
  `{"a":${list},"a":${list}}`,
  `{"b":{"a":${list}},"a":${list}}`,
  `{"a":["${'😀'.repeat(100_000)}","${'é'.repeat(200_000)}a","b"]}`,
  `{"a":"${'😀'.repeat(300_000)}"}`,
  String.raw`{"a":["${String.raw`\ud83d\ude00`.repeat(50_000)}","${String.raw`\\\"\u0041`.repeat(50_000)}"]}`,
  `{"a":[${'[1],'.repeat(90_000)}[]]}`,
  `{"a":[${'"b",'.repeat(100_000)}"c"],"d":[1]}`,
  `{"a":[${list},]}`,
  `{"a":[,${list}]}`,
  `{"a":[ ,${list}]}`,
  `{"a":[${list},,1]}`,
  `{"a":[${list} 1]}`,
  `{"a":[1 ${list}]}`,
  `{"a":[${list}}`,
  `{"a":${list}]}`,
  `{"a":${list}} x`,
  `{"a":${list}]`,
  `{${list}}`,
  `{"a" ${list}}`,
  `{"a":1 "b":${list}}`,
  `{"a":${list},}`,
  `{"a":${list} "b":1}`,
  `{"a":["${large}]}`,
  String.raw`{"a":["${large}\"]}`,
  String.raw`{"a":["${large}\q",1]}`,
  `{"a":["${large}\n",1]}`,
  `{"a":["${large}":1]}`,
  `{"a":[${list}:${list}]}`,
  `{"a":[${'1,'.repeat(140_000)}]}`,
  `{"a":[${'1,'.repeat(200_000)},${list}]}`,
  `{"a":[${'1,'.repeat(200_000)}\uFEFF1]}`,
  `{"a":[bad,${list}],"a":1}`,
];

describe('a body in pieces', () => {
  it.each(texts.map((text) => [text.length < 60 ? text : `${text.slice(0, 20)}…${text.slice(-12)}`, text]))(
    '%s gives the result of JSON.parse',
    async (_, text) => {
      // Blanks at the end are no part of the result, and a filler makes the body a large one.
      await expectAsJsonParse(text.replace('{', `{${filler},`));
    },
  );

  it('gives the result of JSON.parse, whatever is cut out of it or put in', async () => {
    const long = `[${'"+4915112345678",'.repeat(70_000)}1]`;
    const whole = `{"a":${long},"b":{"c":"${large}","d":[1,2]},"e":[]}`;
    const marks = [...whole.matchAll(/[[\]{}:]|"[a-e]|,(?=[["{1])/g)].map(({ index }) => index);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...marks.slice(0, 30), ...marks.slice(-30)),
        fc.constantFrom('', ',', '[', ']', '{', '}', '"', ':', ' '),
        fc.nat(1),
        (at, put, cut) => expectAsJsonParse(whole.slice(0, at) + put + whole.slice(at + cut)),
      ),
      { numRuns: 30 },
    );
  });
});

describe('a large body', () => {
  it.each([
    [String.raw`{${filler},"a":"\u0000"}`, 'must not contain NUL'],
    [String.raw`{${filler},"a":["\ud800"]}`, 'must not contain NUL'],
    [String.raw`{"a":[${'"b",'.repeat(300_000)}"\u0000"]}`, 'must not contain NUL'],
    [`{${filler}`, 'not valid JSON'],
    [`{"a":[${'"b",'.repeat(300_000)}`, 'not valid JSON'],
    [`[${filler.slice(9)}]`, 'must be a JSON object'],
    [`{${filler},"a":{"b":[${'1,'.repeat(160_000)}1]}}`, 'more than 100000 values'],
    [`{${filler},"a":[1,[${'1,'.repeat(160_000)}1]]}`, 'more than 100000 values'],
    [`{"a":[${'[1],'.repeat(50_000)}[${'1,'.repeat(500_000)}1]]}`, 'more than 100000 values'],
  ])('is refused for what would block others, and as a small one is', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it('brings in no prototype', async () => {
    const found = await read(`{${filler},"__proto__":${list},"b":{"__proto__":${list}}}`);
    expect(Object.keys(found)).toEqual(['filler', 'b']);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(Object.keys(found['b'] as object)).toEqual([]);
  });
});
