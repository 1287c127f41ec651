/**
 * Uses the product through the published client, whose types are generated from docs/openapi.json, so that a difference does
 * not compile. Packed and installed alone, the examples of both READMEs compile and run unchanged.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as api from '../../clients/typescript/src/index.ts';
import { exampleTemplateId } from '../../src/codecs/template.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-examples-'));
let stack: TestStack;
let client: api.Client;

beforeAll(async () => {
  execFileSync(process.execPath, ['tools/build-clients.mjs'], { stdio: 'pipe' });
  const packed = readdirSync('dist/clients')
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => resolve('dist/clients', name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  execFileSync('npm', ['install', '--offline', '--no-audit', ...packed], { cwd: folder, stdio: 'pipe' });
  stack = await startTestStack();
  client = api.createClient({ baseUrl: stack.dev.baseUrl, apiKey: stack.dev.apiKey });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stack?.remove();
});

function exampleOf(file: string): string {
  const [, code] = /^```ts\n([^]*?)^```$/m.exec(readFileSync(file, 'utf8')) ?? [];
  if (code === undefined) throw new Error(`${file} has no example`);
  return code;
}

/** Runs an example and returns its output. Only the base URL is replaced. */
function run(name: string, code: string, variables: Readonly<Record<string, string>> = {}): string {
  const { baseUrl, apiKey } = stack.dev;
  writeFileSync(join(folder, `${name}.mts`), code.replace('http://127.0.0.1:3000', baseUrl));
  const compiler = resolve('node_modules/typescript/bin/tsc');
  const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  const roots = ['--typeRoots', resolve('node_modules/@types')];
  const compiled = spawnSync(process.execPath, [compiler, ...options, ...roots, `${name}.mts`], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(compiled.stdout).toBe('');
  const environment = { ...process.env, API_KEY: apiKey, ...variables };
  return execFileSync(process.execPath, [`${name}.mjs`], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    timeout: 60_000,
  });
}

it("runs the example of the client's own README", () => {
  expect(run('own', exampleOf('clients/typescript/README.md'))).toMatch(/^4915112345678 \w+ null\n$/);
});

it('runs the quick start', () => {
  const environment = { BASE_URL: stack.dev.baseUrl };
  expect(run('quick-start', readFileSync('examples/quick-start/typescript.ts', 'utf8'), environment)).toMatch(
    /^COMPLETED \n4915112345678 \w+ \n4915166131026 FAILED PROVIDER_131026\n$/,
  );
});

it('catches up with the events since the last run, each once', async () => {
  const { baseUrl, operatorKey } = stack.dev;
  await api.putEventFeed(api.createClient({ baseUrl, apiKey: operatorKey }), { enabled: true });
  await api.createContact(client, { phoneNumber: '+4915112345699', firstName: 'Feed' });
  const wanted = { event_key: ['contact.created' as const] };
  await expect
    .poll(async () => (await api.listEvents(client, wanted)).data.length, { timeout: 30_000 })
    .toBe(1);
  const code = readFileSync('examples/catch-up/typescript.ts', 'utf8');
  const catchUp = () => run('catch-up', code, { BASE_URL: baseUrl, CURSOR_FILE: join(folder, 'cursor') });
  expect(catchUp()).toMatch(/^[0-9a-f-]{36} contact\.created$/m);
  expect(catchUp()).not.toContain('contact.created');
});

it('runs the five lines of the README', () => {
  const lines = exampleOf('README.md');
  expect(lines.trim().split('\n')).toHaveLength(5);
  const head = `import { createCampaign, createClient, listCampaignRecipients, pages, waitForCampaign } from 'messaging-campaigns-client';
const apiKey = process.env['API_KEY'];
const template_id = '${exampleTemplateId}';
`;
  expect(run('five-lines', head + lines)).toMatch(/^4915112345678 \w+ null\n$/);
});

it('tags a contact, sends a campaign from CSV to its end and one message by itself', async () => {
  const tag = (await api.createTag(client, { name: 'Journey' })).data;
  const contact = (await api.createContact(client, { phoneNumber: '+4915112345691', firstName: 'Grace' }))
    .data;
  const tagged = (await api.updateContact(client, contact.id, { tagsId: [tag.tagId] })).data;
  expect(tagged.tagsId).toEqual([tag.tagId]);
  const tags = await api.listTags(client, { search: 'jour' });
  expect(tags.data).toEqual([tag]);
  expect(tags.pagination.total).toBe(1);
  const found = (await api.listContacts(client, { search: 'grace' })).data;
  expect(found.map(({ id }) => id)).toContain(contact.id);

  const templates = (await api.listTemplates(client, { search: 'plain_notice' })).data;
  const templateId = templates[0]?.id ?? '';
  const creation = await api.createCampaign(client, {
    name: 'By the published client',
    template_id: templateId,
    contact_selection_type: 'csv_contacts',
    csv_contacts_string: 'phone,country,name\n15112345691,49,Grace\n15112345692,49,Ada\nnobody,49,None\n',
    csv_mapping: { phone_column: 0, country_code_column: 1, name_column: 2 },
    send_type: 'IMMEDIATE',
  });
  const { campaign } = creation.data;
  expect(campaign).toMatchObject({ status: 'DRAFT', preparation_status: 'PREPARING', is_auto_trigger: true });
  const ended = await api.waitForCampaign(client, campaign.id, { timeoutMs: 60_000 });
  expect(ended).toMatchObject({
    status: 'COMPLETED',
    total_contacts: 2,
    total_contacts_skipped: 1,
    preparation_status: 'READY',
  });
  expect(ended.skipped_reasons).toEqual({ INVALID_PHONE: 1 });

  const progress: string[] = [];
  for await (const { status } of api.followCampaign(client, campaign.id)) progress.push(status);
  expect(progress).toEqual(['COMPLETED']);

  const recipients = (await api.listCampaignRecipients(client, campaign.id)).data;
  expect(recipients.map(({ phone_number: phone, line_number: line }) => [phone, line])).toEqual([
    ['4915112345691', 2],
    ['4915112345692', 3],
    [null, 4],
  ]);

  const sent = await api.sendTemplateMessage(client, {
    templateId,
    recipientPhoneNumber: '4915112345691',
    countryCode: '+49',
  });
  expect(sent.data).toMatchObject({
    recipientPhoneNumber: '4915112345691',
    phoneNumberId: stack.dev.phoneNumberId,
  });
});
