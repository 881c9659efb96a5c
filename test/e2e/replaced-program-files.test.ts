// Tests a service whose files are replaced while it runs, as by an update of the package.
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startBridgeProcess } from '../support/bridge-process.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { untilIdle } from '../support/idle.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView } from '../support/platform-view.ts';
import { settingsFor } from '../support/settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const ANN = 'ann@acme.example';

/** Copies the built program. @returns its folder */
function copyProgram(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-program-'));
  for (const name of ['dist', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const name of ['node_modules', 'config']) symlinkSync(join(ROOT, name), join(folder, name));
  return folder;
}

test('the Lua files of a running service are deleted → pushes are still accepted and applied', async () => {
  const folder = copyProgram();
  const sandbox = await startSandbox();
  const settings = settingsFor(sandbox);
  const bridge = await startBridgeProcess(settings, 'all', {}, join(folder, 'dist/main.js'));
  try {
    const scripts = join(folder, 'dist/directory');
    const files = readdirSync(scripts, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.lua'))) rmSync(join(scripts, file));
    const idp = createIdp(bridge.baseUrl, TOKEN);
    const ann = await idp.createUser(ANN);
    await idp.createGroup('analysts', [ann]);
    await untilIdle(settings.redis);
    await idp.send('DELETE', `/Users/${ann}`);
    await untilIdle(settings.redis);
    const { users, groups } = await createPlatformView(sandbox.ready.controlUrl).state();
    expect(users.find(({ userName }) => userName === ANN)?.active).toBe(false);
    expect(groups.find(({ displayName }) => displayName === 'analysts')?.members).toEqual([]);
  } finally {
    await bridge.stop();
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
