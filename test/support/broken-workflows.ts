/** A build that cannot replay open workflows: it adds a step before all others. */
import { sleep } from '@temporalio/workflow';
import { campaign as present } from '../../src/workflows/campaign.ts';

export async function campaign(input: Parameters<typeof present>[0]): ReturnType<typeof present> {
  await sleep(1);
  return present(input);
}
