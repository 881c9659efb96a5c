// Tests that a held or rejected change counts as done after somebody made it by hand at the platform, and leaves the
// lists at the next reconcile.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const CID = 'cid@acme.example';
const NONE = { count: 0, percent: 0 };
const DONE = 'done at the platform already';
const DONE_IN: Record<string, string> = {
  held: '1 change that waits for a decision is done at the platform already',
  rejected: '1 rejected change is done at the platform already',
};

let place: Place;
const ids = new Map<string, string>();
beforeEach(async () => {
  const attributes = { team: { type: 'string', from: 'nickName' } };
  const guard = { deactivate: NONE, delete: NONE, removeMembers: NONE, clearAttributes: NONE };
  place = await openPlace({ target: { guard, attributes } });
  for (const name of [ANN, BOB, CID]) ids.set(name, await place.idp.createUser(name, { nickName: 'red' }));
  await place.idle();
});
afterEach(() => place.stop());

const idOf = (name: string): string => ids.get(name) ?? '';
const outputOf = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;

const scimIdOf = async (name: string): Promise<string> => (await place.platform.user(name))?.scimId ?? '';
const groupIdOf = async (name: string): Promise<string> => (await place.platform.group(name))?.scimId ?? '';

async function leave(name: string): Promise<void> {
  await place.idp.patch(`/Users/${idOf(name)}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}
async function reject(): Promise<void> {
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  expect((await place.commands.run('approvals', 'reject', id, '--yes')).code).toBe(0);
  await place.idle();
}
/** Runs a reconcile, and expects that nothing waits for a person. */
async function expectEnded(name: string, state = 'held'): Promise<void> {
  expect(await outputOf('plan')).toContain(DONE_IN[state]);
  expect(await outputOf('plan')).not.toContain('is shown only and not changed');
  const explained = await outputOf('explain', name, '--all');
  expect(explained).toMatch(/as the source wants it: .* (made there by hand|is done there already)/);
  expect(explained).not.toMatch(/approve or reject|withdraw|as last written|keeps what it has/);
  const { code } = await place.commands.run('reconcile');
  expect(code).toBe(0);
  await place.idle();
  expect(await outputOf('exceptions')).toBe('No exceptions.');
  expect(await outputOf('approvals', 'list')).toBe('The guard holds nothing.');
  expect(await outputOf('plan')).toContain('no changes. The platform is as desired.');
}

test.each(['held', 'rejected'])(
  'a %s deactivation counts as done when the account was deactivated at the platform',
  async (state) => {
    await leave(ANN);
    if (state === 'rejected') await reject();
    expect(await outputOf('plan')).not.toContain(DONE);
    expect(await outputOf('explain', ANN, '--all')).not.toContain('by hand');
    await byHand(place, 'PATCH', `/Users/${await scimIdOf(ANN)}`, {
      op: 'replace',
      path: 'active',
      value: false,
    });
    await expectEnded(ANN, state);
    expect(await outputOf('explain', ANN)).toContain(`${ANN} is at main as desired: inactive`);
    expect(await outputOf('log', '--resource', ANN)).toContain(
      'somebody else made the deactivation at the platform',
    );
  },
  30_000,
);

test("a leaver's account is reactivated by hand and its new deactivation is held → the hold ends when somebody deactivates the account", async () => {
  await leave(ANN);
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  const setActive = async (value: boolean) =>
    byHand(place, 'PATCH', `/Users/${await scimIdOf(ANN)}`, { op: 'replace', path: 'active', value });
  await setActive(true);
  await place.commands.run('reconcile');
  await place.idle();
  expect(await outputOf('exceptions')).toContain('held by the guard, as of the last sync: the deactivation');
  await setActive(false);
  await expectEnded(ANN);
}, 30_000);

test('a held deactivation ends when somebody deletes the account of the deleted person at the platform', async () => {
  await place.idp.send('DELETE', `/Users/${idOf(ANN)}`);
  await place.idle();
  await byHand(place, 'DELETE', `/Users/${await scimIdOf(ANN)}`);
  await expectEnded(ANN);
  expect(await outputOf('log')).toContain('somebody else made the deletion');
}, 30_000);

test.each(['held', 'rejected'])(
  'a %s removal ends when the member was removed at the platform, and other removals keep waiting',
  async (state) => {
    const crew = await place.idp.createGroup('crew', [idOf(ANN), idOf(BOB), idOf(CID)]);
    await place.idle();
    await place.idp.send('PUT', `/Groups/${crew}`, { displayName: 'crew', members: [{ value: idOf(CID) }] });
    await place.idle();
    if (state === 'rejected') await reject();
    const takeOut = async (name: string) =>
      byHand(place, 'PATCH', `/Groups/${await groupIdOf('crew')}`, {
        op: 'remove',
        path: `members[value eq "${await scimIdOf(name)}"]`,
      });
    await takeOut(ANN);
    expect(await outputOf('plan')).toContain(DONE_IN[state]);
    const explainedGroup = await outputOf('explain', 'crew', '--all');
    expect(explainedGroup).toContain('1 change of these is done at the platform already');
    // The platform shows that Ann is not in the group any more.
    expect(explainedGroup).toContain('1 member still to be removed');
    expect(explainedGroup).toContain(`- ${BOB} (`);
    expect(explainedGroup).not.toContain(`- ${ANN} (`);
    if (state === 'held')
      for (const command of ['status', 'exceptions'])
        expect(await outputOf(command)).toMatch(/held by the guard.*, as of the last sync: the removal/);
    const explained = await outputOf('explain', ANN, '--all');
    expect(explained).toContain('as desired: active, in 0 groups');
    expect(explained).toContain('At the platform it is not in crew: the next reconcile takes');
    expect(explained).not.toMatch(/still to be left|as last written| holds :/);
    expect(await outputOf('sync', ANN, '--dry-run')).not.toContain('removeMember');
    expect(await outputOf('sync', BOB, '--dry-run')).toContain(`removeMember ${BOB} in crew`);
    await place.commands.run('reconcile');
    await place.idle();
    expect(await outputOf('exceptions')).toContain('crew');
    expect((await place.platform.group('crew'))?.members).toHaveLength(2);
    expect(await outputOf('log', '--resource', ANN)).toContain('this member is not in crew at the platform');
    // No mark caused the entry.
    expect(await outputOf('log', '--resource', ANN, '--status', 'skipped', '--json')).toContain(
      '"generation":"0"',
    );
    expect(await outputOf('log', '--resource', BOB)).not.toContain('somebody else');
    if (state === 'held')
      expect((await place.commands.run('approvals', 'list', '--json')).json[0].kinds.removeMembers).toBe(1);
    await takeOut(BOB);
    await expectEnded('crew', state);
  },
  30_000,
);

test('a held deletion counts as done when the group was deleted at the platform', async () => {
  const crew = await place.idp.createGroup('crew', [idOf(ANN)]);
  await place.idle();
  await place.idp.send('DELETE', `/Groups/${crew}`);
  await place.idle();
  await byHand(place, 'DELETE', `/Groups/${await groupIdOf('crew')}`);
  expect(await outputOf('plan')).toContain(
    'changes that wait for a decision are done at the platform already',
  );
  expect((await place.commands.run('reconcile')).code).toBe(0);
  await place.idle();
  expect(await outputOf('exceptions')).toBe('No exceptions.');
  expect(await outputOf('approvals', 'list')).toBe('The guard holds nothing.');
  expect(await outputOf('log')).toContain('somebody else made the deletion');
}, 30_000);

test.each(['held', 'rejected'])(
  'a %s clearing of an attribute counts as done when the attribute was cleared at the platform',
  async (state) => {
    await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'remove', path: 'nickName' });
    await place.idle();
    if (state === 'rejected') await reject();
    await byHand(place, 'PATCH', `/Users/${await scimIdOf(ANN)}`, {
      op: 'remove',
      path: 'urn:cube:params:1.0:UserAttribute:team',
    });
    expect((await place.platform.user(ANN))?.attributes.team ?? null).toBe(null);
    await expectEnded(ANN, state);
    expect(await outputOf('log', '--resource', ANN)).toContain(
      'somebody else made the emptying of team at the platform',
    );
  },
  30_000,
);

test('somebody closes the account of a leaver with a held deactivation at the platform → explain lists the handover of the work as due later', async () => {
  await place.change(({ targets: { main } }) => {
    main.handover = { deployment: 1, folder: 'Team', afterDays: 30 };
  });
  await leave(ANN);
  await byHand(place, 'PATCH', `/Users/${await scimIdOf(ANN)}`, {
    op: 'replace',
    path: 'active',
    value: false,
  });
  await place.commands.run('reconcile');
  await place.idle();
  expect((await place.commands.run('explain', ANN, '--json')).json[0].handover).toMatchObject({
    state: 'later',
  });
}, 30_000);

test('a held clearing of an attribute stays held if the value was set again at the platform before the sync', async () => {
  await place.idp.patch(`/Users/${idOf(ANN)}`, { op: 'remove', path: 'nickName' });
  await place.idle();
  const path = 'urn:cube:params:1.0:UserAttribute:team';
  await byHand(place, 'PATCH', `/Users/${await scimIdOf(ANN)}`, { op: 'remove', path });
  await place.commands.run('hold', '--by', 'olga');
  await place.commands.run('reconcile');
  await byHand(place, 'PATCH', `/Users/${await scimIdOf(ANN)}`, { op: 'replace', path, value: 'red' });
  await place.commands.run('release');
  await place.idle();
  expect((await place.platform.user(ANN))?.attributes.team).toBe('red');
  expect((await place.commands.run('approvals', 'list', '--json')).json[0]?.kinds.clearAttributes).toBe(1);
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
  expect((await place.platform.user(ANN))?.attributes.team ?? null).toBe(null);
  expect(await outputOf('log', '--resource', ANN)).not.toContain('somebody else');
}, 30_000);

test.each(['held', 'rejected'])(
  'somebody deletes or closes the account at the platform → verify-access, plan and explain ask for no decision about a %s deactivation',
  async (state) => {
    await leave(ANN);
    await leave(BOB);
    if (state === 'rejected') await reject();
    await byHand(place, 'DELETE', `/Users/${await scimIdOf(ANN)}`);
    await byHand(place, 'PATCH', `/Users/${await scimIdOf(BOB)}`, {
      ...{ op: 'replace', path: 'active', value: false },
    });
    const verified = async (name: string) =>
      (await outputOf('verify-access', name)).replaceAll(/\s+/g, ' ').split('visible')[0];
    expect(await verified(ANN)).toContain(
      'the account is gone at the platform already: inactive at the source; no decision',
    );
    expect(await verified(BOB)).toContain(
      'the account is closed at the platform already: inactive at the source; no decision',
    );
    const plan = (await outputOf('plan')).replaceAll(/\s+/g, ' ');
    expect(plan.split(DONE_IN[state] ?? '')).toHaveLength(3);
    const explained = await outputOf('explain', ANN, '--all');
    expect(explained).toContain('the next reconcile');
    expect(explained).not.toMatch(/approve or reject|is left alone|stays open|has to approve/);
    await place.commands.run('reconcile', '--yes');
    await place.idle();
    expect(await outputOf('exceptions')).toBe('No exceptions.');
    expect((await place.platform.user(ANN))?.active).toBe(false);
  },
  60_000,
);

test('the account of a leaver with a held deactivation is deleted, and another account gets the userName → the deactivation stays held, and plan does not call it done', async () => {
  await leave(ANN);
  await byHand(place, 'DELETE', `/Users/${await scimIdOf(ANN)}`);
  const { platformUrl, fixtures } = place.sandbox.ready;
  const made = await send(platformUrl, 'POST', '/api/scim/v2/Users', {
    headers: {
      authorization: `Bearer ${fixtures.apiKeys.admin}`,
      'content-type': 'application/scim+json',
    },
    body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: ANN, active: true },
  });
  expect(made.status).toBe(201);
  const plan = await outputOf('plan');
  expect(plan).toContain('another one carries its name');
  expect(plan).not.toContain(DONE);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(true);
  expect((await place.commands.run('approvals', 'list', '--json')).json[0]?.kinds.deactivate).toBe(1);
}, 30_000);
