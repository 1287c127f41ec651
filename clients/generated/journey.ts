import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

const { BASE_URL, API_KEY, TEMPLATE_ID } = process.env as Record<string, string>;
const api = createClient<paths>({ baseUrl: BASE_URL!, headers: { 'X-API-Key': API_KEY! } });
function taken<D>({ data, error }: { data?: D; error?: components['schemas']['ApiError'] }): D {
  if (data === undefined) throw new Error(error?.message);
  return data;
}

const tag = taken(await api.POST('/api/tags', { body: { name: 'TypeScript' } })).data;
const tags = taken(await api.GET('/api/tags', { params: { query: { search: 'typescript' } } })).data;
const body: components['schemas']['CreateCampaign'] = {
  name: 'TypeScript',
  template_id: TEMPLATE_ID!,
  contact_selection_type: 'quick_contacts',
  quick_contacts: ['+4915112345701,Ada', '+4915112345702,Grace'],
  send_type: 'IMMEDIATE',
};
const { campaign } = taken(await api.POST('/api/campaigns/auto-trigger', { body })).data;
const path = { id: campaign.id };
let { data: found } = taken(await api.GET('/api/campaigns/{id}', { params: { path } }));
while (found.status !== 'COMPLETED') {
  await new Promise((done) => setTimeout(done, 200));
  found = taken(await api.GET('/api/campaigns/{id}', { params: { path } })).data;
}
const recipients = taken(await api.GET('/api/campaigns/{id}/recipients', { params: { path } }));
const form = new FormData();
form.set('file', new Blob(['phone,country\n15112345703,49\n']), 'people.csv');
const file = taken(
  await api.POST('/api/campaigns/csv-files', { body: { file: '' }, bodySerializer: () => form }),
).data;
const hook = { title: 'TypeScript', url: 'https://example.com/hook', events: ['sent' as const] };
const webhook = taken(await api.POST('/api/external-webhooks', { body: hook })).data;
await api.DELETE('/api/external-webhooks/{id}', { params: { path: { id: webhook.id } } });
console.log(
  JSON.stringify({
    tagged: tags.some(({ tagId }) => tagId === tag.tagId),
    recipients: typeof recipients === 'object' ? recipients.data.length : 0,
    headers: file.headers,
    events: webhook.events,
  }),
);
