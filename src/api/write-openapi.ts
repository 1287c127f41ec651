/** Writes docs/openapi.json from the declarations: `npm run openapi`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sqlFolder } from '../records/database/sql-folder.ts';
import { openApiDocument } from './frame/document/openapi.ts';
import { routes } from './routes.ts';

const file = join(sqlFolder(), '..', 'docs', 'openapi.json');
await writeFile(file, `${JSON.stringify(openApiDocument(routes), null, 2)}\n`);
