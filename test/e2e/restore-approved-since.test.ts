// Tests the words about held changes that were approved and written between the backup and its restore.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { openPlace } from '../support/situation.ts';

const CAT = 'cat@acme.example';
const DAN = 'dan@acme.example';
const ANN = 'ann@acme.example';
const NAMES = [ANN, 'bob@acme.example', CAT, DAN];
const NONE = { count: 0, percent: 0 };

test('a change was approved after the backup → after its restore explain attributes it to somebody else or the bridge, and verify-access does not wait for it', async () => {
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
    expect((await commands.run('approvals', 'show', id)).text).toContain('1 counted');
    const onHold = (await commands.run('explain', DAN)).text.replace(/\s+/g, ' ');
    expect(onHold).toMatch(/made there by others, or by the bridge between the backup of \S+ and the/);
    expect(onHold).toMatch(/read now: changed there by others/);
    const seen = (await commands.run('verify-access', CAT, '--json')).json;
    expect(seen.chain.find(({ stage }: any) => stage === 'applied')).toMatchObject({
      ok: true,
      detail: expect.stringMatching(
        /^the account is closed at the platform already: inactive at the source; no decision .* any more: .*; on hold by/,
      ),
    });
    await commands.run('release');
    await place.idle();
    // The sync after the release reads the account, so nothing of the deactivation waits for a decision any more.
    const { text } = await commands.run('explain', CAT, '--all');
    expect(text).toContain(`${CAT} is at main as desired: inactive`);
    expect(text).not.toContain('by hand');
  } finally {
    await place.stop();
  }
}, 60_000);

test('a change that the backup has as held was approved since → after the restore plan reports it as done, not as waiting', async () => {
  const guard = { deactivate: NONE, removeMembers: NONE, clearAttributes: NONE };
  const attributes = { level: { type: 'string', from: 'title', onEmpty: 'clear' } };
  const place = await openPlace({ target: { guard, attributes } });
  const { commands, idp } = place;
  try {
    const ids = new Map<string, string>();
    for (const name of NAMES) ids.set(name, await idp.createUser(name, { title: 'high' }));
    const [ann = '', bob = '', cat = '', dan = ''] = ids.values();
    const north = await idp.createGroup('north', [ann, bob]);
    await place.idle();
    await idp.patch(`/Groups/${north}`, { op: 'remove', path: `members[value eq "${ann}"]` });
    await idp.patch(`/Users/${bob}`, { op: 'remove', path: 'title' });
    await idp.patch(`/Users/${cat}`, { op: 'replace', path: 'active', value: false });
    await idp.send('DELETE', `/Users/${dan}`);
    await place.idle();
    const file = join(commands.folder, 'b.ndjson');
    await commands.run('backup', file);
    const [{ id, total }] = (await commands.run('approvals', 'list', '--json')).json;
    expect(total).toBe(4);
    await commands.run('approvals', 'approve', id, '--yes');
    await place.idle();
    await place.stopApps();
    await commands.run('restore', file, '--replace', '--yes');

    const saved = join(commands.folder, 'plan.json');
    const { text } = await commands.run('plan', '--full', '--out', saved);
    expect(text.match(/1 change that waits for a decision is done at the platform already/g)).toHaveLength(4);
    const [plan] = JSON.parse(readFileSync(saved, 'utf8')).plans;
    expect(plan.entries.filter(({ action }: any) => action !== 'unmanaged')).toEqual([]);

    await place.start();
    await commands.run('release');
    await place.idle();
    await commands.run('reconcile', '--yes');
    await place.idle();
    expect((await commands.run('approvals', 'list', '--json')).json).toEqual([]);
    expect(await place.platform.user(ANN)).toMatchObject({ active: true, groups: [] });
    expect((await place.platform.user(CAT))?.active).toBe(false);
    expect((await place.platform.user(DAN))?.active).toBe(false);
  } finally {
    await place.stop();
  }
}, 60_000);
