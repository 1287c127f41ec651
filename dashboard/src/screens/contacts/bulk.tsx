/** Gives the chosen contacts a tag. */
import { Select } from '@mantine/core';
import { useState } from 'react';
import { api, client } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { BulkBar } from '../../parts/tables/bulk-bar.tsx';
import type { Bulk } from '../../parts/tables/use-bulk.ts';
import { useTags } from '../../tags.ts';

export function ContactBulk({ bulk }: { bulk: Bulk }) {
  const { run } = bulk;
  const [tag, setTag] = useState<string | null>(null);
  const tags = useTags().data ?? [];
  const add = async (id: string) => {
    if (tag === null) return;
    // An update replaces the whole list of tags, so the present tags are read first.
    const { tagsId } = (await api.getContact(client, id)).data;
    if (!tagsId.includes(tag)) await api.updateContact(client, id, { tagsId: [...tagsId, tag] });
  };
  return (
    <BulkBar bulk={bulk}>
      <Select
        aria-label="Tag to add"
        placeholder={tags.length === 0 ? 'Make a tag under Segments' : 'Choose a tag'}
        size="xs"
        searchable
        limit={100}
        data={tags.map(({ tagId, name }) => ({ value: tagId, label: name }))}
        value={tag}
        onChange={setTag}
      />
      <ActionButton
        size="xs"
        variant="default"
        disabled={tag === null}
        loading={run.isPending}
        onClick={() => run.mutate(add)}
      >
        Add tag
      </ActionButton>
    </BulkBar>
  );
}
