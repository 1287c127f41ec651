import { ActionButton } from '../controls/action-button.tsx';

interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
}

/** The next page of a list, where there is one. */
export function ShowMore({ list, label = 'Show more' }: { readonly list: Pages; readonly label?: string }) {
  if (!list.hasNextPage) return null;
  return (
    <ActionButton
      variant="default"
      loading={list.isFetchingNextPage}
      onClick={() => void list.fetchNextPage()}
    >
      {label}
    </ActionButton>
  );
}
