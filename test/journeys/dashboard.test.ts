/**
 * The dashboard in a real browser, on the built stack. All tests share one browser and one stack, which take longer to start
 * than many a test runs.
 */
import { afterAll, beforeAll } from 'vitest';
import { everyCase, prepare, remove } from './dashboard/fixture.ts';

beforeAll(prepare);
afterAll(remove);

// Needs a workspace without campaigns.
await import('./dashboard/create.ts');
await import('./dashboard/templates.ts');
await import('./dashboard/draft.ts');
await import('./dashboard/follow.ts');
await import('./dashboard/outages.ts');
await import('./dashboard/lists.ts');
if (everyCase) await import('./dashboard/polling.ts');
await import('./dashboard/money.ts');
await import('./dashboard/people.ts');
await import('./dashboard/forms.ts');
await import('./dashboard/replies.ts');
if (everyCase) await import('./dashboard/windows.ts');
await import('./dashboard/sessions.ts');
await import('./dashboard/load-states.ts');
await import('./dashboard/narrow.ts');
if (everyCase) await import('./dashboard/states.ts');
