// Tests the limits of one page of a log.
import { Readable } from 'node:stream';
import { page } from '../../../src/http/admin/log-page.ts';
import { systemClock } from '../../../src/support/sources.ts';

test('a page of a log ends before 4 MB of UTF-8, and names the place of its last entry', async () => {
  // 3 bytes each.
  const entry = { text: '€'.repeat(700_000) };
  const steps = Readable.from(['5-0', '4-0', '3-0'].map((place) => ({ place, entry })));
  const { body, headers } = await page({ clock: systemClock }, steps, (found: typeof entry) => found);
  expect(body).toHaveLength(1);
  expect(headers).toMatchObject({ 'X-Next-Before': '5-0' });
});
