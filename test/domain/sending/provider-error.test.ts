import { describe, expect, it } from 'vitest';
import publicLists from './provider-codes.json' with { type: 'json' };
import {
  findProviderError,
  kindOfReason,
  providerErrorAction,
  providerErrorRule,
  providerErrorTable,
} from '../../../src/domain/sending/provider-error.ts';

const minute = 60_000;

const notForSends =
  providerErrorTable.find(({ meaning }) => meaning.startsWith('not about sending'))?.codes ?? [];

/** The first action for every listed code, written out: a changed row must change this list. */
const firstActions: ReadonlyArray<readonly [readonly number[], object]> = [
  [[130429], { kind: 'throttle', delayMs: 1000, silenceMs: 0 }],
  [[4, 17, 341, 613, 80007, 80008], { kind: 'throttle', delayMs: minute, silenceMs: minute }],
  [[131056], { kind: 'retry_recipient', delayMs: 1000 }],
  [[131057, 2494100], { kind: 'retry', delayMs: minute }],
  [[1, 2, 131000, 131016, 133004], { kind: 'retry', delayMs: 1000 }],
  [[134101], { kind: 'retry', delayMs: 10 * minute }],
  [[135000], { kind: 'retry', delayMs: 1000 }],
  [[131048, 131064], { kind: 'pause_channel', cause: 'limit' }],
  [[368, 131031], { kind: 'pause_channel', cause: 'policy' }],
  [[0, 3, 10, 104, 190, 131005, 200, 250, 299], { kind: 'pause_channel', cause: 'token' }],
  [[131042, 131044], { kind: 'pause_channel', cause: 'payment' }],
  [
    [33, 131037, 131045, 133000, 133005, 133006, 133008, 133009, 133010, 133015, 133016],
    { kind: 'pause_channel', cause: 'number' },
  ],
  [[132001], { kind: 'pause_template', effect: 'resync_templates' }],
  [[132015], { kind: 'pause_template', effect: 'template_paused' }],
  [[132016], { kind: 'pause_template', effect: 'template_disabled' }],
  [[132007, 132068, 132069, 131058, 131061, 131063, 134011, 134102], { kind: 'pause_template' }],
  [[131055, 134100], { kind: 'pause_template', effect: 'resync_templates' }],
  [[100, 131008, 131009, 132000, 132008, 132012, 132018], { kind: 'fail' }],
  [[131014, 131053], { kind: 'fail' }],
  [[131050], { kind: 'fail', effect: 'unsubscribe_contact' }],
  [[130497], { kind: 'fail', effect: 'block_country' }],
  [
    [
      131026, 132005, 131049, 130472, 130403, 131047, 131021, 131030, 131051, 131062, 131035, 131036, 131043,
      137000,
    ],
    { kind: 'fail' },
  ],
  [notForSends, { kind: 'fail' }],
];

const cases = firstActions.flatMap(([codes, action]) => codes.map((code) => ({ code, action })));

describe('providerErrorAction', () => {
  it.each(cases)('acts on $code as the table says', ({ code, action }) => {
    expect(providerErrorAction({ code, httpStatus: 400 }, 1)).toEqual(action);
    expect(providerErrorAction({ code }, 1)).toEqual(action);
  });

  it('waits for a template that the marketing endpoint does not know yet', () => {
    const error = { code: 131009, httpStatus: 400, details: 'Template is still syncing, try again later' };
    expect(providerErrorAction(error, 1)).toEqual({ kind: 'retry', delayMs: 10 * minute });
    expect(providerErrorAction(error, 3)).toEqual({ kind: 'fail' });
    expect(providerErrorAction({ ...error, details: 'to is not valid' }, 1)).toEqual({ kind: 'fail' });
  });

  it('names every code of the table once', () => {
    const codes = providerErrorTable.flatMap((row) => row.codes);

    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.filter((code) => !cases.some((known) => known.code === code))).toEqual([]);
  });

  it('waits longer at every retry and then fails the recipient', () => {
    const delays = [1, 2, 3, 4].map((attempts) => providerErrorAction({ code: 131000 }, attempts));

    expect(delays).toEqual([1000, 4000, 16_000, 64_000].map((delayMs) => ({ kind: 'retry', delayMs })));
    expect(providerErrorAction({ code: 131000 }, 5)).toEqual({ kind: 'fail' });
  });

  it('waits 4^x seconds for one recipient that got too many messages', () => {
    expect([1, 2, 3, 4, 5].map((attempts) => providerErrorAction({ code: 131056 }, attempts))).toEqual(
      [1, 4, 16, 64, 256].map((seconds) => ({ kind: 'retry_recipient', delayMs: seconds * 1000 })),
    );
    expect(providerErrorAction({ code: 131056 }, 6)).toEqual({ kind: 'fail' });
  });

  it('sends once more and no further when the code is generic', () => {
    expect(providerErrorAction({ code: 135000 }, 2)).toEqual({ kind: 'fail' });
  });

  it('never uses up attempts while the channel is throttled', () => {
    expect(providerErrorAction({ code: 130429 }, 1000).kind).toBe('throttle');
  });

  it('waits as long as the provider asks when it names a time', () => {
    expect(providerErrorAction({ code: 80007, retryAfterMs: 5 * minute }, 1)).toEqual({
      kind: 'throttle',
      delayMs: 5 * minute,
      silenceMs: 5 * minute,
    });
    expect(providerErrorAction({ code: 131000, retryAfterMs: 30_000 }, 1)).toEqual({
      kind: 'retry',
      delayMs: 30_000,
    });
    expect(providerErrorAction({ code: 131000, retryAfterMs: 100 }, 1)).toEqual({
      kind: 'retry',
      delayMs: 1000,
    });
  });
});

describe('the table of codes', () => {
  /** Lists of codes by where and when they were read. A newer list replaces an older one. */
  it.each(Object.entries(publicLists))('has a row for every code of %s', (_name, codes) => {
    expect(
      codes.filter((code) => findProviderError(`PROVIDER_${code}`) === undefined && !isPermission(code)),
    ).toEqual([]);
  });

  it('blames the person, the country, or else the message', () => {
    const persons = [131026, 131049, 131050, 130472, 130403, 131021, 131047, 137000];
    for (const code of persons) expect(kindOfReason(`PROVIDER_${code}`)).toBe('person');
    expect(kindOfReason('PROVIDER_130497')).toBe('country');
    for (const reason of ['PROVIDER_131053', 'PROVIDER_999999', 'PROVIDER_UNREACHABLE'])
      expect(kindOfReason(reason)).toBe('own');
  });
});

/** 200 to 299 are permissions, whichever of them the provider names. */
const isPermission = (code: number) => code >= 200 && code <= 299;

describe('providerErrorRule', () => {
  it.each([400, 405, 413, 422])('fails the recipient when a gateway answers HTTP %i', (httpStatus) => {
    expect(providerErrorRule({ code: httpStatus, httpStatus })).toEqual({
      kind: 'fail',
    });
  });

  const reported = { kind: 'fail', effect: 'report_code' };
  it('fails the recipient when the code is unknown, and reports the code', () => {
    expect(providerErrorRule({ code: 999_999, httpStatus: 400 })).toEqual(reported);
    expect(providerErrorRule({ code: 999_999 })).toEqual(reported);
  });

  it('retries an unknown code when the provider calls it transient or answers 5xx', () => {
    expect(providerErrorRule({ code: 999_999, httpStatus: 400, isTransient: true }).kind).toBe('retry');
    expect(providerErrorRule({ code: 999_999, httpStatus: 500 }).kind).toBe('retry');
  });

  it('keeps the row of a known code whatever the HTTP status', () => {
    expect(providerErrorRule({ code: 131026, httpStatus: 500, isTransient: true }).kind).toBe('fail');
  });

  it('pauses the channel when the subcode of a parameter error says that its number does not exist', () => {
    expect(providerErrorRule({ code: 100, subcode: 33, httpStatus: 400 })).toEqual({
      kind: 'pause_channel',
      cause: 'number',
    });
  });

  it.each([
    [503, { kind: 'retry' }],
    [408, { kind: 'retry' }],
    [429, { kind: 'throttle' }],
    [401, { kind: 'pause_channel', cause: 'token' }],
    [403, { kind: 'pause_channel', cause: 'token' }],
    [404, { kind: 'pause_channel', cause: 'address' }],
    [302, { kind: 'pause_channel', cause: 'address' }],
    [400, { kind: 'fail' }],
    [413, { kind: 'fail' }],
  ])('acts on HTTP %i when the answer has no error body of the provider', (httpStatus, rule) => {
    expect(providerErrorRule({ code: httpStatus, httpStatus })).toMatchObject(rule);
  });
});
