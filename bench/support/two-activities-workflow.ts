/** The baseline of a small campaign: a workflow of two activities that do nothing. */
import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing: () => Promise<void> }>({ startToCloseTimeout: '30 seconds' });

export async function twoActivities(): Promise<void> {
  await nothing();
  await nothing();
}
