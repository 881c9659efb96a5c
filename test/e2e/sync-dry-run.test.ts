// Tests the exit code and the words of sync about differences that no sync writes, and about resources that are left alone.
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const target = {
  guard: { deactivate: { count: 0, percent: 0 } },
  users: { scope: 'userType ne "Guest"', protected: ['pat@acme.example'] },
  groups: { exclude: ['^tmp-'] },
};

let place: Place;
let ann = '';
beforeAll(async () => {
  place = await openPlace({ target });
  const { idp } = place;
  ann = await idp.createUser('ann@acme.example');
  await idp.createUser('gus@acme.example', { userType: 'Guest' });
  await idp.createUser('pat@acme.example');
  await idp.createGroup('tmp-one', [ann]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const sync = async (...words: string[]): Promise<[code: number, text: string]> => {
  const { code, text } = await place.commands.run('sync', ...words);
  return [code, text.replaceAll(/\s+/g, ' ')];
};

test.each([
  ['pat@acme.example', 'nothing to do: listed in users.protected'],
  ['gus@acme.example', 'nothing to do: outside users.scope of the target main'],
  ['tmp-one', 'nothing to do: groups.include or groups.exclude leave this group out'],
])('sync of %s says that there is nothing to do and why, with and without --dry-run', async (name, words) => {
  for (const flags of [[], ['--dry-run']]) {
    const [code, text] = await sync(name, ...flags);
    expect([code, text]).toEqual([0, expect.stringContaining(words)]);
    expect(text).not.toContain('equal');
  }
});

test('sync --dry-run of a target on hold exits 2, shows the waiting change and reports the hold', async () => {
  await place.commands.run('hold', '--by', 'olga');
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann' });
  const [code, text] = await sync('ann@acme.example', '--dry-run');
  await place.commands.run('release');
  await place.idle();
  expect([code, text]).toEqual([
    2,
    expect.stringContaining('would write: update ann@acme.example (displayName differs)'),
  ]);
  expect(text).toContain('on hold by olga: nothing is written until scim-bridge release --target main');
});

test('the only difference of a person is held by the guard → sync --dry-run exits 0, and sync names the approval', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  // A leaver is not desired and counts until the account is closed.
  expect((await place.commands.run('status')).text).toMatch(
    /people: 2 in all: 0 linked, 1 held by the guard, 1 left alone/,
  );
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  const [code, text] = await sync('ann@acme.example', '--dry-run');
  expect([code, text]).toEqual([0, expect.stringContaining('nothing would be written')]);
  expect(text).toContain('differs and is not written: deactivate ann@acme.example (held by the guard');
  expect(await sync('ann@acme.example')).toEqual([
    2,
    expect.stringContaining(`the guard holds the deactivation: scim-bridge approvals show ${approval.id}`),
  ]);
  expect((await place.platform.user('ann@acme.example'))?.active).toBe(true);
});

test('an account or group may not be adopted → sync --dry-run lists none of its memberships', async () => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  for (const [path, body] of [
    ['Users', { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'ida@acme.example' }],
    ['Groups', { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Board' }],
  ] as const)
    await fetch(`${platformUrl}/api/scim/v2/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await place.change(({ targets }) => (targets.main.adopt = 'report'));
  const dot = await place.idp.createUser('dot@acme.example');
  const ida = await place.idp.createUser('ida@acme.example');
  await place.idp.createGroup('Board', [dot]);
  await place.idp.createGroup('Sales', [dot, ida]);
  await eventually(
    'all is tried',
    async () => (await place.commands.run('status', '--json')).json[0].dirty === 0,
  );
  for (const [name, waits] of [
    ['ida@acme.example', 'addMember ida@acme.example in Sales (member at the source; waits for the user'],
    ['Board', 'addMember dot@acme.example in Board (member at the source; waits for the group'],
  ] as const) {
    const [code, text] = await sync(name, '--dry-run');
    expect([code, text]).toEqual([0, expect.stringContaining(waits)]);
    expect(text).not.toContain('would write:');
  }
  const plan = (await place.commands.run('plan')).text;
  expect(plan.match(/Group Board: /g)).toHaveLength(1);
});

test('an account was changed at the platform under the policy create-only → sync --dry-run exits 0 and lists the difference as not written, and sync names the policy', async () => {
  await place.idp.createUser('bob@acme.example');
  await place.idle();
  await place.change(({ targets }) => (targets.main.policy = 'create-only'));
  const { scimId } = (await place.platform.user('bob@acme.example')) ?? {};
  const { platformUrl, fixtures } = place.sandbox.ready;
  await fetch(`${platformUrl}/api/scim/v2/Users/${scimId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: 'Somebody' }],
    }),
  });
  await eventually('the change is there', async () => {
    const [code, text] = await sync('bob@acme.example', '--dry-run');
    expect(code).toBe(0);
    return text.includes('nothing would be written differs and is not written: update bob@acme.example');
  });
  expect(await sync('bob@acme.example')).toEqual([
    0,
    expect.stringMatching(
      /nothing to do: the policy create-only leaves 1 difference: scim-bridge sync User:\w+ --dry-run lists it/,
    ),
  ]);
});
