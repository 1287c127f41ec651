/** A build that does not fit the open workflows: one more step before everything else. */
import { sleep } from '@temporalio/workflow';
import { campaign as present } from '../../src/workflows/campaign.ts';

export async function campaign(input: Parameters<typeof present>[0]): ReturnType<typeof present> {
  await sleep(1);
  return present(input);
}
