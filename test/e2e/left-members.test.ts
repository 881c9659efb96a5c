// Tests decisions about members of a deleted group who had stayed in it under the policy upsert-only.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['p0', 'p1', 'p2'].map((name) => `${name}@acme.example`);
const [P0 = '', P1 = '', P2 = ''] = NAMES;
const NONE = { count: 0, percent: 0 };

let place: Place;
let group: string;

beforeAll(async () => {
  place = await openPlace({ target: { policy: 'upsert-only' } });
  const ids: string[] = [];
  for (const name of NAMES) ids.push(await place.idp.createUser(name));
  group = await place.idp.createGroup('beta', ids);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const members = async (): Promise<string[] | undefined> =>
  (await place.platform.group('beta'))?.members.toSorted();
const outputOf = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;
/** Changes the settings, and waits for the reconcile that the restart begins. */
async function withTarget(settings: object): Promise<void> {
  const lastRun = async () =>
    (await place.commands.run('status', '--json')).json[0].reconcile.last?.startedAt;
  const before = await lastRun();
  await place.change(({ targets: { main } }) => {
    Object.assign(main, settings);
  });
  await eventually('reconciled', async () => (await lastRun()) !== before);
  await place.idle();
}
async function approve(...part: string[]): Promise<void> {
  const [id = ''] = /default\.main\.\d+-\d+/.exec(await outputOf('approvals', 'list')) ?? [];
  expect((await place.commands.run('approvals', 'approve', id, ...part, '--yes')).code).toBe(0);
  await place.idle();
}

test('a deleted group has one approved and several held removals → approval of the held ones deletes the group and leaves nothing held', async () => {
  await place.idp.send('DELETE', `/Groups/${group}`);
  await place.idle();
  await withTarget({ policy: 'sync', guard: { removeMembers: NONE, delete: NONE } });
  await approve('--person', P0);
  await expect(members()).resolves.toEqual([P1, P2]);
  await approve();
  await expect(members()).resolves.toBeUndefined();
  await expect(outputOf('approvals', 'list')).resolves.toBe('The guard holds nothing.');
}, 60_000);
