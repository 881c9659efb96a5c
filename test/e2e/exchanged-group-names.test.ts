// Tests groups whose new names form a circle: every member ends with the access of the name that the source wants.
import '../support/load-modules.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { parseLink, toLinkText } from '../../src/directory/outbox/link.ts';
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { foundGroups, isIn, LONG_MS, rename } from '../support/named-groups.ts';
import { createPlatformView } from '../support/platform-view.ts';
import { createScenarios } from '../support/scenario.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };

const test = createScenarios(
  () => openPlace({ target: { guard: { delete: NONE } } }),
  (place) => place.stop(),
);

/** Pushes changes while the syncs are on hold, so the platform never sees the states in between. */
async function pushOnHold({ commands }: Place, push: () => Promise<unknown>): Promise<void> {
  await commands.run('hold', '--note', 'maintenance');
  await push();
  await commands.run('release', '--note', 'done');
}

const lettersOf = async ({ commands }: Place): Promise<unknown> =>
  (await commands.run('dead-letters', 'list', '--json')).json;

/** Returns the names of all groups at the platform, sorted. */
const groupNames = async ({ platform }: Place): Promise<string[]> =>
  (await platform.state()).groups.map(({ displayName }) => displayName).sort();

test('two groups exchange their names at the source → they have these names at the platform, and no temporary name remains', async (place) => {
  const { idp, platform } = place;
  const [sales, ops] = await foundGroups(place, ['sales', 'ops']);
  await pushOnHold(place, async () => {
    await rename(idp, ops, 'tmp');
    await rename(idp, sales, 'ops');
    await rename(idp, ops, 'sales');
  });
  await eventually('sales is called ops', () => isIn(platform, 'sales', 'ops'), LONG_MS);
  await eventually('ops is called sales', () => isIn(platform, 'ops', 'sales'), LONG_MS);
  expect(await groupNames(place)).toEqual(['ops', 'sales']);
  expect(await lettersOf(place)).toEqual([]);
}, 60_000);

test('three groups exchange their names in a circle at the source → they have these names at the platform', async (place) => {
  const { idp, platform } = place;
  const names = ['north', 'east', 'south'];
  const ids = await foundGroups(place, names);
  await pushOnHold(place, async () => {
    await rename(idp, ids[0], 'between');
    await rename(idp, ids[2], 'north');
    await rename(idp, ids[1], 'south');
    await rename(idp, ids[0], 'east');
  });
  await eventually('north', () => isIn(platform, 'north', 'east'), LONG_MS);
  await eventually('east', () => isIn(platform, 'east', 'south'), LONG_MS);
  await eventually('south', () => isIn(platform, 'south', 'north'), LONG_MS);
  expect(await lettersOf(place)).toEqual([]);
}, 60_000);

test('a group whose new name belongs to an unmanaged group keeps its name, and no group gets a temporary name', async (place) => {
  const { idp, sandbox } = place;
  const [own] = await foundGroups(place, ['own']);
  const answer = await fetch(`${sandbox.ready.platformUrl}/api/scim/v2/Groups`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandbox.ready.fixtures.apiKeys.admin ?? ''}`,
      'content-type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'made by hand',
    }),
  });
  expect(answer.status).toBe(201);
  await rename(idp, own, 'made by hand');
  await eventually(
    'the dead letter',
    async () => ((await lettersOf(place)) as unknown[]).length === 1,
    LONG_MS,
  );
  expect(await lettersOf(place)).toMatchObject([{ ref: `Group:${own ?? ''}`, reason: 'Conflict' }]);
  expect(await groupNames(place)).toEqual(['made by hand', 'own']);
}, 60_000);

test('a group with a held deletion has the name that a second group gets, whose name a third group gets → the second and third wait, and are renamed after the approval', async (place) => {
  const { commands, idp, platform } = place;
  const [first, second, third] = await foundGroups(place, ['first', 'second', 'third']);
  await pushOnHold(place, async () => {
    await idp.send('DELETE', `/Groups/${first ?? ''}`);
    await rename(idp, second, 'first');
    await rename(idp, third, 'second');
  });
  const reasonOf = async (ref: string) =>
    (await commands.run('explain', ref, '--json')).json?.[0]?.condition?.reason;
  await eventually('the second waits', async () => (await reasonOf(second ?? '')) === 'Held', LONG_MS);
  await eventually('the third waits', async () => (await reasonOf(third ?? '')) === 'Held', LONG_MS);
  const { json } = await commands.run('approvals', 'list', '--json');
  const id = (json as { id: string }[])[0]?.id ?? '';
  expect((await commands.run('approvals', 'approve', id, '--yes')).code).toBe(0);
  for (const group of [second, third]) await commands.run('sync', `Group:${group ?? ''}`);
  await eventually('second', () => isIn(platform, 'second', 'first'), LONG_MS);
  await commands.run('sync', `Group:${third ?? ''}`);
  await eventually('third', () => isIn(platform, 'third', 'second'), LONG_MS);
  expect(await lettersOf(place)).toEqual([]);
}, 90_000);

test('explain of a group that waits for its new name shows no platform failure, and its members see the old name', async (place) => {
  const { commands, idp, platform } = place;
  const ids = await foundGroups(place, ['red', 'blue']);
  // The group with the smaller ref gets the temporary name, so the platform refuses its writes.
  const [otherId = '', waitingId = ''] = ids.toSorted();
  const [failing, waiting] = otherId === ids[0] ? (['red', 'blue'] as const) : (['blue', 'red'] as const);
  const { groups } = await platform.state();
  const failingId = groups.find(({ displayName }) => displayName === failing)?.scimId ?? '';
  const rules = [{ method: 'PATCH', path: `/Groups/${failingId}$`, times: 1000, status5xx: true }];
  await platform.control('PATCH', '/faults', { rules });
  await rename(idp, otherId, 'tmp');
  await rename(idp, waitingId, failing);
  await rename(idp, otherId, waiting);
  const explained = async (name: string) => (await commands.run('explain', name, '--json')).json?.[0];
  await eventually(
    'the group waits',
    async () => (await explained(`Group:${waitingId}`))?.link.waitsForName === true,
    LONG_MS,
  );
  const group = await explained(`Group:${waitingId}`);
  expect(group.reasons.join(' ')).toContain('another group is to give it up, or what has it');
  expect(group.reasons.join(' ')).not.toContain('The platform has failed');
  const person = await explained(`${waiting}@acme.example`);
  expect(person.memberships).toMatchObject([{ name: failing, state: 'toAdd' }]);
  expect(person.memberships[0].because).toContain(`still called ${waiting} at the platform`);
  expect(person.memberships[0].because).toContain('the person has the access of that name');
  const report = (await commands.run('verify-access', `${waiting}@acme.example`, '--json')).json;
  expect(report.differences).toEqual([{ name: 'groups', desired: [failing], actual: [waiting] }]);
  const applied = report.chain.find(({ stage }: { stage: string }) => stage === 'applied');
  expect(applied.detail).toContain(`the group ${failing} is still called ${waiting} at the platform`);
  await platform.control('PATCH', '/faults', { rules: [] });
  for (const [person, group] of [
    [waiting, failing],
    [failing, waiting],
  ] as const)
    await eventually(person, () => isIn(platform, person, group), LONG_MS);
  const after = (await commands.run('verify-access', `${waiting}@acme.example`, '--json')).json;
  expect(after.differences).toEqual([]);
}, 90_000);

test('the deletion of a group is rejected → this group keeps its name, and so do the groups that wait in turn for it', async (place) => {
  const { commands, idp, platform } = place;
  const [first, second, third] = await foundGroups(place, ['first', 'second', 'third']);
  await idp.send('DELETE', `/Groups/${first ?? ''}`);
  const held = async (): Promise<string | undefined> =>
    ((await commands.run('approvals', 'list', '--json')).json as { id: string }[])[0]?.id;
  await eventually('the deletion is held', async () => (await held()) !== undefined, LONG_MS);
  await commands.run('approvals', 'reject', (await held()) ?? '', '--yes');
  await rename(idp, second, 'first');
  await eventually(
    'the second is a dead letter',
    async () => ((await lettersOf(place)) as unknown[]).length === 1,
    LONG_MS,
  );
  await rename(idp, third, 'second');
  await eventually(
    'the third is a dead letter',
    async () => ((await lettersOf(place)) as unknown[]).length === 2,
    LONG_MS,
  );
  for (const name of ['first', 'second', 'third']) expect(await isIn(platform, name, name)).toBe(true);
}, 90_000);

test('groups exchange names in a circle at two targets of different speed → they have these names at both targets', async (place) => {
  const { platform } = place;
  const other = await startSandbox();
  try {
    await place.change(({ connections, targets }) => {
      const { platformUrl, fixtures } = other.ready;
      Object.assign((connections as { default: object }).default, { targets: ['main', 'other'] });
      Object.assign(targets, { other: { ...targets.main, url: platformUrl, token: fixtures.apiKeys.admin } });
    });
    const { idp } = place;
    const platforms = [platform, createPlatformView(other.ready.controlUrl)];
    const [sales, ops] = await foundGroups(place, ['sales', 'ops']);
    const rules = [{ method: 'PATCH', path: '/Groups', times: 4, status5xx: true }];
    await platform.control('PATCH', '/faults', { rules });
    await rename(idp, ops, 'tmp');
    await rename(idp, sales, 'ops');
    await rename(idp, ops, 'sales');
    for (const each of platforms) {
      await eventually('sales is called ops', () => isIn(each, 'sales', 'ops'), LONG_MS);
      await eventually('ops is called sales', () => isIn(each, 'ops', 'sales'), LONG_MS);
    }
    expect(await lettersOf(place)).toEqual([]);
  } finally {
    await place.stopApps();
    await other.stop();
  }
}, 90_000);

test('the write of a temporary group name got no answer → the group gets its new name once the other group is renamed', async (place) => {
  const { platform, redis } = place;
  const [sales = '', ops] = await foundGroups(place, ['sales', 'ops']);
  const { groups } = await platform.state();
  const pathOf = (name: string): string =>
    `/Groups/${groups.find(({ displayName }) => displayName === name)?.scimId ?? ''}`;
  await place.stopApps();
  await place.start('api');
  const { idp } = place;
  await rename(idp, ops, 'tmp');
  await rename(idp, sales, 'ops');
  await rename(idp, ops, 'sales');
  // The temporary name and this link are left by a process that waited for a minute and was killed right after the write.
  await byHand(place, 'PATCH', pathOf('sales'), {
    op: 'replace',
    path: 'displayName',
    value: `${sales}.ops`,
  });
  const links = await place.key(':links:main');
  const link = parseLink((await redis.hget(links, `Group:${sales}`)) ?? '');
  const core = { displayName: `${sales}.ops` };
  const killed = { ...link, core, unsure: ['displayName'], successionAttempts: 20 };
  await redis.hset(links, `Group:${sales}`, toLinkText(killed));
  const rules = [{ method: 'PATCH', path: `${pathOf('ops')}$`, times: 3, status5xx: true }];
  await platform.control('PATCH', '/faults', { rules });
  await place.start('worker');
  await eventually('ops is called sales', () => isIn(platform, 'ops', 'sales'), LONG_MS);
  await eventually('sales is called ops', () => isIn(platform, 'sales', 'ops'), LONG_MS);
  expect(await lettersOf(place)).toEqual([]);
}, 90_000);

/**
 * Leaves sales with its temporary name `<id>.ops`, as a kill in a circle of names with ops does; no worker runs.
 * @returns both ids
 */
async function leaveAside(
  place: Place,
  before?: (sales: string) => Promise<void>,
): Promise<{ sales: string; ops: string }> {
  const { platform, redis } = place;
  const [sales = '', ops = ''] = await foundGroups(place, ['sales', 'ops']);
  const { groups } = await platform.state();
  const scimId = groups.find(({ displayName }) => displayName === 'sales')?.scimId ?? '';
  await before?.(sales);
  await place.stopApps();
  await place.start('api');
  await rename(place.idp, ops, 'tmp');
  await rename(place.idp, sales, 'ops');
  await rename(place.idp, ops, 'sales');
  const displayName = `${sales}.ops`;
  await byHand(place, 'PATCH', `/Groups/${scimId}`, {
    op: 'replace',
    path: 'displayName',
    value: displayName,
  });
  const links = await place.key(':links:main');
  const link = parseLink((await redis.hget(links, `Group:${sales}`)) ?? '');
  await redis.hset(links, `Group:${sales}`, toLinkText({ ...link, core: { displayName } }));
  return { sales, ops };
}

test('the settings exclude a group that has a temporary name → the group is an exception until somebody renames it', async (place) => {
  const { commands, platform } = place;
  const { sales } = await leaveAside(place);
  await place.change(({ targets }) => {
    Object.assign(targets.main as object, { groups: { exclude: ['^ops$'] } });
  });
  const letters = async () => (await lettersOf(place)) as { ref: string; reason: string; message: string }[];
  await eventually('the dead letter', async () => (await letters()).length === 1, LONG_MS);
  expect(await letters()).toMatchObject([{ ref: `Group:${sales}`, reason: 'TemporaryName' }]);
  const { text } = await commands.run('explain', `Group:${sales}`);
  expect(text).toContain(`${sales}.ops`);
  expect(text).toContain('Rename the group at the platform');
  const plan = (await commands.run('plan')).text;
  expect(plan).toContain(`Group ${sales}.ops`);
  const { groups } = await platform.state();
  const group = groups.find(({ displayName }) => displayName === `${sales}.ops`);
  await byHand(place, 'PATCH', `/Groups/${group?.scimId ?? ''}`, {
    op: 'replace',
    path: 'displayName',
    value: 'former sales',
  });
  expect((await commands.run('dead-letters', 'retry', `Group:${sales}`)).code).toBe(0);
  await eventually('no dead letter', async () => (await letters()).length === 0, LONG_MS);
}, 90_000);

test('the settings exclude a group with a temporary name and a held removal → the removal is no longer held', async (place) => {
  const { commands } = place;
  const held = async () => (await commands.run('approvals', 'list', '--json')).json as unknown[];
  await place.change(({ targets }) => {
    Object.assign(targets.main?.guard as object, { removeMembers: NONE });
  });
  await leaveAside(place, async (sales) => {
    await place.idp.patch(`/Groups/${sales}`, { op: 'remove', path: 'members' });
    await eventually('the removal is held', async () => (await held()).length === 1, LONG_MS);
  });
  await place.change(({ targets }) => {
    Object.assign(targets.main as object, { groups: { exclude: ['^ops$'] } });
  });
  await eventually('nothing is held', async () => (await held()).length === 0, LONG_MS);
}, 90_000);

test('the deletion of a group with a temporary name is held → the group keeps this name, although the source has renamed it since', async (place) => {
  const { commands, platform } = place;
  const { sales } = await leaveAside(place);
  // The source takes away the name that the group wanted in the circle.
  await rename(place.idp, sales, 'eng');
  await place.idp.send('DELETE', `/Groups/${sales}`);
  await place.start('worker');
  await eventually('ops is called sales', () => isIn(platform, 'ops', 'sales'), LONG_MS);
  const message = async () => (await commands.run('exceptions', '--json')).json?.[0]?.message as unknown;
  await eventually(
    'it is told',
    async () => String(await message()).includes(`called ${sales}.ops`),
    LONG_MS,
  );
  expect(await message()).toContain('the guard holds the deletion');
  expect(await groupNames(place)).toEqual([`${sales}.ops`, 'sales'].sort());
  const { json } = await commands.run('approvals', 'list', '--json');
  expect((await commands.run('approvals', 'approve', json?.[0]?.id, '--yes')).code).toBe(0);
  await eventually('it is gone', async () => (await groupNames(place)).join() === 'sales', LONG_MS);
}, 90_000);

test('a group whose deletion is held keeps its temporary name when the settings exclude the name that the group was to get', async (place) => {
  const { commands, platform } = place;
  const { sales } = await leaveAside(place);
  await place.idp.send('DELETE', `/Groups/${sales}`);
  await place.change(({ targets }) => {
    Object.assign(targets.main as object, { groups: { exclude: ['^ops$'] } });
  });
  const held = async () => (await commands.run('approvals', 'list', '--json')).json as unknown[];
  await eventually('the deletion is held', async () => (await held()).length === 1, LONG_MS);
  await eventually('ops is called sales', () => isIn(platform, 'ops', 'sales'), LONG_MS);
  await commands.run('sync', `Group:${sales}`);
  expect(await groupNames(place)).toEqual([`${sales}.ops`, 'sales'].sort());
}, 90_000);

test('the source deletes an adopted group that has a temporary name from the bridge → a dead letter asks a person to rename it', async (place) => {
  const { commands, platform, redis } = place;
  const { sales } = await leaveAside(place);
  const links = await place.key(':links:main');
  const link = parseLink((await redis.hget(links, `Group:${sales}`)) ?? '');
  await redis.hset(links, `Group:${sales}`, toLinkText({ ...link, origin: 'adopted' }));
  await place.idp.send('DELETE', `/Groups/${sales}`);
  await place.start('worker');
  await eventually('ops is called sales', () => isIn(platform, 'ops', 'sales'), LONG_MS);
  const letters = async () => (await lettersOf(place)) as { ref: string; reason: string }[];
  await eventually('the dead letter', async () => (await letters()).length === 1, LONG_MS);
  expect(await letters()).toMatchObject([{ ref: `Group:${sales}`, reason: 'TemporaryName' }]);
  const { text } = await commands.run('explain', `Group:${sales}`);
  expect(text.replaceAll(/\s+/g, ' ')).toContain('or delete it there');
  const { groups } = await platform.state();
  const group = groups.find(({ displayName }) => displayName === `${sales}.ops`);
  await byHand(place, 'PATCH', `/Groups/${group?.scimId ?? ''}`, {
    op: 'replace',
    path: 'displayName',
    value: 'former sales',
  });
  expect((await commands.run('dead-letters', 'retry', `Group:${sales}`)).code).toBe(0);
  await eventually('no dead letter', async () => (await letters()).length === 0, LONG_MS);
  await eventually('no link', async () => (await redis.hexists(links, `Group:${sales}`)) === 0, LONG_MS);
}, 90_000);

test('the answer to a rename is lost and the wanted name belongs to a group whose rename is refused → both groups become dead letters without a temporary name', async (place) => {
  const { platform, redis } = place;
  const [sales = '', ops = ''] = await foundGroups(place, ['sales', 'ops']);
  const { groups } = await platform.state();
  const opsId = groups.find(({ displayName }) => displayName === 'ops')?.scimId ?? '';
  await place.stopApps();
  await place.start('api');
  await rename(place.idp, ops, 'other');
  await rename(place.idp, sales, 'ops');
  const links = await place.key(':links:main');
  const link = parseLink((await redis.hget(links, `Group:${sales}`)) ?? '');
  const late = { ...link, unsure: ['displayName'], successionAttempts: 20 };
  await redis.hset(links, `Group:${sales}`, toLinkText(late));
  // The other group keeps its name and stays pending for a few attempts.
  const other = parseLink((await redis.hget(links, `Group:${ops}`)) ?? '');
  await redis.hset(links, `Group:${ops}`, toLinkText({ ...other, successionAttempts: 18 }));
  const status5xx = { share: 1, status: 409 };
  const rules = [{ method: 'PATCH', path: `/Groups/${opsId}$`, times: 1000, status5xx }];
  await platform.control('PATCH', '/faults', { rules });
  await place.start('worker');
  const count = async () => ((await lettersOf(place)) as unknown[]).length;
  await eventually('both are dead letters', async () => (await count()) === 2, LONG_MS);
  expect(await lettersOf(place)).toMatchObject([{ reason: 'Conflict' }, { reason: 'Conflict' }]);
  expect(await groupNames(place)).toEqual(['ops', 'sales']);
}, 90_000);
