/** The demo itself, over the HTTP API of a running stack: a CSV campaign, followed to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoApi } from './api.ts';
import { demoCsvMapping, makeDemoCsv } from './csv.ts';
import type { CountingReceiver } from './receiver.ts';
import { exampleOf } from './templates.ts';
import { count, progressBar } from '../stack/progress-bar.ts';
import type { Progress } from '../stack/progress.ts';
import { StackError } from '../stack/error.ts';

export interface DemoRun {
  readonly api: DemoApi;
  readonly receiver: CountingReceiver;
  readonly progress: Progress;
  readonly rows: number;
  readonly seed: number;
  readonly signal: AbortSignal;
}

export interface CampaignRecord {
  readonly id: string;
  readonly status: string;
  readonly pause_reason: string | null;
  readonly preparation_status: string;
  readonly preparation_error: { readonly message: string } | null;
  readonly total_contacts: number;
  readonly counters: Readonly<Record<string, number>>;
  readonly skipped_reasons: Readonly<Record<string, number>>;
  readonly failed_reasons: Readonly<Record<string, number>>;
}

// One event for every status of 20,000 messages would keep a development server of Temporal busy for a quarter of an hour.
const events = ['failed'];
const pollMs = 250;
const settledMs = 4_000;
const settleLimitMs = 60_000;

/** Resolves to the campaign once the provider's statuses have arrived. */
export async function runDemoCampaign(run: DemoRun): Promise<CampaignRecord> {
  const { api, receiver, progress, rows, seed } = run;
  const template = await chooseTemplate(api);
  const webhook = await api.post('/api/external-webhooks', {
    title: 'Demo',
    url: receiver.url,
    status: 'active',
    events,
  });
  try {
    const csv = makeDemoCsv({ rows, seed });
    progress.say(
      `Creating a campaign from a CSV of ${count(rows)} rows (${count(csv.planted.duplicates)} duplicates, ` +
        `${count(csv.planted.invalid)} broken numbers and ${count(csv.planted.nameless)} rows without a name among them) …`,
    );
    const created = await api.post('/api/campaigns/auto-trigger', {
      name: `Demo ${new Date().toISOString().slice(0, 16).replace('T', ' ')}`,
      template_id: template.templateId,
      contact_selection_type: 'csv_contacts',
      csv_contacts_string: csv.text,
      csv_mapping: demoCsvMapping,
      variable_mapping: { body: bodyMapping(template.variables) },
      send_type: 'IMMEDIATE',
    });
    const { id } = (created.data as { campaign: { id: string } }).campaign;
    await followToEnd(run, id);
    return await waitForStatuses(run, id);
  } finally {
    await api.remove(`/api/external-webhooks/${(webhook.data as { id: string }).id}`).catch(() => undefined);
  }
}

/** The first variable is the person's name, the others the city. */
function bodyMapping(variables: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    variables.map((variable, index) => [variable, index === 0 ? 'name_column' : 'city']),
  );
}

type ListedTemplate = Parameters<typeof exampleOf>[0][number];

async function chooseTemplate(api: DemoApi): Promise<NonNullable<ReturnType<typeof exampleOf>>> {
  const templates: ListedTemplate[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { data, pagination } = await api.get(`/api/templates?status=APPROVED&limit=100&page=${page}`);
    templates.push(...(data as readonly ListedTemplate[]));
    pages = pagination?.totalPages ?? 1;
  }
  const example = exampleOf(templates);
  if (example !== undefined) return example;
  throw new StackError(
    'The provider has no approved text template for the demo: add one there, then POST /api/templates/sync.',
  );
}

async function read({ api }: DemoRun, id: string): Promise<CampaignRecord> {
  return (await api.get(`/api/campaigns/${id}`)).data as CampaignRecord;
}

async function followToEnd(run: DemoRun, id: string): Promise<void> {
  const { progress, signal } = run;
  let sendingSince: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const campaign = await read(run, id);
    const { status, counters, total_contacts: total } = campaign;
    const done = total - (counters['pending'] ?? 0);
    if (status === 'COMPLETED') {
      const elapsedMs = Date.now() - (sendingSince ?? Date.now());
      progress.say(`Sent:    ${progressBar({ done: total, total, elapsedMs })}`);
      return;
    }
    if (status === 'FAILED' || status === 'CANCELLED' || status === 'PAUSED')
      throw new StackError(sentence(campaign));
    if (campaign.preparation_status === 'PREPARING') {
      progress.update('Preparing: reading the rows, checking the numbers, freezing the variables …');
    } else {
      sendingSince ??= Date.now();
      progress.update(`Sending: ${progressBar({ done, total, elapsedMs: Date.now() - sendingSince })}`);
    }
    await sleep(pollMs, undefined, { signal });
  }
}

function sentence({ status, pause_reason: reason, preparation_error: problem }: CampaignRecord): string {
  const why = problem?.message ?? reason;
  return `The campaign ended as ${status}${why === null ? '' : ` (${why})`} instead of COMPLETED: GET /api/campaigns/{id} tells more.`;
}

/** Waits until no status has changed for a while: not every message is ever delivered or read. */
async function waitForStatuses(run: DemoRun, id: string): Promise<CampaignRecord> {
  const { progress, receiver, signal } = run;
  const deadline = Date.now() + settleLimitMs;
  let changedAt = Date.now();
  let before = '';
  for (;;) {
    const campaign = await read(run, id);
    const received = [...receiver.counts.values()].reduce((sum, value) => sum + value, 0);
    const now = JSON.stringify([campaign.counters, received]);
    if (now !== before) changedAt = Date.now();
    before = now;
    if (Date.now() - changedAt > settledMs || Date.now() > deadline) return campaign;
    const { delivered = 0, read: opened = 0 } = campaign.counters;
    progress.update(
      `Waiting for the provider's statuses: ${count(delivered + opened)} delivered, ${count(opened)} of them read; ` +
        `${count(received)} webhooks received`,
    );
    await sleep(pollMs, undefined, { signal });
  }
}
