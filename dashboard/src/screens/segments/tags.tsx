/** The workspace's tags: create, see, delete. */
import { Alert, Badge, Card, CloseButton, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, client } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { Confirm } from '../../parts/controls/confirm.tsx';
import { Loaded } from '../../parts/display/load-states.tsx';
import { TextLink } from '../../parts/controls/text-link.tsx';
import { sendOnce } from '../../send-once.ts';
import { useTags } from '../../tags.ts';

export function Tags() {
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['tags'] });
  const list = useTags();
  const [leaving, setLeaving] = useState<{ readonly tagId: string; readonly label: string }>();
  const create = useMutation({
    mutationFn: () => sendOnce('tag', api.createTag, { name }),
    onSuccess: () => {
      setName('');
      return refresh();
    },
  });
  const remove = useMutation({ mutationFn: (id: string) => api.deleteTag(client, id), onSuccess: refresh });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const error = create.error ?? remove.error;
  return (
    <Card withBorder>
      <Stack>
        <Title order={2} size="h4">
          Tags
        </Title>
        <Loaded query={list}>
          {(tags) => (
            <Group gap="xs">
              {tags.length === 0 && (
                <Text size="sm" c="dimmed">
                  A tag is a label for contacts, such as VIP. Give it on a contact’s page, use it in a
                  segment.
                </Text>
              )}
              {tags.map(({ tagId, name: label, text_color, background_color }) => (
                <Badge
                  key={tagId}
                  tt="none"
                  size="lg"
                  style={{ color: text_color, backgroundColor: background_color }}
                  rightSection={
                    <CloseButton
                      size="xs"
                      aria-label={`Delete tag ${label}`}
                      style={{ color: text_color }}
                      onClick={() => setLeaving({ tagId, label })}
                    />
                  }
                >
                  <TextLink to="/contacts" search={{ tag: tagId }} c="inherit" fz="inherit">
                    {label}
                  </TextLink>
                </Badge>
              ))}
            </Group>
          )}
        </Loaded>
        <form onSubmit={submit}>
          <Group align="flex-end">
            <TextInput
              label="New tag"
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
              required
              withAsterisk={false}
            />
            <ActionButton type="submit" variant="default" loading={create.isPending}>
              Create tag
            </ActionButton>
          </Group>
        </form>
        <Confirm
          question={`Delete the tag ${leaving?.label ?? ''}?`}
          consequence="It will be removed from all contacts. No contact is deleted."
          confirmation="Delete tag"
          color="red"
          opened={leaving !== undefined}
          onClose={() => setLeaving(undefined)}
          onConfirm={() => leaving && remove.mutate(leaving.tagId)}
        />
        {error && (
          <Alert color="red" role="alert">
            {error.message}
          </Alert>
        )}
      </Stack>
    </Card>
  );
}
