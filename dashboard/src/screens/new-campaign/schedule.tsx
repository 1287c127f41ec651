/** When a new campaign begins, and the hours in which it sends. */
import { Checkbox, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { SendingWindowFields } from '../../parts/forms/sending-window-fields.tsx';
import { TimeField } from '../../parts/forms/time-field.tsx';
import { usualWindow, useWorkspaceWindow, windowText } from '../../sending-window.ts';
import type { Draft } from './draft.ts';

/** Undefined for a cost that the API takes, and for none. */
export const costProblem = (cost: string): string | undefined =>
  cost.trim() === '' || (/^\d{1,12}(?:\.\d{1,6})?$/.test(cost.trim()) && Number(cost) > 0)
    ? undefined
    : 'Enter an amount such as 12.50';

interface ScheduleProps {
  readonly draft: Draft;
  /** True where the workspace's own window holds for the chosen template. */
  readonly isMarketing: boolean;
  readonly onChange: (change: Partial<Draft>) => void;
}

export function Schedule({ draft: { at, window, maxCost = '' }, isMarketing, onChange }: ScheduleProps) {
  const { data: inherited } = useWorkspaceWindow();
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
        <TimeField
          label="Send at"
          empty="Leave empty to send now."
          value={at}
          onChange={(text) => onChange({ at: text })}
        />
        <TextInput
          label="Maximum cost"
          description="Pauses before it would cost more. Leave empty for no maximum."
          inputMode="decimal"
          value={maxCost}
          error={costProblem(maxCost)}
          onChange={(event) => onChange({ maxCost: event.currentTarget.value })}
        />
      </SimpleGrid>
      <Stack gap="sm">
        <Checkbox
          label="Send only in certain hours"
          description="Sending pauses outside these hours and continues automatically."
          checked={window !== undefined}
          onChange={(event) => onChange({ window: event.currentTarget.checked ? usualWindow : undefined })}
        />
        {window !== undefined && (
          <SendingWindowFields value={window} onChange={(next) => onChange({ window: next })} />
        )}
        {isMarketing && inherited != null && (
          <Text size="sm" c="dimmed">
            The workspace sends marketing only {windowText(inherited)}; this campaign keeps to that as well.
          </Text>
        )}
      </Stack>
    </>
  );
}
