/** The one table of the dashboard: dense rows, sticky header, sort in the address, skeleton, and cards on a phone. */
import {
  Box,
  Card,
  Checkbox,
  Group,
  Skeleton,
  Stack,
  Table,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { InRows } from '../display/time.tsx';
import classes from './data-table.module.css';

export interface Column<A> {
  readonly key: string;
  /** The heading; an empty one belongs to a column of actions. */
  readonly title: string;
  readonly cell: (row: A) => ReactNode;
  /** Returns the value that rows are sorted by; absent for a column that cannot be sorted. */
  readonly sortBy?: (row: A) => number | string;
  readonly isNumber?: boolean;
  readonly width?: number | string;
}

interface DataTableProps<A> {
  /** Names the table for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<A>[];
  /** Undefined while the rows load. The first column is the heading of a row's card. */
  readonly rows: readonly A[] | undefined;
  readonly keyOf: (row: A) => string;
  /** A column's key, with a minus in front for the descending order. */
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string | undefined) => void;
  /** Lets the user choose rows, for actions on several at once. */
  readonly selection?: {
    readonly chosen: ReadonlySet<string>;
    readonly choose: (chosen: ReadonlySet<string>) => void;
    readonly nameOf: (row: A) => string;
  };
}

const phoneWidth = '(max-width: 600px)';

export function DataTable<A>(props: DataTableProps<A>) {
  const isPhone = useMediaQuery(phoneWidth, undefined, { getInitialValueInEffect: false });
  if (props.rows === undefined) return <SkeletonRows />;
  const rows = sorted(props.rows, props.columns, props.sort);
  return (
    <InRows value>{isPhone ? <Cards {...props} rows={rows} /> : <Rows {...props} rows={rows} />}</InRows>
  );
}

function SkeletonRows() {
  return (
    <Stack gap={8} role="status" aria-label="Loading" aria-busy>
      {Array.from({ length: 8 }, (_, row) => (
        <Skeleton key={row} height={32} radius="sm" />
      ))}
    </Stack>
  );
}

/** Rows without a value come last in either order. */
function sorted<A>(rows: readonly A[], columns: readonly Column<A>[], sort = ''): readonly A[] {
  const isDescending = sort.startsWith('-');
  const by = columns.find(({ key }) => key === sort.replace(/^-/, ''))?.sortBy;
  if (by === undefined) return rows;
  const direction = isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [by(one), by(other)];
    if (typeof a === 'string' || typeof b === 'string') return direction * String(a).localeCompare(String(b));
    return direction * (a - b);
  });
}

type FilledProps<A> = DataTableProps<A> & { readonly rows: readonly A[] };

/** A checkbox that chooses one row. */
function Choice<A>({
  row,
  keyOf,
  selection,
}: Pick<FilledProps<A>, 'keyOf' | 'selection'> & { readonly row: A }) {
  if (selection === undefined) return null;
  const { chosen, choose, nameOf } = selection;
  const key = keyOf(row);
  const next = new Set(chosen);
  if (!next.delete(key)) next.add(key);
  return (
    <Checkbox
      size="xs"
      aria-label={`Choose ${nameOf(row)}`}
      checked={chosen.has(key)}
      onChange={() => choose(next)}
    />
  );
}

/** A checkbox that chooses all rows of the page, or none. */
function ChoiceOfAll<A>({ rows, keyOf, selection }: Pick<FilledProps<A>, 'rows' | 'keyOf' | 'selection'>) {
  if (selection === undefined) return null;
  const { chosen, choose } = selection;
  const isAll = rows.every((row) => chosen.has(keyOf(row)));
  return (
    <Checkbox
      size="xs"
      aria-label="Choose all"
      checked={isAll}
      indeterminate={!isAll && chosen.size > 0}
      onChange={() => choose(new Set(isAll ? [] : rows.map(keyOf)))}
    />
  );
}

function Rows<A>({ label, columns, rows, keyOf, sort, onSort, selection }: FilledProps<A>) {
  return (
    <Box className={classes['scroll']}>
      <Table
        aria-label={label}
        stickyHeader
        highlightOnHover
        className={classes['table']}
        horizontalSpacing="xs"
      >
        <Table.Thead className={classes['head']}>
          <Table.Tr>
            {selection && (
              <Table.Th w={36}>
                <ChoiceOfAll {...{ rows, keyOf, selection }} />
              </Table.Th>
            )}
            {columns.map((column) => (
              <Heading key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              {selection && (
                <Table.Td>
                  <Choice {...{ row, keyOf, selection }} />
                </Table.Td>
              )}
              {columns.map(({ key, cell, isNumber }) => (
                <Table.Td key={key} className={isNumber ? classes['number'] : undefined}>
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

interface HeadingProps<A> {
  readonly column: Column<A>;
  readonly sort: string | undefined;
  readonly onSort: ((sort: string | undefined) => void) | undefined;
}

function Heading<A>({ column: { key, title, sortBy, isNumber, width }, sort, onSort }: HeadingProps<A>) {
  const align = isNumber ? 'right' : 'left';
  if (title === '')
    return (
      <Table.Th w={width}>
        <VisuallyHidden>Actions</VisuallyHidden>
      </Table.Th>
    );
  if (sortBy === undefined || onSort === undefined)
    return (
      <Table.Th w={width} ta={align}>
        {title}
      </Table.Th>
    );
  const isUp = sort === key;
  const isDown = sort === `-${key}`;
  // Sorts descending first: users mostly want the largest numbers and the newest dates.
  const afterDown = isDown ? key : undefined;
  const next = isUp || isDown ? afterDown : `-${key}`;
  const order = isUp ? 'ascending' : 'descending';
  return (
    <Table.Th w={width} ta={align} aria-sort={isUp || isDown ? order : 'none'}>
      <UnstyledButton onClick={() => onSort(next)} fz="inherit" fw="inherit" c="inherit">
        {title}
        {isUp && <IconArrowUp size={13} aria-hidden style={{ verticalAlign: -2 }} />}
        {isDown && <IconArrowDown size={13} aria-hidden style={{ verticalAlign: -2 }} />}
      </UnstyledButton>
    </Table.Th>
  );
}

function Cards<A>({ label, columns, rows, keyOf, selection }: FilledProps<A>) {
  const [first, ...others] = columns;
  const actions = others.find(({ title }) => title === '');
  return (
    <Stack component="ul" gap="xs" m={0} p={0} aria-label={label} style={{ listStyle: 'none' }}>
      {rows.map((row) => (
        <Card key={keyOf(row)} component="li" withBorder padding="sm">
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Choice {...{ row, keyOf, selection }} />
            <Box miw={0} flex={1}>
              {first?.cell(row)}
            </Box>
            {actions?.cell(row)}
          </Group>
          {others
            .filter(({ title }) => title !== '')
            .map(({ key, title, cell }) => (
              <Group key={key} justify="space-between" wrap="nowrap" mt={6} gap="md">
                <Text size="xs" c="dimmed">
                  {title}
                </Text>
                <Box fz="sm" ta="right" miw={0} style={{ overflowWrap: 'anywhere' }}>
                  {cell(row)}
                </Box>
              </Group>
            ))}
        </Card>
      ))}
    </Stack>
  );
}
