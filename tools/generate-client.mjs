/** Part of `npm run openapi`: makes of docs/openapi.json the client that a journey uses. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generateSource } from 'oazapfts';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
// The generator's own code is not written for `exactOptionalPropertyTypes`; what it exports is checked where it is used.
const source = `// @ts-nocheck\n${await generateSource(at('docs/openapi.json'))}`;
await writeFile(at('dashboard/generated-client.ts'), source);
