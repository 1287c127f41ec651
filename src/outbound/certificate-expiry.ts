/** Reads when the certificate at an https address expires. */
import { once } from 'node:events';
import { connect } from 'node:tls';

const patienceMs = 5_000;

/** Rejects if the address cannot be reached. Expired and untrusted certificates are read too. */
export async function readCertificateExpiry(address: string): Promise<Date> {
  const { hostname, port } = new URL(address);
  const socket = connect({
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? 443 : Number(port),
    servername: hostname,
    // This is safe because nothing is sent; only the certificate is read.
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(patienceMs) });
    return new Date(socket.getPeerCertificate().valid_to);
  } finally {
    socket.destroy();
  }
}
