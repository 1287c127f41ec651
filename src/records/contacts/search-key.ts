/** Conditions on names and e-mail addresses that the partial indexes `contact_first_name` … `contact_email` answer. */
import { sql } from 'slonik';

type Fragment = ReturnType<typeof sql.fragment>;

// Postgres uses an index only when expressions and conditions repeat its definition.
export const keyOf = (column: Fragment): Fragment => sql.fragment`lower(${column}) COLLATE "C"`;

const escapeLike = (text: string) => text.replace(/[\\%_]/g, String.raw`\$&`);

/** The column begins with `word`, which is not empty, in any case of its letters. */
export const begins = (column: Fragment, word: string): Fragment => sql.fragment`(
  ${column} <> '' AND ${keyOf(column)} LIKE lower(${escapeLike(word)}) || '%')`;

/** The column equals one of the texts, none of which is empty, in any case of their letters. */
export const equalsAny = (column: Fragment, texts: readonly string[]): Fragment => sql.fragment`(
  ${column} <> '' AND ${keyOf(column)} = ANY(
    ARRAY(SELECT lower(given) COLLATE "C" FROM unnest(${sql.array([...texts], 'text')}) AS given)))`;
