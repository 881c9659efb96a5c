// Tests reverse links in Redis that are out of date: the resource that one names is linked to another account or group by now.
import '../support/load-modules.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { byHand, createByHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
/** An account that the sandbox has at its start. No identity provider has pushed it. */
const VIEWER = 'viewer@acme.example';

let place: Place;
let ann: string;
let crew: string;
beforeAll(async () => {
  place = await openPlace({ target: { groups: { members: 'authoritative' } } });
  ann = await place.idp.createUser(ANN);
  crew = await place.idp.createGroup('crew', [ann]);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const { outcome } = commandsAt(() => place);

/** Stores a reverse link from the account or group to the resource. */
const reverse = async (id: string | undefined, ref: string): Promise<unknown> =>
  place.redis.hset(await place.key(':linked:main'), `${ref.split(':')[0]}:${id}`, ref);

test('members are authoritative, and the reverse link of an unmanaged member names a person who has another account → one reconcile removes the member', async () => {
  const viewer = (await place.platform.user(VIEWER))?.scimId;
  const path = `/Groups/${(await place.platform.group('crew'))?.scimId}`;
  await byHand(place, 'PATCH', path, { op: 'add', path: 'members', value: [{ value: viewer }] });
  await reverse(viewer, `User:${ann}`);
  expect((await outcome('plan', '--all'))[1]).toContain(VIEWER);
  expect((await outcome('reconcile', '--yes'))[0]).toBe(0);
  expect((await place.platform.group('crew'))?.members).toEqual([ANN]);
  expect((await outcome('plan'))[0]).toBe(0);
}, 60_000);

test('the reverse link of a free group names a group that is linked to another one → a new group of its name adopts it', async () => {
  await createByHand(place, 'Groups', { displayName: 'Free' });
  const free = (await place.platform.group('Free'))?.scimId;
  await reverse(free, `Group:${crew}`);
  await place.idp.createGroup('Free', [ann]);
  await place.idle();
  expect((await outcome('dead-letters', 'list'))[1]).toContain('No dead letters');
  expect(await place.platform.group('Free')).toMatchObject({
    scimId: free,
    members: [ANN],
  });
}, 60_000);

test('the reverse link of a free group names a group that is linked to another one → links import links a new group to it, as its dry run says', async () => {
  await createByHand(place, 'Groups', { displayName: 'Spare' });
  const spare = (await place.platform.group('Spare'))?.scimId;
  await reverse(spare, `Group:${crew}`);
  // Without a worker the new group does not find the free one by itself.
  await place.stopApps();
  await place.start('api');
  const ref = `Group:${await place.idp.createGroup('Spare', [ann])}`;
  const file = join(place.commands.folder, 'links.jsonl');
  const row = { connection: 'default', target: 'main', kind: 'Group', ref, platformId: spare };
  writeFileSync(file, JSON.stringify(row));
  const counts = async (...more: string[]): Promise<unknown> =>
    (await place.commands.run('links', 'import', file, '--json', ...more)).json.counts;
  expect([await counts('--dry-run'), await counts()]).toEqual([{ imported: 1 }, { imported: 1 }]);
  expect((await outcome('links', 'show', `Group:${crew}`))[1]).not.toContain(spare);
  expect((await outcome('links', 'show', ref))[1]).toContain(spare);
}, 60_000);
