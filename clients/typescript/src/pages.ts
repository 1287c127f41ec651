interface Numbered {
  readonly page: number;
  readonly totalPages: number;
}

interface ByCursor {
  readonly nextCursor: string | null;
}

interface Page<T> {
  readonly data: readonly T[];
  readonly pagination: Numbered | ByCursor;
}

/**
 * Yields every record of a list and fetches its pages as needed:
 * `for await (const campaign of pages((place) => listCampaigns(client, { status: 'RUNNING', ...place })))`.
 */
export async function* pages<T>(
  list: (place: { page?: number; cursor?: string }) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let place: { page?: number; cursor?: string } | undefined = {};
  while (place !== undefined) {
    const { data, pagination }: Page<T> = await list(place);
    yield* data;
    place = nextOf(pagination);
  }
}

function nextOf(pagination: Numbered | ByCursor): { page?: number; cursor?: string } | undefined {
  if ('nextCursor' in pagination) {
    return pagination.nextCursor === null ? undefined : { cursor: pagination.nextCursor };
  }
  return pagination.page < pagination.totalPages ? { page: pagination.page + 1 } : undefined;
}
