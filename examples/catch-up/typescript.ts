// Prints every event since the last run. Needs BASE_URL, API_KEY and CURSOR_FILE.
// Install the client (clients/typescript/README.md) and tsx in a package of "type": "module", then: npx tsx typescript.ts
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createClient, listEvents } from 'messaging-campaigns-client';

const client = createClient({ baseUrl: process.env['BASE_URL'] ?? '', apiKey: process.env['API_KEY'] });
const file = process.env['CURSOR_FILE'] ?? 'cursor';
let after = existsSync(file) ? readFileSync(file, 'utf8') : undefined;

// A program that runs all the time uses followEvents(client, { after, onEvent }).
for (let hasMore = true; hasMore;) {
  const page = await listEvents(client, { limit: 1000, ...(after !== undefined && { after }) });
  // Skip ids that the webhook brought already.
  for (const { id, body } of page.data) console.log(id, body.eventKey);
  after = page.pagination.nextCursor;
  hasMore = page.pagination.hasMore;
  writeFileSync(file, after);
}
