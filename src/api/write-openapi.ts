/** `npm run openapi`: writes docs/openapi.json from the declarations, docs/errors.md from the error codes and examples/events.md. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sqlFolder } from '../records/database/migrate.ts';
import { errorPage, eventPage } from './frame/document/error-page.ts';
import { openApiDocument } from './frame/document/openapi.ts';
import { routes } from './routes.ts';

const docs = join(sqlFolder(), '..', 'docs');
await writeFile(join(docs, 'openapi.json'), `${JSON.stringify(openApiDocument(routes), null, 2)}\n`);
await writeFile(join(docs, 'errors.md'), errorPage());
await writeFile(join(docs, '..', 'examples', 'events.md'), eventPage());
