/** Bodies above a mebibyte are parsed in pieces, with the same results and refusals as JSON.parse of the whole text. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonInPieces } from '../../../../src/api/frame/body/json-pieces.ts';
import { parseJsonObject } from '../../../../src/api/frame/body/json-body.ts';

const inPieces = (text: string) =>
  parseJsonInPieces(Buffer.from(text), (bytes) => JSON.parse(bytes.toString('utf8')) as unknown);
const outcomeOf = async (parse: () => unknown): Promise<unknown> => {
  try {
    return await parse();
  } catch (error) {
    return error instanceof SyntaxError ? 'refused' : error;
  }
};

const large = 'x'.repeat(300_000);
const list = JSON.stringify(Array.from({ length: 60_000 }, (_, at) => at));
const object = JSON.stringify(Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`k${at}`, at])));

/** Texts around values that are larger than a piece, right and wrong ones. */
const texts = [
  list,
  object,
  `"${large}"`,
  ` [ ${list} , ${object} ] `,
  `[1,"${large}",2,${list},{"a":"${large}","b":[${list}]},null]`,
  `{"a":${list},"b":1,"a":2}`,
  `{"${large}":${list}}`,
  `{"${large}" : 1, "b": "${large}"}`,
  `["${'😀'.repeat(100_000)}","${'é'.repeat(200_000)}a"]`,
  String.raw`["${String.raw`\ud83d\ude00`.repeat(50_000)}","${String.raw`\\\"\u0041`.repeat(50_000)}"]`,
  `[${'[1],'.repeat(100_000)}[]]`,
  `[${' '.repeat(300_000)}]`,
  `[${' '.repeat(300_000)}1 ]`,
  `[${list},]`,
  `[,${list}]`,
  `[ ,${list}]`,
  `[${list},,1]`,
  `[${list} 1]`,
  `[1 ${list}]`,
  `[${list}`,
  `${list}]`,
  `${list} x`,
  `[${list}}`,
  `{"a":${list}]`,
  `{${list}}`,
  `{"a" ${list}}`,
  `{"a":1 "b":${list}}`,
  `{"a":${list},}`,
  `{"a":${list} "b":1}`,
  `["${large}]`,
  String.raw`["${large}\"]`,
  String.raw`["${large}\q"]`,
  `["${large}\n"]`,
  `["${large}":1]`,
  `[${list}:${list}]`,
  `[${'1,'.repeat(200_000)}]`,
  `[${'1,'.repeat(200_000)},${list}]`,
];

describe('a text in pieces', () => {
  it.each(texts.map((text) => [text.length < 60 ? text : `${text.slice(0, 20)}…${text.slice(-12)}`, text]))(
    '%s gives the result of JSON.parse',
    async (_, text) => {
      const wanted = await outcomeOf(() => JSON.parse(text));
      const found = await outcomeOf(() => inPieces(text));
      expect(found === 'refused').toBe(wanted === 'refused');
      // Compared as text: vitest would spend minutes on printing how a million values differ.
      expect(JSON.stringify(found) === JSON.stringify(wanted)).toBe(true);
    },
  );

  it('gives the result of JSON.parse, whatever is cut out of it or put in', async () => {
    const whole = `{"a":[${list},1],"b":{"c":"${large}","d":[1,2]},"e":[]}`;
    const marks = [...whole.matchAll(/[[\]{}:"]|,(?=[["{])/g)].map(({ index }) => index);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...marks),
        fc.constantFrom('', ',', '[', ']', '{', '}', '"', ':', ' '),
        fc.nat(1),
        async (at, put, cut) => {
          const text = whole.slice(0, at) + put + whole.slice(at + cut);
          const wanted = await outcomeOf(() => JSON.parse(text));
          const found = await outcomeOf(() => inPieces(text));
          expect(JSON.stringify(found) === JSON.stringify(wanted)).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('a large body', () => {
  const filler = `"filler":"${'x'.repeat(1_100_000)}"`;
  it.each([
    [String.raw`{${filler},"a":"\u0000"}`, 'must not contain NUL'],
    [String.raw`{${filler},"a":["\ud800"]}`, 'must not contain NUL'],
    [`{${filler}`, 'not valid JSON'],
    [`[${filler.slice(9)}]`, 'must be a JSON object'],
  ])('is refused as a small one is', async (text, message) => {
    await expect(parseJsonObject(Buffer.from(text))).rejects.toThrow(message);
  });

  it('brings in no prototype', async () => {
    const read = await parseJsonObject(
      Buffer.from(`{${filler},"__proto__":{"a":1},"b":{"__proto__":${list}}}`),
    );
    expect(Object.keys(read)).toEqual(['filler', 'b']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Object.keys(read['b'] as object)).toEqual([]);
  });
});
