/** Sends the requests of a client and a load balancer to the API during an outage. */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { DevFile } from '../../stack/dev-file.ts';
import type { Expectation } from './outages.ts';

/** Numbers of the single sends, apart from those of the campaign. */
export const probeNumberPrefix = '49152';

type Question = 'healthz' | 'readyz' | 'read' | 'send';

export interface ProbeAnswers {
  /** Count of answers by path and HTTP status, such as `readyz 503`; `none` for no answer. */
  readonly counts: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

export interface Probing {
  /** Stops sending; resolves when every request is answered. */
  readonly stop: () => Promise<ProbeAnswers>;
}

/** Time limit of a request, as of an impatient client. */
const patienceMs = 45_000;
const everyMs = 1_000;
/** 1.5 s: requests in flight when the outage began may still succeed, and a connection pool notices only by failing. */
const settlingMs = 1_500;

export interface ProbeTarget {
  readonly dev: Pick<DevFile, 'baseUrl' | 'apiKey' | 'templateIds'>;
  readonly campaignId: string;
  readonly expected: Expectation;
  /** Makes phone numbers unique within a run. */
  readonly nextNumber: () => number;
}

export function startProbing(target: ProbeTarget): Probing {
  const counts: Record<string, number> = {};
  const problems = new Set<string>();
  const asking = new Set<Promise<void>>();
  const stopped = new AbortController();

  const ask = async (question: Question): Promise<void> => {
    const { status, fault } = await answerOf(question, target);
    const name = `${question} ${status ?? 'none'}`;
    counts[name] = (counts[name] ?? 0) + 1;
    // Responses after the outage are not checked.
    const allowed = stopped.signal.aborted
      ? [200, ...allowedStatuses(question, target)]
      : allowedStatuses(question, target);
    if (status === undefined || !allowed.includes(status))
      problems.add(`${question} was answered with ${status ?? 'nothing'}`);
    if (fault !== undefined) problems.add(`${question}: ${fault}`);
  };

  const run = async (): Promise<void> => {
    await sleep(settlingMs, undefined, { signal: stopped.signal });
    for (;;) {
      for (const question of ['healthz', 'readyz', 'read', 'send'] as const) {
        const answer = ask(question).finally(() => asking.delete(answer));
        asking.add(answer);
      }
      await sleep(everyMs, undefined, { signal: stopped.signal });
    }
  };
  const running = run().catch(() => undefined);

  return {
    async stop() {
      stopped.abort();
      await running;
      await Promise.all(asking);
      return { counts, problems: [...problems] };
    },
  };
}

function allowedStatuses(question: Question, { expected }: ProbeTarget): readonly number[] {
  if (question === 'healthz') return [200];
  if (question === 'readyz') return expected.ready;
  return question === 'read' ? expected.read : expected.send;
}

async function answerOf(
  question: Question,
  { dev, campaignId, nextNumber }: ProbeTarget,
): Promise<{ readonly status?: number; readonly fault?: string }> {
  const path = {
    healthz: '/healthz',
    readyz: '/readyz',
    read: `/api/campaigns/${campaignId}`,
    send: '/api/templates/external/message/send',
  }[question];
  try {
    const { statusCode, body } = await request(`${dev.baseUrl}${path}`, {
      headers: { 'x-api-key': dev.apiKey, 'content-type': 'application/json' },
      headersTimeout: patienceMs,
      bodyTimeout: patienceMs,
      ...(question === 'send' && { method: 'POST', body: JSON.stringify(singleSend(dev, nextNumber())) }),
    });
    return { status: statusCode, ...faultOf(statusCode, await body.text()) };
  } catch {
    return {};
  }
}

function singleSend({ templateIds }: ProbeTarget['dev'], number: number) {
  return {
    templateId: templateIds['plain_notice'],
    recipientPhoneNumber: `${probeNumberPrefix}${String(number).padStart(8, '0')}`,
    countryCode: '+49',
  };
}

/** Checks that every error answer is an envelope with its own HTTP status. */
function faultOf(status: number, text: string): { readonly fault?: string } {
  if (status < 400) return {};
  try {
    const { status: word, code, message } = JSON.parse(text) as Record<string, unknown>;
    if (word === 'error' && code === status && typeof message === 'string') return {};
  } catch {
    // Not JSON: reported below.
  }
  return { fault: `the body of a ${status} is no error envelope` };
}
