/** Where a server that listens on `host` is reached from this machine. */
export function originOf(host: string, port: number): string {
  const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const address = reachable[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
