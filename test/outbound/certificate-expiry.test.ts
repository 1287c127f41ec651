import { expect, it } from 'vitest';
import { readCertificateExpiry } from '../../src/outbound/certificate-expiry.ts';
import { receiverCertificate } from '../support/certificates.ts';
import { startRawReceiver } from '../support/raw-receiver.ts';

it('reads when the certificate of an address expires, trusted or not', async () => {
  const receiver = await startRawReceiver(() => undefined, receiverCertificate);
  const expiry = await readCertificateExpiry(`https://localhost:${receiver.port}`);
  expect(expiry.toISOString()).toBe('2120-01-01T00:00:00.000Z');
  expect(await readCertificateExpiry(`https://127.0.0.1:${receiver.port}`)).toEqual(expiry);
  await receiver.close();
});

it('rejects where nothing answers', async () => {
  await expect(readCertificateExpiry('https://127.0.0.1:9')).rejects.toThrow('ECONNREFUSED');
});
