import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { controlAnswer, controlPrefix } from './control-routes.ts';
import { graphAnswer, type SimulatorRequest } from './graph-routes.ts';
import type { SimulatorAnswer } from './protocol/answer.ts';
import type { SimulatorOptions } from './options.ts';
import { closeSimulatorState, createSimulatorState, type SimulatorState } from './state.ts';

export interface RunningSimulator {
  readonly port: number;
  /** The provider's root with a version segment, as the product wants it. */
  readonly baseUrl: string;
  close(): Promise<void>;
}

const maxBodyBytes = 128 * 1024 * 1024;

/** Starts the simulator, by default on the loopback interface. */
export async function startSimulator(options: SimulatorOptions): Promise<RunningSimulator> {
  const state = await createSimulatorState(options);
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) =>
    receive(state, request, response),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host ?? '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}/v26.0`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await closeSimulatorState(state);
    },
  };
}

function receive(state: SimulatorState, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBodyBytes) request.destroy();
    else chunks.push(chunk);
  });
  request.on('end', () => {
    const [first] = chunks;
    const body = first && chunks.length === 1 ? first : Buffer.concat(chunks);
    answer(state, { request, response, body });
  });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

function answer(state: SimulatorState, { request, response, body }: Exchange): void {
  const simulatorRequest: SimulatorRequest = {
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    host: request.headers.host ?? '127.0.0.1',
    authorization: request.headers.authorization,
    isChunked: request.headers['transfer-encoding'] !== undefined,
    body,
  };
  if (simulatorRequest.url.startsWith(controlPrefix)) {
    controlAnswer(state, simulatorRequest).then(
      (made) => write(response, made),
      () => response.writeHead(500).end(),
    );
    return;
  }
  const made = graphAnswer(state, simulatorRequest);
  const delayMs = state.faults.delayMs();
  if (delayMs <= 0) write(response, made);
  else void sleep(delayMs).then(() => write(response, made));
}

function write(response: ServerResponse, made: SimulatorAnswer): void {
  if (made.kind === 'drop') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (made.kind === 'hang') return;
  response.writeHead(made.httpStatus, [
    'content-type',
    made.contentType,
    'content-length',
    String(Buffer.byteLength(made.body)),
  ]);
  response.end(made.body);
}
