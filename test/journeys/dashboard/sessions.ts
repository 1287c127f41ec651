/** Who may be in. */
import { expect, it } from 'vitest';
import { admin, expectNoViolation, photograph, stack, visit } from './fixture.ts';

const keyIdOf = (key: string): string => key.split('_')[1] ?? '';

it('lets in by a link once, and out when the key is revoked', async () => {
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
    await page.getByRole('heading', { name: 'Campaigns', exact: true }).waitFor();
    expect(page.url()).not.toContain('token');
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
    expect(await page.evaluate<string>('document.cookie')).toBe('');
    await admin(['revoke-key', '--key-id', keyId]);
    const revokedAt = Date.now();
    await page.getByLabel('API key', { exact: true }).waitFor();
    expect(Date.now() - revokedAt).toBeLessThan(7_000);
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
}, 60_000);
