import type { CallOptions, Client } from './client.ts';
import { getCampaign } from './operations.ts';
import type { CampaignDetail, CampaignProgress } from './schemas.ts';
import { wait } from './wait.ts';

export interface WaitOptions extends Pick<CallOptions, 'signal'> {
  /** Default 600,000 (10 minutes). */
  readonly timeoutMs?: number;
}

/** The campaign neither ended nor paused in time. */
export class CampaignTimeoutError extends Error {
  override readonly name = 'CampaignTimeoutError';
  /** The campaign at the deadline. */
  readonly campaign: CampaignDetail;

  constructor(campaign: CampaignDetail, timeoutMs: number) {
    super(`The campaign is still ${campaign.status} after ${timeoutMs} ms`);
    this.campaign = campaign;
  }
}

const waitsForNothing: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'PAUSED']);
const firstPollMs = 250;
const longestPollMs = 5_000;

/**
 * Returns the campaign once its `status` is COMPLETED, FAILED (see `preparation_error`), CANCELLED or PAUSED (see
 * `pause_reason`). Throws CampaignTimeoutError after `timeoutMs`.
 */
export async function waitForCampaign(
  client: Client,
  id: string,
  { timeoutMs = 600_000, signal }: WaitOptions = {},
): Promise<CampaignDetail> {
  const deadline = Date.now() + timeoutMs;
  for (let pollMs = firstPollMs; ; pollMs = Math.min(longestPollMs, pollMs * 1.5)) {
    const { data } = await getCampaign(client, id, signal && { signal });
    if (waitsForNothing.has(data.status)) return data;
    const leftMs = deadline - Date.now();
    if (leftMs <= 0) throw new CampaignTimeoutError(data, timeoutMs);
    await wait(Math.min(pollMs, leftMs), signal);
  }
}

// The service sends a comment every 15 s.
const silenceMs = 45_000;
const reconnectMs = 1_000;

/** Yields the campaign's progress at most once a second until the campaign has ended. Reconnects when the connection is cut. */
export async function* followCampaign(
  client: Client,
  id: string,
  { signal }: Pick<CallOptions, 'signal'> = {},
): AsyncGenerator<CampaignProgress, void, undefined> {
  const path = `/api/campaigns/${encodeURIComponent(id)}/stream`;
  for (;;) {
    const { body } = await client.open({ method: 'GET', path, ...(signal && { signal }) });
    for await (const { event, data } of eventsOf(body)) {
      if (event === 'end') return;
      if (event === 'progress') yield JSON.parse(data) as CampaignProgress;
    }
    await wait(reconnectMs, signal);
  }
}

/** Server-sent events until the stream ends, breaks, or is silent for too long. */
async function* eventsOf(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<{ readonly event?: string; readonly data: string }, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const timer = setTimeout(() => void reader.cancel(), silenceMs);
      const read = await reader.read().catch(() => undefined);
      clearTimeout(timer);
      if (read?.value === undefined) return;
      const blocks = (text + decoder.decode(read.value, { stream: true })).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => block.match(new RegExp(`^${name}: ?(.*)$`, 'm'))?.[1];
        const event = field('event');
        yield { ...(event !== undefined && { event }), data: field('data') ?? '' };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
