// Tests how the check of a backup file refuses a file that is no backup.
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkBackup } from '../../../src/ops/backup/backup-file.ts';

const header = { format: 'scim-bridge backup', formatVersion: 1, createdAt: '2026-01-01T00:00:00.000Z' };

test.each([
  ['connections of the header', [{ ...header, connections: null }], 'no backup of scim-bridge'],
  [
    'counts of the end',
    [
      { ...header, connections: {} },
      { end: true, lines: 1, sha256: '', counts: null },
    ],
    'Line 2',
  ],
])('a backup with null as the %s is refused as broken', async (_, lines, message) => {
  const folder = await mkdtemp(join(tmpdir(), 'backup-'));
  const path = join(folder, 'backup.jsonl');
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const file = await open(path);
  try {
    await expect(checkBackup(file, null)).rejects.toMatchObject({
      name: 'BrokenBackup',
      message: expect.stringContaining(message),
    });
  } finally {
    await file.close();
    await rm(folder, { recursive: true });
  }
});
