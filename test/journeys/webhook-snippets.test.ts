import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { signatureHeaders } from '../../src/domain/webhooks/signature.ts';

const guide = readFileSync('docs/webhooks.md', 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'webhook-snippets-'));
afterAll(() => rmSync(folder, { recursive: true }));

function snippet(language: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(guide) ?? [];
  if (code === undefined) throw new Error(`the guide has no ${language} snippet`);
  return code;
}

interface Case {
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly now: number;
  readonly genuine: boolean;
}

const sentAt = new Date(1_795_251_600_000);
const secrets = [
  'plain',
  'schlüssel 👋',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'whsec_',
  'whsec_no base64',
];

function cases(): readonly Case[] {
  const body = '{"text":"grüße 👋","eventKey":"sent"}';
  const sign = (...signing: string[]) =>
    signatureHeaders({
      id: '0199d6c1-0000-7000-8000-000000000003',
      sentAt,
      body: Buffer.from(body),
      secrets: signing,
    });
  const now = sentAt.getTime() / 1000 + 10;
  const base = { secret: 'plain', headers: sign('plain'), body, now, genuine: true };
  return [
    ...secrets.map((secret) => ({ ...base, secret, headers: sign(secret) })),
    { ...base, headers: sign('newer', 'plain') },
    { ...base, headers: sign('another'), genuine: false },
    { ...base, headers: sign(), genuine: false },
    { ...base, headers: {}, genuine: false },
    { ...base, body: body.replace('sent', 'read'), genuine: false },
    { ...base, headers: { ...sign('plain'), 'webhook-id': 'other' }, genuine: false },
    { ...base, headers: { ...sign('plain'), 'webhook-signature': 'v1,x v2,y' }, genuine: false },
    { ...base, headers: { ...sign('plain'), 'webhook-timestamp': 'soon' }, genuine: false },
    { ...base, now: now + 301, genuine: false },
    { ...base, now: now - 321, genuine: false },
  ];
}

/** Runs the snippet in its own language over all cases; a program prints one JSON array of booleans. */
function run(command: string, [file, program]: readonly [string, string]): unknown {
  const input = cases().map(({ genuine: _genuine, ...given }) => given);
  writeFileSync(join(folder, 'cases.json'), JSON.stringify(input));
  writeFileSync(join(folder, file), program);
  return JSON.parse(execFileSync(command, [file], { cwd: folder, encoding: 'utf8' }));
}

const expected = cases().map(({ genuine }) => genuine);
const isInstalled = (command: string) => spawnSync(command, ['--version']).status === 0;

const programs = {
  js: () =>
    run(process.execPath, [
      'verify.mjs',
      `${snippet('js')}
import { readFileSync } from 'node:fs';
const cases = JSON.parse(readFileSync('cases.json', 'utf8'));
const verdicts = cases.map((c) => isGenuine(c.secret, c.headers, Buffer.from(c.body), c.now));
process.stdout.write(JSON.stringify(verdicts));`,
    ]),
  python: () =>
    run('python3', [
      'verify.py',
      `${snippet('python')}
import json
with open("cases.json", encoding="utf-8") as file:
    cases = json.load(file)
print(json.dumps([is_genuine(c["secret"], c["headers"], c["body"].encode(), c["now"]) for c in cases]))`,
    ]),
  php: () =>
    run('php', [
      'verify.php',
      `${snippet('php')}
$cases = json_decode(file_get_contents('cases.json'), true);
echo json_encode(array_map(fn ($c) => isGenuine($c['secret'], $c['headers'], $c['body'], $c['now']), $cases));`,
    ]),
};

describe('the snippets of docs/webhooks.md verify what we sign', () => {
  it('in Node', () => {
    expect(programs.js()).toEqual(expected);
  });

  it.each([
    ['python', 'python3'],
    ['php', 'php'],
  ] as const)('in %s', (language, command) => {
    expect(snippet(language)).toContain('webhook-signature');
    if (isInstalled(command)) expect(programs[language]()).toEqual(expected);
    else process.stderr.write(`${command} is not installed: the ${language} snippet was NOT run\n`);
  });
});
