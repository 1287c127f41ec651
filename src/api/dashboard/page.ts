/** Serves the built files of the dashboard from memory. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Middleware } from 'koa';
import { NotFound } from '../../domain/error.ts';
import type { FrameState } from '../frame/state.ts';

interface PageFile {
  readonly type: string;
  readonly content: Buffer;
  readonly gzip: Buffer;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const isOfPage = (path: string): boolean => path === '/dashboard' || path.startsWith('/dashboard/');
const isOfApi = (path: string): boolean => /^\/dashboard\/(?:api|session)(?:\/|$)/.test(path);

/** Without a built `folder` there is no dashboard. Every path outside `assets/` is answered with the page itself. */
export function dashboardPage(folder: string | undefined): Middleware<FrameState> {
  let files: ReadonlyMap<string, PageFile> | undefined;
  return async (ctx, next) => {
    if (!isOfPage(ctx.path) || isOfApi(ctx.path)) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    files ??= readFiles(folder);
    const isAsset = ctx.path.startsWith('/dashboard/assets/');
    const file = files.get(isAsset ? ctx.path.slice('/dashboard/'.length) : 'index.html');
    if (file === undefined) throw new NotFound(isAsset ? 'File' : 'Page');
    ctx.state.route = isAsset ? '/dashboard/assets/*' : '/dashboard/*';
    ctx.state.quiet = true;
    ctx.set({
      'Content-Security-Policy': contentSecurityPolicy,
      // The names of assets contain a hash of their content.
      'Cache-Control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
      Vary: 'Accept-Encoding',
    });
    ctx.res.setHeader('Content-Type', file.type);
    const zipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (zipped) ctx.set('Content-Encoding', 'gzip');
    ctx.status = 200;
    ctx.body = zipped ? file.gzip : file.content;
    ctx.res.setHeader('Content-Type', file.type);
  };
}

function readFiles(folder: string | undefined): ReadonlyMap<string, PageFile> {
  if (folder === undefined) return new Map();
  const found = ['.', 'assets'].flatMap((part) => {
    try {
      return readdirSync(join(folder, part)).map((name) => (part === '.' ? name : `${part}/${name}`));
    } catch {
      return [];
    }
  });
  return new Map(
    found.flatMap((name) => {
      const type = types[extname(name)];
      if (type === undefined) return [];
      const content = readFileSync(join(folder, name));
      return [[name, { type, content, gzip: gzipSync(content, { level: 9 }) }]];
    }),
  );
}
