import type { DemoApi } from '../demo/api.ts';

export interface RehearsedCampaign {
  readonly id: string;
  readonly name: string;
  /** Numbers of its recipients, unique in the run, so that the provider's list can be split by campaign. */
  readonly numbers: readonly string[];
}

export interface NewRehearsedCampaign {
  readonly name: string;
  readonly templateId: string | undefined;
  readonly recipients: number;
  /** Seconds until the campaign starts; absent: it starts at once. */
  readonly inSeconds?: number;
}

let made = 0;

export async function createCampaign(
  api: DemoApi,
  { name, templateId, recipients, inSeconds }: NewRehearsedCampaign,
): Promise<RehearsedCampaign> {
  const first = 10_000_000 + made * 100_000;
  made += 1;
  const numbers = Array.from({ length: recipients }, (_, index) => `49151${first + index}`);
  const created = await api.post('/api/campaigns/auto-trigger', {
    name,
    template_id: templateId,
    contact_selection_type: 'csv_contacts',
    csv_contacts_string: ['phone,country', ...numbers.map((digits) => `+${digits},DE`)].join('\n'),
    csv_mapping: { phone_column: 0, country_code_column: 1 },
    ...(inSeconds === undefined
      ? { send_type: 'IMMEDIATE' }
      : { send_type: 'SCHEDULED', scheduled_at: new Date(Date.now() + inSeconds * 1000).toISOString() }),
  });
  return { id: (created.data as { campaign: { id: string } }).campaign.id, name, numbers };
}
