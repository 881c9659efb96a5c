// Tests that apply ends as held while a removal of its plan is held, or waits for a held change.
import '../support/load-modules.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isChange } from '../../src/reconcile/entry.ts';
import { parseSaved } from '../../src/reconcile/plan.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let ann = '';
beforeEach(async () => {
  const guard = { deactivate: NONE, removeMembers: NONE };
  place = await openPlace({ target: { guard, groups: { members: 'authoritative' } } });
  ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  await place.idp.createGroup('crew', [bob]);
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const file = (): string => join(place.commands.folder, 'plan.json');
const apply = () => place.commands.run('apply', file(), '--yes');

async function byHand(method: string, path: string, body: object): Promise<any> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const answer = await fetch(`${platformUrl}/api/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify(body),
  });
  expect(answer.ok).toBe(true);
  return answer.status === 204 ? undefined : answer.json();
}
const addToCrew = async (value: string): Promise<void> =>
  byHand('PATCH', `/Groups/${((await place.platform.group('crew')) as any)?.scimId}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'add', path: 'members', value: [{ value }] }],
  });
const membersOfCrew = async (): Promise<number> =>
  ((await place.platform.group('crew')) as any)?.members.length;

/** Saves a plan, and returns the actions of its changes. */
async function save(): Promise<string[]> {
  expect((await place.commands.run('plan', '--full', '--out', file())).code).toBe(2);
  const [saved] = parseSaved(readFileSync(file(), 'utf8'));
  return (saved?.entries ?? []).filter(isChange).map(({ action }) => action);
}

test('the guard holds the planned removal of an unmanaged member → a second apply exits 3, does not report the removal as done, and the member stays', async () => {
  const { id } = await byHand('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'stranger@acme.example',
    active: true,
  });
  await addToCrew(id);
  expect(await save()).toEqual(['removeMember']);
  expect((await apply()).code).toBe(2);
  await place.idle();
  const { code, text } = await apply();
  expect(text).not.toMatch(/nothing is left to do/i);
  expect(code).toBe(3);
  expect(await membersOfCrew()).toBe(2);
}, 30_000);

test('a person whose deactivation is held is added to a group by hand → apply of the planned removal exits 2 (held by the guard), and the membership stays', async () => {
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  await addToCrew((await place.platform.user(ANN))?.scimId ?? '');
  expect(await save()).toEqual(['removeMember']);
  const { code, text } = await apply();
  expect(text).toContain('held: the guard holds 1 change');
  expect(code).toBe(2);
  expect(await membersOfCrew()).toBe(2);
}, 30_000);

test('a person leaves the scope under deprovision: delete, and the guard holds the deactivation → plan lists nothing to write, and reconcile leaves the account active', async () => {
  await place.change(({ targets: { main } }) => {
    main.users = { ...(main.users as object), deprovision: 'delete', scope: `userName ne "${ANN}"` };
  });
  await eventually('held', async () => (await place.commands.run('exceptions')).text.includes(ANN));
  await place.idle();
  const { code, text } = await place.commands.run('plan', '--full');
  expect(text).toContain('nothing to write');
  expect(code).toBe(0);
  expect((await place.commands.run('reconcile', '--yes')).text).toContain('held: the guard holds 1 change');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(true);
}, 90_000);

test('the removal of a member who was added by hand is held or rejected → sync --dry-run lists the removal as not written, with the userName', async () => {
  const { id } = await byHand('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'stranger@acme.example',
    active: true,
  });
  await addToCrew(id);
  const dryRun = async (): Promise<[number, string]> => {
    const { code, text } = await place.commands.run('sync', 'crew', '--dry-run');
    return [code, text.replaceAll(/\s+/g, ' ')];
  };
  const removal = 'removeMember stranger@acme.example in crew';
  expect(await dryRun()).toEqual([2, expect.stringContaining(`would write: ${removal}`)]);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  const unwritten = `nothing would be written differs and is not written: ${removal}`;
  expect(await dryRun()).toEqual([0, expect.stringContaining(`${unwritten} (held by the guard`)]);
  const [{ id: approval }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'reject', approval, '--yes');
  await place.idle();
  expect(await dryRun()).toEqual([0, expect.stringContaining(`${unwritten} (rejected by an operator`)]);
  const { scimId } = (await place.platform.group('crew')) as any;
  await byHand('PATCH', `/Groups/${scimId}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'remove', path: `members[value eq "${id}"]` }],
  });
  expect(await dryRun()).toEqual([0, expect.stringContaining('equal already')]);
}, 60_000);

test('a managed and an unmanaged account are added to a group by hand → approvals show says that neither is a member at the source, and --cause selects each removal', async () => {
  const { id } = await byHand('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'stranger@acme.example',
    active: true,
  });
  await addToCrew(id);
  await addToCrew((await place.platform.user(ANN))?.scimId ?? '');
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  const [{ id: approval }] = (await place.commands.run('approvals', 'list', '--json')).json;
  const shown = async (...options: string[]): Promise<string[]> => {
    const { text } = await place.commands.run('approvals', 'show', approval, ...options);
    return text.match(/\S+,? leaves crew: .*? at the source/g) ?? [];
  };
  const ofAnn = `${ANN} leaves crew: not a member of the group at the source`;
  const ofStranger = 'stranger@acme.example leaves crew: not a member of the group at the source';
  expect((await shown()).toSorted()).toEqual([ofAnn, ofStranger].toSorted());
  expect(await shown('--cause', 'removedFromGroup')).toEqual([ofAnn]);
  expect(await shown('--cause', 'notAtSource')).toEqual([ofStranger]);
}, 30_000);

test('a group has an unmanaged member whose removal needs approval → explain of the group says so in one untruncated sentence', async () => {
  const { id } = await byHand('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'stranger@acme.example',
    active: true,
  });
  await addToCrew(id);
  const { text } = await place.commands.run('explain', 'crew');
  expect(text.replaceAll(/\s+/g, ' ')).toMatch(
    /reconcile that repairs, or scim-bridge sync Group:\w+, asks the guard, which will hold it: a person has to approve it then[.] /,
  );
  expect(text).not.toContain('…');
}, 30_000);

test('a membership added by hand is a difference in verify-access under groups.members: authoritative, and none under owned', async () => {
  const access = async (): Promise<[number, string]> => {
    const { code, text } = await place.commands.run('verify-access', ANN);
    return [code, text.replaceAll(/\s+/g, ' ')];
  };
  expect((await access())[1]).toContain('every value as desired');
  await addToCrew((await place.platform.user(ANN))?.scimId ?? '');
  const reason = 'no member at the source, added at the platform';
  expect((await place.commands.run('explain', ANN)).text.replaceAll(/\s+/g, ' ')).toContain(
    `crew: ${reason}`,
  );
  expect(await access()).toEqual([
    2,
    expect.stringContaining(`differs at the platform: groups: the group crew: ${reason}`),
  ]);
  const { json } = await place.commands.run('verify-access', ANN, '--json');
  expect(json.differences).toEqual([{ name: 'groups', desired: [], actual: ['crew'] }]);
  await place.change(({ targets }) => (targets.main.groups = { members: 'owned' }));
  expect((await access())[1]).toContain('every value as desired');
}, 60_000);
