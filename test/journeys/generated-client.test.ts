/** The product by a client that a generator made of docs/openapi.json alone: what drifts from the document does not compile. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateSource } from 'oazapfts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as client from '../../dashboard/generated-client.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
  client.defaults.baseUrl = stack.dev.baseUrl;
  client.defaults.headers = { 'X-API-Key': stack.dev.apiKey };
}, 120_000);
afterAll(() => stack?.remove(), 60_000);

/** The data of the one answer that is expected. */
function expectStatus<A extends { readonly status: number }, S extends A['status']>(
  answer: A,
  status: S,
): Extract<A, { status: S }> {
  expect(answer).toMatchObject({ status });
  return answer as Extract<A, { status: S }>;
}

async function completed(id: string) {
  for (let waited = 0; waited < 60_000; waited += 200) {
    const { data } = expectStatus(await client.getCampaign(id), 200).data;
    if (data.status === 'COMPLETED') return data;
    await sleep(200);
  }
  throw new Error('The campaign was not completed in time');
}

it('is generated from the document as it is now; `npm run openapi` makes it anew', async () => {
  const committed = await readFile('dashboard/generated-client.ts', 'utf8');
  expect(committed).toBe(`// @ts-nocheck\n${await generateSource('docs/openapi.json')}`);
});

it('tags a contact, sends a campaign from CSV to its end and one message by itself', async () => {
  const tag = expectStatus(await client.createTag({ name: 'Journey' }), 201).data.data;
  const created = await client.createContact({ phoneNumber: '+4915112345691', firstName: 'Grace' });
  const contact = expectStatus(created, 201).data.data;
  const tagged = expectStatus(await client.updateContact(contact.id, { tagsId: [tag.tagId] }), 200).data.data;
  expect(tagged.tagsId).toEqual([tag.tagId]);
  const tags = expectStatus(await client.listTags({ search: 'jour' }), 200).data;
  expect(tags.data).toEqual([tag]);
  expect(tags.pagination.total).toBe(1);
  const found = expectStatus(await client.listContacts({ search: 'grace' }), 200).data.data;
  expect(found.map(({ id }) => id)).toContain(contact.id);

  const templates = expectStatus(await client.listTemplates({ search: 'plain_notice' }), 200).data.data;
  const templateId = templates[0]?.id ?? '';
  const creation = await client.createCampaign({
    name: 'By the generated client',
    template_id: templateId,
    contact_selection_type: 'csv_contacts',
    csv_contacts_string: 'phone,country,name\n15112345691,49,Grace\n15112345692,49,Ada\nnobody,49,None\n',
    csv_mapping: { phone_column: 0, country_code_column: 1, name_column: 2 },
    send_type: 'IMMEDIATE',
  });
  const { campaign } = expectStatus(creation, 201).data.data;
  expect(campaign).toMatchObject({ status: 'DRAFT', preparation_status: 'PREPARING', is_auto_trigger: true });
  const ended = await completed(campaign.id);
  expect(ended).toMatchObject({ total_contacts: 2, total_contacts_skipped: 1, preparation_status: 'READY' });
  expect(ended.skipped_reasons).toEqual({ INVALID_PHONE: 1 });

  const recipients = expectStatus(await client.listCampaignRecipients(campaign.id), 200).data.data;
  expect(recipients.map(({ phone_number: phone, line_number: line }) => [phone, line])).toEqual([
    ['4915112345691', 2],
    ['4915112345692', 3],
    [null, 4],
  ]);

  const sent = await client.sendTemplateMessage({
    templateId,
    recipientPhoneNumber: '4915112345691',
    countryCode: '+49',
  });
  expect(expectStatus(sent, 200).data.data).toMatchObject({
    recipientPhoneNumber: '4915112345691',
    phoneNumberId: stack.dev.phoneNumberId,
  });
});

it('knows the shape of a refusal', async () => {
  const refused = expectStatus(await client.createTag({ name: '' }), 400).data;
  expect(refused).toMatchObject({ status: 'error', code: 400 });
  expect(refused.error).toEqual([{ field: 'name', message: refused.message }]);
});
