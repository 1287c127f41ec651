import { WorkflowUpdateFailedError } from '@temporalio/client';
import { defaultPayloadConverter, TemporalFailure } from '@temporalio/common';
import { sql } from 'slonik';
import { describe, expect, it } from 'vitest';
import { nothing } from '../../src/records/database/row.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import { setCampaignScene, until, type Scene, type SceneSeed } from '../support/campaign-scene.ts';
import { openStage } from '../support/stage.ts';
import { startTemporal } from '../support/temporal.ts';

const stage = openStage(startTemporal);
const blockChannel = sql.type(nothing)`UPDATE channel SET status = 'blocked'`;

interface Described {
  readonly name: string;
  readonly description?: string;
}
interface Metadata {
  readonly definition: Readonly<
    Record<'signalDefinitions' | 'updateDefinitions' | 'queryDefinitions', Described[]>
  >;
}

const setScene = (seed: SceneSeed) => setCampaignScene(stage(), seed);
const handleOf = ({ campaignId }: Scene) =>
  stage().temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));
const eventsOf = async (scene: Scene) => (await handleOf(scene).describe()).historyLength;
const ask = (scene: Scene, action: string) => handleOf(scene).executeUpdate<string, []>(action);
/** All that the page shows of a refusal: the reason, and no stack. */
const whyRefused = (scene: Scene, action: string): Promise<string> =>
  ask(scene, action).then(
    (status) => `taken: ${status}`,
    (error: unknown) => {
      if (!(error instanceof WorkflowUpdateFailedError && error.cause instanceof TemporalFailure))
        return 'another error';
      const { message, stackTrace } = error.cause.failure ?? {};
      return `${message}${stackTrace ?? ''}`;
    },
  );

/** What stands beside each timer and each step in the page. */
async function wordsOf(scene: Scene) {
  const { events } = await handleOf(scene).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const { timerStartedEventAttributes: timer, activityTaskScheduledEventAttributes: step } = event;
    const what = timer ? 'timer' : step?.activityType?.name;
    const summary = event.userMetadata?.summary;
    return what === undefined ? [] : [[what, summary && defaultPayloadConverter.fromPayload(summary)]];
  });
}

const hour = 3_600_000;

describe('pause, resume and cancel as updates', () => {
  it('answer with the status, and refuse with the reason', async () => {
    const scene = await setScene({ recipients: 2, scheduledInMs: hour });
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.progress()) !== null);
      expect(await whyRefused(scene, 'resume')).toBe('resume is not possible: the campaign is SCHEDULED');
      expect(await ask(scene, 'pause')).toBe('PAUSED');
      expect(await scene.standing()).toMatchObject({ status: 'PAUSED', pauseReason: 'OPERATOR' });
      const before = await eventsOf(scene);
      expect(await whyRefused(scene, 'pause')).toBe(
        'pause is not possible: the campaign is PAUSED (OPERATOR)',
      );
      expect(await eventsOf(scene)).toBe(before);
      expect(await ask(scene, 'resume')).toBe('SCHEDULED');
      expect(await ask(scene, 'cancel')).toBe('CANCELLED');
      expect(await scene.result()).toMatchObject({
        status: 'CANCELLED',
        counts: { pending: 0 },
      });
    });
    expect((await handleOf(scene).describe()).status.name).toBe('CANCELLED');
  });

  it('refuse what the record alone knows to be impossible', async () => {
    const scene = await setScene({ recipients: 2, scheduledInMs: hour });
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.progress()) !== null);
      await ask(scene, 'pause');
      await scene.dependencies.database.query(blockChannel);
      expect(await whyRefused(scene, 'resume')).toBe(
        'The campaign is PAUSED and its channel is blocked: start it again once that is mended, or cancel it',
      );
      await ask(scene, 'cancel');
    });
  });

  it('are explained to whoever opens the workflow', async () => {
    const scene = await setScene({ recipients: 1, scheduledInMs: hour });
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.progress()) !== null);
      const metadata = await handleOf(scene).query<Metadata>('__temporal_workflow_metadata');
      const { signalDefinitions, updateDefinitions, queryDefinitions } = metadata.definition;
      for (const name of ['pause', 'resume', 'cancel', 'refresh'])
        expect(signalDefinitions.find((one) => one.name === name)?.description, name).toMatch(/\w/);
      expect(updateDefinitions.map(({ name }) => name).toSorted()).toEqual(['cancel', 'pause', 'resume']);
      expect(queryDefinitions.find(({ name }) => name === 'progress')?.description).toMatch(/\w/);
      await ask(scene, 'cancel');
    });
  });
});

describe('a campaign that is looked at in the page', () => {
  it('says in words what its timers wait for and what its steps do', async () => {
    const sent = await setScene({ recipients: 2 });
    const asleep = await setScene({ recipients: 2, scheduledInMs: hour });
    await sent.withWorker(async () => {
      await Promise.all([sent.start(), asleep.start()]);
      await until(async () => (await asleep.progress()) !== null);
      await ask(asleep, 'cancel');
      await Promise.all([sent.result(), asleep.result()]);
    });
    const said = (await Promise.all([sent, asleep].map(wordsOf))).flat();
    const steps = ['prepareCampaign', 'beginCampaign', 'sendStep', 'settleCampaign', 'cancelRecipients'];
    expect(said.map(([what]) => what)).toEqual(expect.arrayContaining(['timer', ...steps]));
    for (const [what, words] of said) expect(words, String(what)).toMatch(/^\w+:? \w+/);
  });
});

describe('a resume', () => {
  it('costs few events', async () => {
    const scene = await setScene({ recipients: 2, scheduledInMs: hour });
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.progress()) !== null);
      await handleOf(scene).signal('pause');
      await until(async () => (await scene.progress())?.status === 'PAUSED');
      const before = await eventsOf(scene);
      await handleOf(scene).signal('resume');
      await until(async () => (await scene.progress())?.status === 'SCHEDULED');
      // The signal, the activity, two workflow tasks, what is shown, and the timer until it is due.
      expect((await eventsOf(scene)) - before).toBeLessThanOrEqual(12);
      await ask(scene, 'cancel');
    });
  });
});

describe('a step of sending that is paused by hand', () => {
  it('pauses the campaign, which goes on when it is resumed', { timeout: 120_000 }, async () => {
    const scene = await setScene({ recipients: 1_500, messagesPerSecond: 100 });
    const { client, namespace = 'default' } = stage().temporal;
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => scene.provider.received.length > 50);
      await client.workflowService.pauseActivity({
        namespace,
        execution: { workflowId: campaignWorkflowId(scene.campaignId) },
        type: 'sendStep',
      });
      await until(async () => (await scene.standing()).pauseReason === 'OPERATOR');
      await until(async () => (await scene.standing()).counts.claimed === 0);
      await until(async () => (await scene.progress())?.status === 'PAUSED');
      const sent = scene.provider.received.length;
      expect(sent).toBeLessThan(1_500);
      expect(await ask(scene, 'resume')).toBe('RUNNING');
      await until(async () => scene.provider.received.length > sent);
      await ask(scene, 'cancel');
      await scene.result();
    });
  });
});
