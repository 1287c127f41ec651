import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../tools/check-layers.mjs', import.meta.url));
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Returns the findings for a tree with these files. */
async function check(
  files: Readonly<Record<string, string>>,
): Promise<{ status: number | null; output: string }> {
  const root = await mkdtemp(join(tmpdir(), 'layers-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' });
  return { status, output: stderr };
}

it('accepts files that lie in their layer', async () => {
  const checked = await check({
    'src/server.ts': "import { start } from './api/frame/app.ts';\n",
    'src/api/frame/app.ts': "import Koa from 'koa';\nimport { list } from '../../records/wallet/list.ts';\n",
    'src/records/wallet/list.ts':
      "import { sql } from 'slonik';\nimport { Money } from '../../domain/wallet/money.ts';\n",
    'src/domain/wallet/money.ts': "import type { Readable } from 'node:stream';\n",
    'test/domain/wallet/money.test.ts': '',
    'test/journeys/pay.test.ts': '',
  });

  expect(checked).toEqual({ status: 0, output: '' });
});

it.each([
  [
    'a loose file',
    'src/campaign-report.ts',
    "import { sql } from 'slonik';\n",
    'it belongs to src/records/campaigns/.',
  ],
  [
    'a layer that is none',
    'src/services/pay.ts',
    "import { a } from '../records/wallet/a.ts';\n",
    'src/ has no layer services/',
  ],
  ['a folder that is no subject', 'src/records/invoices/list.ts', '', 'records/ has the folders campaigns,'],
  [
    'a folder within a subject',
    'src/records/wallet/books/list.ts',
    '',
    'records/ has the folders campaigns,',
  ],
  ['a folder where there are none', 'src/codecs/wallet/money.ts', '', 'codecs/ has no folders;'],
  [
    'an import from a higher layer',
    'src/domain/wallet/money.ts',
    "import { a } from '../../records/wallet/a.ts';\n",
    'domain may import codecs. The code that needs it belongs to src/records/wallet/.',
  ],
  [
    'a value where a type may be imported',
    'src/workflows/campaign.ts',
    "import { a } from '../activities/a.ts';\n",
    'workflows may import domain, activities (types).',
  ],
  [
    'an import over several lines',
    'src/records/wallet/a.ts',
    "import {\n  a,\n  b,\n} from '../../commands/wallet/a.ts';\n",
    'The code that needs it belongs to src/commands/wallet/.',
  ],
  [
    'an import at run time',
    'src/domain/wallet/a.ts',
    "export const a = () => import('../../records/wallet/a.ts');\n",
    'src/domain/wallet/a.ts: imports src/records/wallet/a.ts;',
  ],
  [
    'an import of local/',
    'src/api/tags.ts',
    "import { a } from '../../local/stack/a.ts';\n",
    'nothing of src/ imports what lies outside it.',
  ],
  [
    'a package of another layer',
    'src/commands/wallet/a.ts',
    "import { sql } from 'slonik';\n",
    'SQL lives in src/records/. It belongs to src/records/wallet/.',
  ],
  [
    'Node inside the sandbox',
    'src/workflows/a.ts',
    "import { join } from 'node:path';\n",
    'the sandbox of workflows has no Node.',
  ],
  ['a test without a layer', 'test/records/invoices/list.test.ts', '', 'there is no src/records/invoices;'],
  ['a loose test', 'test/tags.test.ts', '', 'test/ mirrors src/ and local/'],
])('names %s and where it belongs', async (_, path, text, sentence) => {
  const { status, output } = await check({ [path]: text });

  expect(status).toBe(1);
  expect(output).toContain(path);
  expect(output).toContain(sentence);
});

it('finds the marks of an unresolved merge', async () => {
  const text = [
    'const text = `',
    `${'<'.repeat(7)} HEAD`,
    'a',
    '='.repeat(7),
    'b',
    `${'>'.repeat(7)} other`,
    '`;',
  ];
  const checked = await check({ 'src/domain/wallet/money.ts': text.join('\n') });

  expect(checked).toEqual({
    status: 1,
    output: 'src/domain/wallet/money.ts: has the marks of an unresolved merge.\n',
  });
});
