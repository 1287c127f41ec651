import { ApiFailure } from '../client.ts';

interface Filter {
  readonly state: readonly string[] | undefined;
  readonly reason: readonly string[] | undefined;
  readonly phoneNumber: string | undefined;
}

/** All that match, as a file. */
export async function exportCsv(id: string, { state = [], reason = [], phoneNumber }: Filter): Promise<void> {
  const query = new URLSearchParams([
    ...state.map((value) => ['state', value]),
    ...reason.map((value) => ['reason', value]),
    ...(phoneNumber === undefined ? [] : [['phone_number', phoneNumber]]),
  ]);
  const response = await fetch(`/dashboard/api/campaigns/${id}/recipients?${query}`, {
    headers: { Accept: 'text/csv' },
  });
  if (!response.ok) throw new ApiFailure(response.status, await response.json());
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = `recipients-${id}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
