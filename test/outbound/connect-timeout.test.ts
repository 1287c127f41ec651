import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { createOutboundPolicy } from '../../src/outbound/address-guard.ts';
import { postWebhook } from '../../src/outbound/post-webhook.ts';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

/** A port that never accepts a connection: its process is stopped and its backlog of one is full. */
async function startDeafPort(): Promise<number> {
  const program = `require('net').createServer().listen(0, '127.0.0.1', 1, function () {
    process.stdout.write(String(this.address().port));
  })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  closers.push(() => child.kill('SIGKILL'));
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGSTOP');
  const port = Number(output.toString());
  for (;;) {
    const socket: Socket = connect(port, '127.0.0.1').on('error', () => undefined);
    closers.push(() => socket.destroy());
    const isConnected = await Promise.race([
      once(socket, 'connect').then(() => true),
      sleep(300).then(() => false),
    ]);
    if (!isConnected) return port;
  }
}

it('applies the time limit to connecting as well', async () => {
  const port = await startDeafPort();
  const dialer = {
    policy: createOutboundPolicy(['127.0.0.0/8']),
    resolve: async () => ({ ok: true, addresses: ['127.0.0.1', '127.0.0.1'] }) as const,
  };
  for (const host of ['127.0.0.1', 'receiver.test']) {
    const startedAt = performance.now();
    const outcome = await postWebhook(
      dialer,
      { url: `http://${host}:${port}/`, headers: {}, body: Buffer.from('{}') },
      1500,
    );
    expect(outcome).toMatchObject({ state: 'failed', errorCode: 'timeout', responseStatus: null });
    // Without the limit the system gives up after two minutes, longer than a test may take.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1480);
  }
});
