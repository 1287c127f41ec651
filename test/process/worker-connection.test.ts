/** TLS, client certificates and API keys on the way to Temporal: a proxy that insists on them, before a real server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOrchestrator } from '../../src/orchestrator/orchestrator.ts';
import { connectToTemporal } from '../../src/process/worker-options.ts';
import { receiverCertificate, testAuthority } from '../support/certificates.ts';
import { startTemporal } from '../support/temporal.ts';

const apiKey = 'an API key of the tests';
const folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-tls-'));
let temporal: TestWorkflowEnvironment;
let proxy: Http2SecureServer;

/** Forwards gRPC calls that come with a client certificate and the API key; refuses all others. */
function startProxy(target: string): Promise<Http2SecureServer> {
  const upstream = connect(`http://${target}`);
  const server = createSecureServer({
    cert: receiverCertificate.cert,
    key: receiverCertificate.key,
    ca: testAuthority,
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.on('close', () => upstream.close());
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers.authorization !== `Bearer ${apiKey}`) {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' },
        { endStream: true },
      );
      return;
    }
    const call = upstream.request(headers);
    call.on('error', () => stream.close());
    call.on('response', (answer) => {
      let trailers = {};
      stream.respond(answer, { waitForTrailers: true });
      call.on('trailers', (given) => (trailers = given));
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      call.pipe(stream);
    });
    stream.pipe(call);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const path = (name: string): string => join(folder, name);
const settings = () => ({
  temporalAddress: `localhost:${(proxy.address() as AddressInfo).port}`,
  temporalNamespace: 'default',
  temporalTls: { authority: path('ca.pem'), certificate: path('client.pem'), key: path('client.key') },
  temporalApiKey: apiKey as string | undefined,
});

beforeAll(async () => {
  writeFileSync(path('ca.pem'), testAuthority);
  writeFileSync(path('client.pem'), receiverCertificate.cert);
  writeFileSync(path('client.key'), receiverCertificate.key);
  temporal = await startTemporal();
  proxy = await startProxy(temporal.address);
});
afterAll(async () => {
  proxy?.close();
  await temporal?.teardown();
  rmSync(folder, { recursive: true, force: true });
});

it('reaches a server that wants a client certificate and an API key, as API and as worker', async () => {
  const orchestrator = await createOrchestrator(settings());
  await orchestrator.namespace(10_000);
  await orchestrator.close();
  const connection = await connectToTemporal(settings(), { warn: () => undefined });
  await connection.close();
});

it.each([
  ['absent.pem', /TEMPORAL_TLS: .*absent\.pem cannot be read: ENOENT/],
  ['words.pem', /TEMPORAL_TLS: .*words\.pem is not a PEM file/],
])('refuses %s as the file of the certificate authority', async (name, problem) => {
  writeFileSync(path('words.pem'), 'words');
  const tls = { temporalTls: { authority: path(name) } };
  await expect(createOrchestrator({ ...settings(), ...tls })).rejects.toThrow(problem);
});

it('is refused without the key or the certificate', async () => {
  const { temporalTls, ...rest } = settings();
  const refused = [
    { ...settings(), temporalApiKey: 'another key' },
    { ...rest, temporalTls: { authority: temporalTls.authority } },
    { ...rest, temporalTls: false },
  ];
  for (const one of refused) {
    const orchestrator = await createOrchestrator(one);
    await expect(orchestrator.namespace(2_000)).rejects.toThrow();
    await orchestrator.close();
  }
});
