import { describe, expect, test } from 'vitest';
import { banner } from '../../../local/stack/banner.ts';
import { demoReport } from '../../../local/demo/report.ts';
import { exampleOf, namesOf } from '../../../local/demo/templates.ts';
import type { DevFile } from '../../../local/stack/dev-file.ts';
import { progressBar } from '../../../local/stack/progress-bar.ts';
import { createProgress } from '../../../local/stack/progress.ts';
import { createStackLog } from '../../../local/stack/log.ts';

const body = (text: string) => ({ type: 'BODY', text });
const template = (id: string, components: readonly object[], changes: object = {}) => ({
  id,
  language: 'en_US',
  status: 'APPROVED',
  category: 'MARKETING',
  parameterFormat: 'POSITIONAL',
  components,
  ...changes,
});

describe('progressBar', () => {
  test('shows share, rate and time left', () => {
    expect(progressBar({ done: 5_000, total: 20_000, elapsedMs: 10_000 })).toBe(
      '[########......................]  25 %  5,000 of 20,000  500/s  0:30 left',
    );
  });

  test('is full when there was nothing to do', () => {
    expect(progressBar({ done: 0, total: 0, elapsedMs: 0 })).toContain('100 %');
  });
});

describe('createProgress', () => {
  const record = (isTTY: boolean) => {
    const written: string[] = [];
    let time = 0;
    const progress = createProgress({ isTTY, columns: 20, write: (text) => written.push(text) }, () => time);
    return { written, progress, pass: (ms: number) => (time += ms) };
  };

  test('rewrites one line on a terminal and cuts it to its width', () => {
    const { written, progress, pass } = record(true);
    pass(200);
    progress.update('a line that is longer than the terminal');
    progress.say('done');
    expect(written).toEqual(['\r\u001B[Ka line that is long', '\r\u001B[Kdone\n']);
  });

  test('prints a line every ten seconds elsewhere', () => {
    const { written, progress, pass } = record(false);
    for (let second = 0; second < 25; second += 1) {
      pass(1_000);
      progress.update(`second ${second + 1}`);
    }
    expect(written).toEqual(['second 10\n', 'second 20\n']);
  });
});

describe('demoReport', () => {
  test('lists what happened, the most frequent first, with totals', () => {
    const report = demoReport({
      campaign: {
        id: 'c-1',
        status: 'COMPLETED',
        counters: { pending: 0, read: 11_000, delivered: 8_000 },
        skipped_reasons: { DUPLICATE: 3 },
        failed_reasons: {},
      },
      received: new Map([['failed', 2]]),
      seconds: 12.34,
    });
    expect(report).toMatch(
      /c-1: COMPLETED after 12\.3 s[^]*read +11,000\n +delivered +8,000\n +total +19,000/,
    );
    expect(report).toContain('Failed by reason: none');
    expect(report).not.toContain('pending');
  });
});

describe('namesOf', () => {
  test('adds the language only where a name has several', () => {
    const rows = [
      { id: '1', name: 'hello', language: 'en_US' },
      { id: '2', name: 'hello', language: 'de' },
      { id: '3', name: 'bye', language: 'en_US' },
    ];
    expect(namesOf(rows)).toEqual({ 'hello:en_US': '1', 'hello:de': '2', bye: '3' });
  });
});

describe('exampleOf', () => {
  test('takes the approved text template with one variable', () => {
    const image = { type: 'HEADER', format: 'IMAGE' };
    const chosen = exampleOf([
      template('image', [image, body('Hi {{1}}')]),
      template('pending', [body('Hi {{1}}')], { status: 'PENDING' }),
      template('plain', [body('Hi')]),
      template('german', [body('Hallo {{1}}')], { language: 'de' }),
      template('english', [body('Hi {{1}}')]),
    ]);
    expect(chosen).toEqual({ templateId: 'english', variables: ['1'] });
  });

  test('finds none where every template needs media', () => {
    expect(exampleOf([template('image', [{ type: 'HEADER', format: 'IMAGE' }, body('Hi')])])).toBeUndefined();
  });
});

describe('banner', () => {
  const dev = {
    baseUrl: 'http://127.0.0.1:3000',
    apiKey: 'key-1',
    temporalUiUrl: 'http://127.0.0.1:8233',
    temporalAddress: '127.0.0.1:7233',
    temporalNamespace: 'default',
    providerUrl: 'http://127.0.0.1:4000/v23.0',
  } as DevFile;

  const signInLink = 'http://127.0.0.1:3000/dashboard/sign-in#token=x';

  test('holds a curl with a body that is JSON and fills every variable', () => {
    const example = { templateId: 't-1', variables: ['1', '2'] };
    const temporalProgram = '/cache/temporal';
    const text = banner({ dev, signInLink, dataDir: '/data', temporalProgram, seconds: 3.21, example });
    expect(text).toContain('/cache/temporal --address 127.0.0.1:7233 ');
    expect(text).toContain('Ready in 3.2 s.');
    expect(text).toContain(signInLink);
    expect(text).toContain(
      'http://127.0.0.1:8233/namespaces/default/workflows?query=WorkflowType%3D%22campaign%22',
    );
    const sent = JSON.parse(/-d '(.*)'/.exec(text)?.[1] ?? '') as Record<string, unknown>;
    expect(sent).toMatchObject({
      template_id: 't-1',
      contact_selection_type: 'quick_contacts',
      send_type: 'IMMEDIATE',
    });
    expect(sent['quick_contacts']).toEqual(['+4915112345678,Ada,Ada', '+919876543210,Grace,Grace']);
  });

  test('says what to do when there is no template to send', () => {
    const rest = { temporalProgram: undefined, example: undefined };
    const text = banner({ dev, signInLink, dataDir: '/data', seconds: 1, ...rest });
    expect(text).not.toContain('command line');
    expect(text).toContain('POST /api/templates/sync');
    expect(text).not.toContain('curl');
  });
});

describe('createStackLog', () => {
  const written: string[] = [];
  const options = { write: (text: string) => void written.push(text), now: () => new Date(0) };

  test('passes the lines of the children unchanged as JSON and headed for people', () => {
    createStackLog('json', options).of('api')('{"a":1}');
    createStackLog('pretty', options).of('api')('ready');
    createStackLog('json', options).own('api stopped');
    expect(written).toEqual([
      '{"a":1}\n',
      'api      | ready\n',
      '{"level":"warn","time":"1970-01-01T00:00:00.000Z","service":"start","msg":"api stopped"}\n',
    ]);
  });
});
