// Sends a campaign to two numbers and prints what happened to each. Needs BASE_URL and API_KEY.
// Install the client (clients/typescript/README.md) and tsx in a package of "type": "module", then: npx tsx typescript.ts
import {
  createCampaign,
  createClient,
  listCampaignRecipients,
  listTemplates,
  pages,
  waitForCampaign,
} from 'messaging-campaigns-client';

const client = createClient({ baseUrl: process.env['BASE_URL'] ?? '', apiKey: process.env['API_KEY'] });
const templates = await listTemplates(client, {
  search: 'hello_campaign',
  language: 'en_US',
  status: ['APPROVED'],
});

const { data } = await createCampaign(client, {
  name: 'Spring offer',
  template_id: templates.data[0]?.id ?? '',
  contact_selection_type: 'quick_contacts',
  quick_contacts: ['+4915112345678,Ada', '+4915166131026,Grace'],
  send_type: 'IMMEDIATE',
});

const { id, status, pause_reason } = await waitForCampaign(client, data.campaign.id);
console.log(status, pause_reason ?? '');
for await (const one of pages((place) => listCampaignRecipients(client, id, place))) {
  console.log(one.phone_number, one.state, one.reason ?? '');
}
