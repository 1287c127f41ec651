/** The connection to Temporal: address, TLS, API key and the headers of every call. */
import { readFile } from 'node:fs/promises';
import { Client, type ConnectionLike, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { callContext } from '../concurrency/call-context.ts';
import { ConfigError, type Config } from '../config.ts';
import { causeHeaders } from '../workflows/contract.ts';

export type TemporalSettings = Pick<Config, 'temporalAddress'> &
  Partial<Pick<Config, 'temporalTls' | 'temporalApiKey'>>;

/** Returns connection options for the client and the worker. Throws ConfigError if a certificate cannot be read. */
export async function temporalConnectionOptions({
  temporalAddress: address,
  temporalTls: tls = false,
  temporalApiKey: apiKey,
}: TemporalSettings) {
  if (typeof tls === 'boolean') return { address, tls, ...(apiKey !== undefined && { apiKey }) };
  const read = async (path: string | undefined) => (path === undefined ? undefined : readPem(path));
  const [authority, crt, key] = await Promise.all([
    read(tls.authority),
    read(tls.certificate),
    read(tls.key),
  ]);
  return {
    address,
    tls: {
      ...(authority !== undefined && { serverRootCACertificate: authority }),
      ...(crt !== undefined && key !== undefined && { clientCertPair: { crt, key } }),
    },
    ...(apiKey !== undefined && { apiKey }),
  };
}

async function readPem(path: string): Promise<Buffer> {
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`TEMPORAL_TLS: ${path} cannot be read: ${error.code}`]);
  });
  if (!content.includes('-----BEGIN ')) throw new ConfigError([`TEMPORAL_TLS: ${path} is not a PEM file`]);
  return content;
}

export function clientOn(connection: ConnectionLike, namespace: string): Client {
  return new Client({ connection, namespace, interceptors: { workflow: [carryCause] } });
}

/** Passes the id and the span of the current request to the workflow that it starts or signals. */
const carryCause: WorkflowClientInterceptor = {
  start: (input, next) => next({ ...input, headers: { ...input.headers, ...causeNow() } }),
  startWithDetails: (input, next) => next({ ...input, headers: { ...input.headers, ...causeNow() } }),
  signal: (input, next) => next({ ...input, headers: { ...input.headers, ...causeNow() } }),
};

function causeNow(): Headers {
  const { requestId, traceparent } = callContext();
  return {
    ...(requestId !== undefined && {
      [causeHeaders.requestId]: defaultPayloadConverter.toPayload(requestId),
    }),
    ...(traceparent !== undefined && {
      [causeHeaders.traceparent]: defaultPayloadConverter.toPayload(traceparent),
    }),
  };
}
