// Tests that the approval of a deactivation does not cover the deletion that follows it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const CYD = 'cyd@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE, delete: NONE } } });
  const [ann, bob] = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idp.send('DELETE', `/Users/${bob}`);
  await place.idle();
  await place.change(({ targets: { main } }) => {
    Object.assign(main, { users: { deprovision: 'delete' } });
  });
  await place.idle();
}, 60_000);
afterEach(() => place.stop());

test('a deletion is to follow a held deactivation → approvals show and explain announce the deletion, which is held in turn after the approval', async () => {
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  const shown = (await place.commands.run('approvals', 'show', id)).text;
  expect(shown).toMatch(/bob@.*deleted at the source; the account is deleted afterwards, if guard[.]delete/);
  expect(shown).not.toMatch(/ann@.*is deleted afterwards/);
  expect((await place.commands.run('explain', BOB)).text).toContain('does not cover the deletion');
  expect((await place.commands.run('explain', ANN)).text).not.toContain('does not cover the deletion');
  await place.commands.run('approvals', 'approve', id, '--yes');
  await eventually('bob is deactivated', async () => (await place.platform.user(BOB))?.active === false);
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
  expect(await place.platform.user(BOB)).toMatchObject({ active: false });
  expect((await place.commands.run('approvals', 'list', '--json')).json).toMatchObject([
    { total: 1, kinds: { deactivate: 0, delete: 1 } },
  ]);
}, 60_000);

test('a deletion is to follow a deactivation that is held, and then rejected → sync --dry-run exits 0 each time, and the account stays active', async () => {
  const dryRun = await place.commands.run('sync', BOB, '--dry-run');
  expect(dryRun.text).toContain('nothing would be written');
  expect(dryRun.code).toBe(0);
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', id, '--yes');
  await place.idle();
  expect(await place.commands.run('sync', BOB, '--dry-run')).toMatchObject({ code: 0 });
  expect((await place.platform.user(BOB))?.active).toBe(true);
}, 60_000);

/** Returns what each command says about the leaver: one line each of exceptions, status, plan and verify-access. */
async function linesAbout(name: string): Promise<string[]> {
  const commands = [['exceptions'], ['status'], ['plan'], ['verify-access', name]];
  const texts: string[] = [];
  for (const each of commands) texts.push((await place.commands.run(...each)).text);
  return texts.map((text, index) =>
    text
      .split('\n')
      .filter((line) => (index === 3 ? line.includes('applied') : line.includes(name)))
      .join('\n'),
  );
}

test('a deletion is to follow a held deactivation → exceptions, status, plan and verify-access announce it, and after the rejection say that the account is not deleted', async () => {
  // The settings have changed since the guard held the deactivation, which a note says too.
  for (const line of await linesAbout(BOB))
    expect(line).toMatch(
      /the deactivation( \(the settings have changed [^)]*\))?; the account is deleted afterwards, if guard\.delete allows it/,
    );
  for (const line of await linesAbout(ANN)) expect(line).not.toMatch(/^$|deleted/);
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file);
  const [plan] = JSON.parse(readFileSync(file, 'utf8')).plans;
  const held = plan.entries.find((each: any) => each.name === BOB && each.action === 'deactivate');
  expect(held.reason).toContain('; the account is deleted afterwards, if guard.delete allows it');

  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', id, '--yes');
  await place.idle();
  const stays = 'the account is not deleted either, although users.deprovision is delete';
  for (const line of await linesAbout(BOB)) expect(line).toContain(stays);
  for (const line of await linesAbout(ANN)) expect(line).not.toMatch(/^$|deleted/);
  expect((await place.commands.run('explain', BOB)).text).toContain(`T${stays.slice(1)}.`);
  expect((await place.commands.run('explain', ANN)).text).not.toContain('not deleted');
}, 60_000);

test('a person with a held deactivation goes out of scope → explain and approvals show say that a deletion follows the deactivation', async () => {
  await place.change(({ targets: { main } }) => {
    Object.assign(main, { users: { deprovision: 'delete', scope: 'userName sw "bob"' } });
  });
  await place.commands.run('sync', ANN);
  await place.idle();
  expect((await place.commands.run('explain', ANN)).text).toContain('does not cover the deletion');
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  const shown = (await place.commands.run('approvals', 'show', id)).text;
  expect(shown).toMatch(
    /ann@.*deactivated at the source; the account is deleted afterwards, if guard[.]delete/,
  );
}, 60_000);

test('an approved deactivation of a leaver is not written yet → verify-access says that a change waits, although the clearing of an attribute was rejected', async () => {
  const limits = { deactivate: NONE, delete: NONE, clearAttributes: NONE };
  await place.change(({ targets: { main } }) => {
    Object.assign(main, {
      guard: limits,
      users: { deprovision: 'delete', scope: 'title ne "external"' },
      attributes: { nick: { type: 'string', from: 'nickName' } },
    });
  });
  const cyd = await place.idp.createUser(CYD, { title: 'internal', nickName: 'cy' });
  await place.idle();
  await place.idp.patch(`/Users/${cyd}`, { op: 'remove', path: 'nickName' });
  await place.idle();
  const decide = async (action: string) => {
    const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
    expect((await place.commands.run('approvals', action, id, '--person', CYD, '--yes')).code).toBe(0);
  };
  await decide('reject');
  await place.idp.patch(`/Users/${cyd}`, { op: 'replace', path: 'title', value: 'external' });
  await place.idle();
  const told = async () => (await linesAbout(CYD))[3];
  expect(await told()).toContain('the account is deleted afterwards, if guard.delete allows it');
  await place.stopApps();
  await decide('approve');
  const afterwards = await told();
  expect(afterwards).toContain('a change waits to be applied');
  expect(afterwards).not.toContain('deleted either');
}, 60_000);
