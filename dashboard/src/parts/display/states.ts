/** One word and one colour for each state, for badges, legends, filters and tables alike. */
import { words } from '../../format.ts';

export interface Shown {
  readonly word: string;
  readonly colour: string;
}

const shown = (word: string, colour: string): Shown => ({ word, colour });

const states: Readonly<Record<string, Shown>> = {
  // Campaigns.
  DRAFT: shown('Draft', 'gray'),
  SCHEDULED: shown('Scheduled', 'blue'),
  RUNNING: shown('Running', 'teal'),
  PAUSED: shown('Paused', 'orange'),
  COMPLETED: shown('Completed', 'gray'),
  CANCELLED: shown('Cancelled', 'gray'),
  // Recipients; they share CANCELLED with campaigns, and campaigns share FAILED with them.
  PENDING: shown('Pending', 'gray'),
  CLAIMED: shown('Being sent', 'blue'),
  ACCEPTED: shown('Accepted', 'teal'),
  SENT: shown('Sent', 'teal'),
  DELIVERED: shown('Delivered', 'blue'),
  READ: shown('Read', 'violet'),
  UNKNOWN: shown('Outcome unknown', 'yellow'),
  FAILED: shown('Failed', 'red'),
  SKIPPED: shown('Skipped', 'gray'),
  // Templates.
  APPROVED: shown('Approved', 'teal'),
  REJECTED: shown('Rejected', 'red'),
  IN_APPEAL: shown('In appeal', 'orange'),
  // Webhooks, deliveries and channels.
  active: shown('Active', 'teal'),
  inactive: shown('Paused', 'orange'),
  disabled: shown('Disabled', 'red'),
  blocked: shown('Blocked', 'red'),
  healthy: shown('Healthy', 'teal'),
  undelivered: shown('No deliveries yet', 'gray'),
  degraded: shown('Degraded', 'orange'),
  failing: shown('Failing', 'red'),
  pending: shown('Pending', 'blue'),
  sending: shown('Being sent', 'blue'),
  delivered: shown('Delivered', 'teal'),
  failed: shown('Failed', 'red'),
  // Conversations.
  open: shown('Open', 'blue'),
  resolved: shown('Resolved', 'teal'),
  closed: shown('Closed', 'gray'),
};

export const showState = (state: string): Shown => states[state] ?? shown(words(state), 'gray');
export const stateWord = (state: string): string => showState(state).word;
