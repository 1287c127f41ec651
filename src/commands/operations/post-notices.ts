import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import { signatureHeaders } from '../../domain/webhooks/signature.ts';
import { userAgent } from '../webhooks/deliver-webhook.ts';
import {
  recordNoticePost,
  takeNoticePosts,
  type NoticePost,
} from '../../records/operations/notice-targets.ts';

type Poster = Pick<Dependencies, 'database' | 'outbound' | 'secrets' | 'now' | 'logger' | 'config'>;

const idleMs = 1_000;

/** Posts notices to the addresses of their workspaces, one attempt each; a process that dies meanwhile loses those under way. */
export const startPostingNotices = (dependencies: Poster): Loop =>
  startPollingLoop({
    name: 'notice posts',
    logger: dependencies.logger,
    idleMs,
    work: () => postNotices(dependencies),
  });

/** Posts the oldest waiting notice of each workspace; returns whether there were any. */
export async function postNotices(dependencies: Poster): Promise<boolean> {
  const { database, config } = dependencies;
  const posts = await takeNoticePosts(database, config.webhookExpiryHours);
  await Promise.all(posts.map((post) => postNotice(dependencies, post)));
  return posts.length > 0;
}

async function postNotice(
  { database, outbound, secrets, now, logger, config }: Poster,
  post: NoticePost,
): Promise<void> {
  const { noticeId, workspaceId, targetId, secretEncrypted } = post;
  const body = Buffer.from(post.body, 'utf8');
  const secret = secretEncrypted === null ? [] : [secrets.decrypt(secretEncrypted, `notice ${targetId}`)];
  const outcome = await outbound.postWebhook({
    url: post.url,
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': userAgent(config),
      'X-Workspace-Id': String(workspaceId),
      'X-Event-Key': 'notice',
      ...signatureHeaders({ id: noticeId, sentAt: now(), body, secrets: secret }),
    },
  });
  const { state, errorCode, responseStatus, durationMs } = outcome;
  await recordNoticePost(database, targetId, outcome);
  logger.info({ noticeId, workspaceId, state, errorCode, responseStatus, durationMs }, 'notice posted');
}
