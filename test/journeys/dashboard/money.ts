/** Money: typed amounts in various notations, and recharges whose response is lost. */
import { expect, it } from 'vitest';
import * as api from '../../../clients/typescript/src/index.ts';
import {
  client,
  expectNoViolationInState,
  goTo,
  lookAtState,
  loseAnswers,
  stack,
  within,
} from './fixture.ts';

const balance = async () =>
  Number((await api.getWallet(client, { channel_id: stack.dev.channelId })).data.balance);

it('asks what 1,000 means, and adds an amount once though its answer was lost and another amount was added since', async () => {
  await within(async (page) => {
    await goTo(page, 'Wallet');
    await page
      .getByText(
        /^To recharge, an operator key .* the present key \(mc_\w+, a channel key\) does not suffice\./,
      )
      .waitFor();
    await page.getByLabel('Operator key', { exact: true }).fill(stack.dev.operatorKey);
    await page.getByRole('button', { name: 'Allow recharging' }).click();
    const field = page.getByLabel('Amount in USD');
    const before = await balance();
    await field.fill('1,000');
    await page.getByRole('button', { name: 'Recharge' }).click();
    await page.getByRole('alert').getByText('Is that 1,000.00 or 1.00? Write 1000 or 1.').waitFor();
    expect(await balance()).toBe(before);
    await field.fill('1,234.56');
    await page.getByText('Adds 1,234.56 USD').waitFor();
    await loseAnswers(page, '**/wallet/recharge');
    await page.getByRole('button', { name: 'Recharge' }).click();
    await page.getByRole('alert').getByText('it is added once only').waitFor({ timeout: 30_000 });
    await page.reload();
    await field.fill('500');
    await page.getByRole('button', { name: 'Recharge' }).click();
    await page.getByText(/^500\.00 USD added; balance /).waitFor();
    await field.fill('1234.56');
    await page.getByRole('button', { name: 'Recharge' }).click();
    await page.getByText('1,234.56 USD was added by the earlier request; this one added nothing.').waitFor();
    expect(await balance()).toBeCloseTo(before + 500 + 1234.56, 4);
    await loseAnswers(page, '**/wallet/recharge', 1);
    await field.fill('1234.56');
    await page.getByRole('button', { name: 'Recharge' }).click();
    await page.getByText(/^1,234\.56 USD added; balance /).waitFor();
    expect(await balance()).toBeCloseTo(before + 500 + 2 * 1234.56, 4);
    // A busy button hides its label behind a spinner.
    await page.locator('button[type=submit][aria-busy=false]').waitFor();
    await page.getByRole('table', { name: 'Ledger' }).getByText('Recharge').first().waitFor();
    await lookAtState(page, 'wallet-ledger');
    await page.getByLabel('Warn below, in USD').fill('99999999');
    await page.getByText('The balance is low').waitFor();
    await expectNoViolationInState(page);
    await page.getByLabel('Warn below, in USD').fill('10');
    await page.getByText('The balance is low').waitFor({ state: 'hidden' });
  });
});
