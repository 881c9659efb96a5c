// Writes the pictures of docs/admin.md (`npm run screenshots`): the tests of the operators' page start a bridge with the
// sandbox and take them in Chromium.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const VIEWS = ['overview', 'approvals', 'person', 'doctor'];
const TEST = 'test/contract/admin/page.test.ts';

const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-screenshots-'));
const pictureOf = (view) => join(folder, `${view}.png`);
try {
  const run = spawnSync('npm', ['test', '--silent', '--', TEST], {
    stdio: 'inherit',
    env: { ...process.env, ADMIN_SCREENSHOTS: folder },
  });
  const missing = VIEWS.filter((view) => !existsSync(pictureOf(view)));
  if (run.status !== 0 || missing.length > 0) {
    console.error('No pictures were taken: the tests failed, or Chromium is not on PATH.');
    process.exitCode = 1;
  } else {
    for (const view of VIEWS) copyFileSync(pictureOf(view), `docs/images/${view}.png`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
