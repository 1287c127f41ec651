/** Sign-in, sign-out and expiry of dashboard sessions, and the first paint on a slow line. */
import { expect, it } from 'vitest';
import {
  admin,
  createWorkspaceKey,
  expectNoViolation,
  goTo,
  lookAt,
  photograph,
  signOut,
  stack,
  visit,
  visitAs,
  within,
} from './fixture.ts';

const keyIdOf = (key: string): string => key.split('_')[1] ?? '';

it('signs in by a link once, and signs out when the key is revoked', async () => {
  const created = await admin([
    'create-key',
    '--workspace-id',
    String(stack.dev.workspaceId),
    '--scope',
    'workspace',
  ]);
  const keyId = keyIdOf(created['apiKey'] ?? '');
  const { url = '' } = await admin(['sign-in-link', '--key-id', keyId]);
  const { page, mishaps, close } = await visit();
  try {
    await page.goto(url);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(page.url()).not.toContain('token');
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
    expect(await page.evaluate<string>('document.cookie')).toBe('');
    // This screen polls every five seconds.
    await goTo(page, 'Campaigns');
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    await admin(['revoke-key', '--key-id', keyId]);
    let allowed = 0;
    page.on('response', (response) => {
      if (response.url().includes('/dashboard/api/campaigns') && response.ok()) allowed += 1;
    });
    await page.getByLabel('API key', { exact: true }).waitFor();
    // At most the poll that was on its way.
    expect(allowed).toBeLessThanOrEqual(1);
    await page.goto(url);
    await page.getByText('This link was used already').waitFor();
    await expectNoViolation(page);
    await photograph(page, 'sign-in-link-used');
    await page.getByLabel('API key', { exact: true }).fill('mc_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This key is not valid').waitFor();
    expect(mishaps).toEqual([]);
  } finally {
    await close();
  }
});

it('asks before a link replaces the session of another workspace', async () => {
  const other = keyIdOf(await createWorkspaceKey('Elsewhere'));
  const { url = '' } = await admin(['sign-in-link', '--key-id', other]);
  const { page, mishaps, close } = await visitAs(stack.dev.apiKey);
  try {
    await page.goto(url);
    await page.getByText('This link leads to the workspace Elsewhere').waitFor();
    await expectNoViolation(page);
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.goto(url);
    await page.getByRole('button', { name: 'Sign in by the link' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText('Elsewhere').first().waitFor();
    // The question is the answer 409 to the link.
    expect(mishaps.filter((mishap) => !mishap.includes('409'))).toEqual([]);
  } finally {
    await close();
  }
});

it('returns to the requested page after the sign-in, and shows an error at an unknown address', async () => {
  const { page, mishaps, close } = await visit();
  try {
    await page.goto(`${stack.dev.dashboardUrl}/templates?search=order`);
    await page.getByLabel('API key', { exact: true }).fill(stack.dev.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();
    expect(page.url()).toBe(`${stack.dev.dashboardUrl}/templates?search=order`);
    expect(await page.title()).toBe('Templates · Messaging campaigns');
    await page.goto(`${stack.dev.dashboardUrl}/nothing/here`);
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
    expect(await page.title()).toBe('Page not found · Messaging campaigns');
    await lookAt(page, 'not-found');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    await goTo(page, 'Overview');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(mishaps).toEqual([]);
  } finally {
    await close();
  }
});

it('shows who is signed in, and says so when the sign-out fails without a network', async () => {
  await within(async (page) => {
    await goTo(page, 'Overview');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText(`Workspace ${stack.dev.workspaceId}`).waitFor();
    await page.getByText('Channel key: can send').waitFor();
    await page.getByText(/^Expires /).waitFor();
    await lookAt(page, 'account', { fullPage: false });
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('alert').getByText('You are still signed in').waitFor();
    await page.context().setOffline(false);
    await page.keyboard.press('Escape');
    await page.getByText('You are still signed in').waitFor({ state: 'hidden' });
    await signOut(page);
  });
});

it('paints the skeleton of the page before a script or a style sheet has come', async () => {
  const { page, close } = await visit();
  try {
    // They never come. What has come is the page itself, of two kilobytes.
    await page.route('**/dashboard/assets/**', () => undefined);
    await page.goto(stack.dev.dashboardUrl, { waitUntil: 'commit' });
    const painted = `performance.getEntriesByName('first-contentful-paint').length`;
    await expect.poll(() => page.evaluate(painted)).toBe(1);
    expect(Buffer.byteLength(await page.content())).toBeLessThan(8_000);
  } finally {
    await close();
  }
});

it('follows a sign-in with another key in another tab: what is done here would be done in its workspace', async () => {
  const other = await createWorkspaceKey('Another firm');
  await within(async (page) => {
    await goTo(page, 'Contacts');
    const second = await page.context().newPage();
    await second.goto(`${stack.dev.dashboardUrl}/sign-in`);
    await second.getByLabel('API key', { exact: true }).fill(other);
    await second.getByRole('button', { name: 'Sign in' }).click();
    await second.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('banner').getByText('Another firm', { exact: true }).waitFor();
  });
});
