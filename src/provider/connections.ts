/** Keep-alive connections to one origin with one request at a time each, and a queue of waiting requests. */
import { Client, type Dispatcher } from 'undici';

/** A request together with its undici handler. */
export interface ConnectionRequest extends Dispatcher.DispatchHandler {
  readonly options: Dispatcher.DispatchOptions;
  /** Call once when the connection has finished the request; `true` after a complete response. */
  onEnded: (answered: boolean) => void;
}

export interface Connections {
  send(request: ConnectionRequest): void;
  /** Removes a waiting request from the queue; does nothing once a connection has started it. */
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
      // undici resets the connection only after it reports the error.
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
