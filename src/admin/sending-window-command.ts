import { isRight } from 'fp-ts/lib/Either.js';
import { report } from '../codecs/report.ts';
import { SendingWindow } from '../codecs/sending-window.ts';
import { setSendingWindow } from '../commands/workspaces/set-sending-window.ts';
import { Invalid } from '../domain/error.ts';
import { adminCommand, integerOption } from './admin-command.ts';

export const sendingWindowCommand = adminCommand({
  name: 'set-sending-window',
  summary: 'set the hours in which a workspace sends MARKETING templates',
  options: {
    'workspace-id': { description: 'id of the workspace' },
    timezone: { description: 'an IANA time zone such as Europe/Berlin', optional: true },
    from: { description: 'when sending begins, such as 09:00', optional: true },
    to: { description: 'when sending ends, such as 20:00', optional: true },
    days: { description: 'such as mon,tue,wed (default: all)', optional: true },
    off: { description: 'removes the window', flag: true },
  },
  run: async (context, { timezone, from, to, days, off, ...values }) => {
    const workspaceId = integerOption('workspace-id', values['workspace-id']);
    const window = off === undefined ? windowOf({ timezone, from, to, days: days?.split(',') }) : null;
    await setSendingWindow(context, workspaceId, window);
    return { workspaceId, sendingWindow: window };
  },
});

function windowOf(given: Readonly<Record<string, unknown>>): SendingWindow {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const decoded = SendingWindow.decode(present);
  if (isRight(decoded)) return decoded.right;
  throw Invalid.of(report(decoded.left));
}
