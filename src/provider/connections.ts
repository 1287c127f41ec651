/** Keep-alive connections to one origin, one request at a time on each, and a line of requests that wait for one. */
import { Client, type Dispatcher } from 'undici';

/** A request and undici's handler of it in one. */
export interface ConnectionRequest extends Dispatcher.DispatchHandler {
  readonly options: Dispatcher.DispatchOptions;
  /** To be called once, when the connection has done with the request: `true` at the end of an answer. */
  onEnded: (answered: boolean) => void;
}

export interface Connections {
  send(request: ConnectionRequest): void;
  /** Takes a request out of the line that no connection has taken up yet. */
  withdraw(request: ConnectionRequest): void;
  /** Closes the connections once their requests have ended. */
  close(): Promise<void>;
}

/**
 * A pool of undici clients. undici's own pool searches its connections one by one and reuses a connection two event-loop turns
 * after its last answer; this one passes a free connection to the next caller at once. undici still waits one turn before it
 * writes, so that a connection the server closes behind its answer is not used.
 */
export function createConnections(origin: string, most: number, options: Client.Options): Connections {
  const clients: Client[] = [];
  const idle: Client[] = [];
  const waiting = new Set<ConnectionRequest>();

  const open = (): Client | undefined => {
    if (clients.length >= most) return undefined;
    const client = new Client(origin, { ...options, pipelining: 1 });
    clients.push(client);
    return client;
  };

  const start = (client: Client, request: ConnectionRequest): void => {
    request.onEnded = (answered) => {
      if (answered) release(client);
      // undici is still putting the connection in order when it tells of an error.
      else queueMicrotask(() => release(client));
    };
    client.dispatch(request.options, request);
  };

  const release = (client: Client): void => {
    for (const next of waiting) {
      waiting.delete(next);
      start(client, next);
      return;
    }
    idle.push(client);
  };

  return {
    send(request) {
      const client = idle.pop() ?? open();
      if (client === undefined) waiting.add(request);
      else start(client, request);
    },
    withdraw(request) {
      waiting.delete(request);
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
