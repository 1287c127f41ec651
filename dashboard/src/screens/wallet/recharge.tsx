/** Adds money to the wallet. Repetitions of a request that failed have its idempotency key, so they add the amount only once. */
import { Alert, Card, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { IconCircleCheck } from '@tabler/icons-react';
import type { FormEvent } from 'react';
import { readAmount, shortest, type TypedAmount } from '../../amount.ts';
import { api, isUnanswered } from '../../client.ts';
import { money } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { forgetDraft, useDraft } from '../../parts/forms/use-draft.ts';
import { sendOnce } from '../../send-once.ts';
import { useDiagnosis } from './waiting.tsx';

interface RechargeProps {
  readonly channelId: string;
  readonly campaignId: string | undefined;
  readonly currency: string;
}

export function Recharge({ channelId, campaignId, currency }: RechargeProps) {
  const diagnosis = useDiagnosis(campaignId);
  const missing = diagnosis.data?.find(({ check }) => check === 'WALLET')?.missing ?? '';
  const draftName = `recharge ${channelId} ${campaignId ?? ''}`;
  const { draft, change } = useDraft<{ readonly typed?: string }>(draftName, {});
  const { typed } = draft;
  const queryClient = useQueryClient();
  const amount = typed ?? (missing === '' ? '' : money(missing));
  // Only typed text can be ambiguous.
  const read: TypedAmount =
    typed === undefined && missing !== '' ? { kind: 'amount', text: shortest(missing) } : readAmount(amount);
  const recharge = useMutation({
    mutationFn: async () => {
      if (read.kind === 'problem') throw new Error(read.message);
      const body = { channel_id: channelId, amount: read.text };
      const { answer, isRepeated } = await sendOnce(`recharge ${channelId}`, api.rechargeWallet, body);
      return { amount: read.text, balance: answer.data.balance, isRepeated };
    },
    onSuccess: () => change({ typed: '' }),
    // Without an answer too: the ledger shows whether the money was added.
    onSettled: async () => {
      await queryClient.invalidateQueries({ queryKey: ['wallet', channelId] });
      await queryClient.invalidateQueries({ queryKey: ['ledger', channelId] });
      await queryClient.invalidateQueries({ queryKey: ['campaign', campaignId] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    recharge.mutate(undefined, { onSuccess: () => forgetDraft(draftName) });
  };
  return (
    <Card withBorder component="form" onSubmit={submit} noValidate>
      <Group align="flex-start">
        <TextInput
          label={`Amount in ${currency}`}
          description={
            read.kind === 'amount' && typed !== ''
              ? `Adds ${money(read.text, currency)}`
              : `Such as 1000 or ${money('20.28')}`
          }
          inputMode="decimal"
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- this field takes the place of the operator key's, which had the focus
          autoFocus={campaignId !== undefined}
          value={amount}
          onChange={(event) => change({ typed: event.currentTarget.value })}
          w={260}
        />
        <ActionButton type="submit" loading={recharge.isPending} mt={46}>
          Recharge
        </ActionButton>
      </Group>
      {recharge.error && (
        <Text c="red" size="sm" mt="xs" role="alert">
          {recharge.error.message}
          {read.kind === 'amount' &&
            isUnanswered(recharge.error) &&
            ' Recharge the same amount again: it is added once only.'}
        </Text>
      )}
      {recharge.data && (
        <Alert
          color="teal"
          variant="light"
          mt="sm"
          py="xs"
          role="status"
          icon={<IconCircleCheck aria-hidden />}
        >
          {money(recharge.data.amount, currency)}{' '}
          {recharge.data.isRepeated
            ? 'was added by the earlier request; this one added nothing.'
            : `added; balance ${money(recharge.data.balance, currency)}.`}
        </Alert>
      )}
    </Card>
  );
}
