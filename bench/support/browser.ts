/** A Chromium: `CHROMIUM`, else one on PATH, else the one inside an npm package, which needs no root. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import chromiumPackage from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

export async function launchBrowser(): Promise<Browser> {
  const given = process.env['CHROMIUM'] ?? onPath();
  if (given !== undefined) return chromium.launch({ executablePath: given, args: ['--no-sandbox'] });
  // Software WebGL takes half as much CPU again, and no page uses WebGL.
  chromiumPackage.setGraphicsMode = false;
  const executablePath = await chromiumPackage.executablePath();
  // With a single process, closing a context would end the browser.
  const args = chromiumPackage.args.filter((one) => one !== '--single-process' && one !== '--no-zygote');
  return chromium.launch({ executablePath, args });
}

function onPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}
