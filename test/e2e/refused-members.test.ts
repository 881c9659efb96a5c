// Tests that every command names the members whose addition to a group, or removal from it, the platform refuses.
import '../support/load-modules.ts';
import { startFront, type Front } from '../support/front.ts';
import { openPlace, type Place } from '../support/situation.ts';

const [ANN, BOB, CID] = ['ann@acme.example', 'bob@acme.example', 'cid@acme.example'] as const;

let front: Front;
let place: Place;
let ids: string[];
let team: string;
beforeAll(async () => {
  place = await openPlace({});
  front = await startFront();
  front.platformUrl = place.sandbox.ready.platformUrl;
  await place.change(({ targets: { main } }) => {
    main.url = front.url;
  });
  ids = [];
  for (const name of [ANN, BOB, CID]) ids.push(await place.idp.createUser(name));
  team = await place.idp.createGroup('Team');
  await place.idle();
}, 60_000);
afterAll(async () => {
  await place.stop();
  front.stop();
});

/** Lets the platform answer each change of the group with this status. */
async function refuse(status: number): Promise<void> {
  const path = `/Groups/${(await place.platform.group('Team'))?.scimId ?? ''}`;
  const rules = [{ method: 'PATCH', path, status5xx: { share: 1, status } }];
  await place.platform.control('PATCH', '/faults', { rules });
}

const setMembers = async (members: string[]): Promise<void> => {
  await place.idp.send('PUT', `/Groups/${team}`, {
    displayName: 'Team',
    members: members.map((value) => ({ value })),
  });
  await place.idle();
};

/** Returns the text of each command that tells of the dead letter, without line breaks. */
async function told(): Promise<string[]> {
  const texts = [];
  for (const words of [['dead-letters', 'list'], ['explain', 'Team'], ['plan'], ['log']])
    texts.push((await place.commands.run(...words)).text.replaceAll(/\s+/g, ' '));
  return texts;
}

test('the platform refuses several new members → dead-letters list, explain, plan and log name the first and count the rest', async () => {
  await refuse(400);
  await setMembers(ids.slice(0, 2));
  for (const text of await told())
    expect(text).toMatch(
      /the platform refuses the addition of (ann|bob)@acme\.example and 1 other: Injected fault/,
    );
}, 60_000);

test('the platform forbids a change of several members → the dead letter names the first and counts the rest', async () => {
  await refuse(403);
  await setMembers(ids);
  for (const text of await told())
    expect(text).toMatch(
      /the platform refuses the addition of (ann|bob|cid)@acme\.example and 2 others: Injected fault/,
    );
}, 60_000);

test('the platform refuses to remove the only member of a group → the dead letter names the member', async () => {
  await place.platform.control('PATCH', '/faults', { rules: [] });
  await setMembers(ids.slice(2));
  await refuse(400);
  await setMembers([]);
  for (const text of await told())
    expect(text).toContain(`the platform refuses the removal of ${CID}: Injected fault`);
}, 60_000);

test('the platform refuses the removal of one of several members → all other changes are written, and the dead letter names this member', async () => {
  await place.platform.control('PATCH', '/faults', { rules: [] });
  const [ann, bob, cid] = ids as [string, string, string];
  await setMembers([ann, bob]);
  const annAtPlatform = (await place.platform.user(ANN))?.scimId ?? '';
  front.answer = (method, url, body) =>
    method === 'PATCH' && url.includes('/Groups/') && body.includes(annAtPlatform)
      ? { status: 400, body: '{"detail":"no"}' }
      : undefined;
  await setMembers([cid]);
  expect((await place.platform.group('Team'))?.members.toSorted()).toEqual([ANN, CID]);
  for (const text of await told()) expect(text).toContain(`the platform refuses the removal of ${ANN}: `);
}, 60_000);

test('the platform refuses the removal of a member and then the new name of the group → the dead letter names both refusals', async () => {
  const annAtPlatform = (await place.platform.user(ANN))?.scimId ?? '';
  front.answer = (method, url, body) =>
    method === 'PATCH' && url.includes('/Groups/') && (body.includes(annAtPlatform) || body.includes('Crew'))
      ? { status: 400, body: '{"detail":"no"}' }
      : undefined;
  await place.idp.patch(`/Groups/${team}`, { op: 'replace', path: 'displayName', value: 'Crew' });
  await place.idle();
  const { text } = await place.commands.run('dead-letters', 'list');
  expect(text).toMatch(/Refused: [^;]*; the platform refuses the removal of ann@acme\.example: /);
}, 60_000);
