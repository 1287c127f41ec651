import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTemporal, startTimeSkippingTemporal } from '../../support/temporal.ts';

type Environment = Awaited<ReturnType<typeof startTemporal>>;

describe('Temporal of the tests', () => {
  let local: Environment;
  let timeSkipping: Environment;

  beforeAll(async () => {
    local = await startTemporal();
    timeSkipping = await startTimeSkippingTemporal();
  });
  afterAll(async () => {
    await local.teardown();
    await timeSkipping.teardown();
  });

  test('knows the search attributes of campaigns', async () => {
    const { customAttributes } = await local.connection.operatorService.listSearchAttributes({
      namespace: 'default',
    });
    expect(Object.keys(customAttributes ?? {})).toEqual(
      expect.arrayContaining(['WorkspaceId', 'CampaignStatus', 'PauseReason']),
    );
  });

  test('skips thirty days at once when asked to sleep', async () => {
    const before = await timeSkipping.currentTimeMs();
    await timeSkipping.sleep('30 days');
    expect((await timeSkipping.currentTimeMs()) - before).toBeGreaterThanOrEqual(30 * 86_400_000);
  });
});
