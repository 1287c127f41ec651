import { errorOf } from '../../../../clients/typescript/src/api-error.ts';
import { ask } from '../../client.ts';

interface Filter {
  readonly state: readonly string[] | undefined;
  readonly reason: readonly string[] | undefined;
  readonly phone_number: string | undefined;
}

/** All that match, as a file. */
export async function exportCsv(
  id: string,
  { state = [], reason = [], phone_number: number }: Filter,
): Promise<void> {
  const query = new URLSearchParams([
    ...state.map((value) => ['state', value]),
    ...reason.map((value) => ['reason', value]),
    ...(number === undefined ? [] : [['phone_number', number]]),
  ]);
  const response = await ask(`/dashboard/api/campaigns/${id}/recipients?${query}`, {
    headers: { Accept: 'text/csv' },
  });
  if (!response.ok) throw await errorOf(response);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = `recipients-${id}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
