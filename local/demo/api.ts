/** The few calls of the HTTP API that the demo makes, with the demo's key. */
import { request } from 'undici';
import { StackError } from '../stack/error.ts';

export interface DemoApi {
  readonly get: (path: string) => Promise<Answer>;
  readonly post: (path: string, body: unknown) => Promise<Answer>;
  readonly remove: (path: string) => Promise<Answer>;
}

/** The success envelope; `data` is the record, or the list. */
export interface Answer {
  readonly data: unknown;
  readonly pagination?: { readonly totalPages?: number };
}

const attempts = 60;
const pauseMs = 500;

/** Throws StackError with the API's own message for an answer that is no success. */
export function createDemoApi({
  baseUrl,
  apiKey,
}: {
  readonly baseUrl: string;
  readonly apiKey: string;
}): DemoApi {
  async function call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    const { statusCode, body: answer } = await request(`${baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode < 300) return JSON.parse(text) as Answer;
    throw new StackError(`${method} ${path} was answered with ${statusCode}: ${messageOf(text)}`);
  }
  return {
    get: (path) => throughRestarts(() => call('GET', path)),
    post: (path, body) => call('POST', path, body),
    remove: (path) => call('DELETE', path),
  };
}

/** Repeats a read while the API restarts. */
async function throughRestarts<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (error instanceof StackError || attempt === attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text.slice(0, 200);
  }
}
