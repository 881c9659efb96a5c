// Tests the lists of waiting resources and of dead letters page by page, and the values at the platform of a waiting resource.
import { openAdmin, type AdminRig } from './rig.ts';

const ADA = 'ada@acme.example';
const NAMES = ['first', 'second', 'third'].map((name) => `${name}@acme.example`);
const REFUSED = ['system:a', 'system:b', 'system:c'];
let rig: AdminRig;
let ada: string;

beforeAll(async () => {
  rig = await openAdmin();
  const { idp } = rig.bridge;
  ada = await idp.createUser(ADA, { displayName: 'Ada' });
  for (const name of REFUSED) await idp.createGroup(name, []);
  await rig.untilSynced();
  await rig.operator.post('/hold', { by: 'grace' });
  await idp.patch(`/Users/${ada}`, { op: 'replace', path: 'displayName', value: 'Ada King' });
  for (const name of NAMES) await idp.createUser(name);
}, 60_000);
afterAll(() => rig.bridge.stop());

const namesOf = async (path: string): Promise<string[]> =>
  (await rig.operator.get(path)).body.map(({ name }: { name: string }) => name);

test('GET /waiting lists the marked resources with their priorities in the order of their syncs, page by page', async () => {
  const { body } = await rig.operator.get('/waiting');
  expect(body.map(({ name, priority }: any) => [name, priority])).toEqual([
    [ADA, 'edit'],
    ...NAMES.map((name) => [name, 'new']),
  ]);
  expect(body[0]).toMatchObject({ ref: `User:${ada}`, state: 'due', target: 'main' });
  const pages = await Promise.all([0, 2, 4].map((offset) => namesOf(`/waiting?limit=2&offset=${offset}`)));
  expect(pages).toEqual([[ADA, NAMES[0]], NAMES.slice(1), []]);
  expect(await namesOf('/waiting?target=main')).toHaveLength(4);
  expect((await rig.operator.get('/waiting?target=other')).status).toBe(404);
});

test('GET /dead-letters lists dead letters in pages, and with a ref only the dead letter of that resource', async () => {
  const all = (await rig.operator.get('/dead-letters')).body;
  expect(all.map(({ name }: any) => name).toSorted()).toEqual(REFUSED);
  const pages = await Promise.all(
    [0, 2, 4].map((offset) => namesOf(`/dead-letters?limit=2&offset=${offset}`)),
  );
  expect(pages.flat()).toEqual(all.map(({ name }: any) => name));
  expect((await rig.operator.get(`/dead-letters/${all[1].ref}`)).body).toEqual([all[1]]);
});

test('while a target is on hold, explain shows the desired, applied and observed value of a changed attribute', async () => {
  const [{ platform, values }] = (await rig.operator.post('/explain', { resource: ada })).body;
  expect(platform).toMatchObject({ state: 'differs' });
  const displayName = values.find(({ name }: any) => name === 'displayName');
  expect(displayName).toMatchObject({ desired: 'Ada King', applied: 'Ada', observed: 'Ada' });
});
