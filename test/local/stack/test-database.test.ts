import { sql } from 'slonik';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';

describe('createTestDatabase', () => {
  test('gives every caller a migrated database of its own', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    try {
      await first.owner.query(sql.unsafe`CREATE TABLE only_here (id int)`);
      const tables = await second.pool.anyFirst(
        sql.unsafe`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`,
      );
      expect(tables).toContain('migration');
      expect(tables).toContain('campaign');
      expect(tables).not.toContain('only_here');
    } finally {
      await Promise.all([first.drop(), second.drop()]);
    }
  });
});
