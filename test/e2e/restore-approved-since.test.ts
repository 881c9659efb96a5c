// Tests the words about held changes that were approved and written between the backup and its restore.
import '../support/load-modules.ts';
import { join } from 'node:path';
import { openPlace } from '../support/situation.ts';

const CAT = 'cat@acme.example';
const DAN = 'dan@acme.example';
const NAMES = ['ann@acme.example', 'bob@acme.example', CAT, DAN];

test('after a restore, changes that were approved since the backup are told as written by others or by the bridge', async () => {
  const place = await openPlace({ target: { guard: { deactivate: { count: 1, percent: 50 } } } });
  const { commands, idp } = place;
  try {
    for (const name of NAMES) {
      const id = await idp.createUser(name);
      await place.idle();
      if (name === DAN) await idp.send('DELETE', `/Users/${id}`);
      else await idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    }
    await place.idle();
    const file = join(commands.folder, 'b.ndjson');
    await commands.run('backup', file);
    const [{ id }] = (await commands.run('approvals', 'list', '--json')).json;
    await commands.run('approvals', 'approve', id, '--yes');
    await place.idle();
    expect((await place.platform.user(CAT))?.active).toBe(false);
    await place.stopApps();
    await commands.run('restore', file, '--replace', '--yes');
    await place.start();
    expect((await commands.run('approvals', 'show', id)).text).toContain('1 written');
    expect((await commands.run('explain', DAN)).text).toMatch(/, active in the backup of\s+\S+;/);
    await commands.run('release');
    await place.idle();
    const { text } = await commands.run('explain', CAT, '--all');
    expect(text.replace(/\s+/g, ' ')).toMatch(
      /made there by others, or by the bridge between the backup of \S+ and the restore[.] .* read now: changed there by others/,
    );
    expect(text).not.toContain('by hand');
  } finally {
    await place.stop();
  }
}, 60_000);
