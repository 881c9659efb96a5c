// Tests a change of one user: one write if the platform accepts it, and the same result by single writes if not.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { targetHealth } from '../support/health.ts';
import { eventually } from '../support/eventually.ts';

const CUSTOM = 'urn:cube:params:1.0:UserAttribute';
const SINGLE = ['country', 'city', 'unit', 'site'];

let bridge: Bridge;
beforeEach(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      const attributes = config.targets.main?.attributes ?? {};
      for (const name of SINGLE)
        attributes[name] = { type: 'string', from: `${CUSTOM}:${name}`, onEmpty: 'clear' };
      Object.assign(attributes, {
        level: { type: 'number', from: `${CUSTOM}:level`, onEmpty: 'clear' },
        share: { type: 'number', from: `${CUSTOM}:share`, onEmpty: 'clear' },
        external: { type: 'boolean', from: `${CUSTOM}:external`, onEmpty: 'clear' },
        regions: { type: 'string_array', from: `${CUSTOM}:regions`, onEmpty: 'clear' },
        brands: { type: 'string_array', from: `${CUSTOM}:brands`, onEmpty: 'clear' },
      });
    },
  });
});
afterEach(() => bridge.stop());

const BEFORE = {
  country: 'PT',
  city: 'Porto',
  unit: 'sales',
  site: 'north',
  level: 1,
  share: 0.5,
  external: true,
  regions: ['north', 'south'],
  brands: ['red'],
};
const NEXT = { country: 'DE', city: 'Köln', unit: 'service', site: 'west', level: 2 };

const untilSynced = () =>
  eventually('nothing waits', async () => {
    const { dirty, inflight } = await targetHealth(bridge);
    return dirty === 0 && inflight === 0;
  });

async function hire(userName: string): Promise<string> {
  const id = await bridge.idp.createUser(userName, { displayName: 'Eva Mover', [CUSTOM]: BEFORE });
  await untilSynced();
  expect((await bridge.platform.user(userName))?.attributes).toMatchObject(BEFORE);
  await bridge.platform.forgetRequests();
  return id;
}

const move = async (id: string, values: object, more: object = {}) => {
  await bridge.idp.patch(`/Users/${id}`, { op: 'replace', value: { [CUSTOM]: values, ...more } });
  await untilSynced();
};

/** Returns the changed paths of each PATCH, and the value of each single write. */
const wrote = async (): Promise<string[]> =>
  (await bridge.platform.writes()).map(({ method, body }) =>
    method === 'PATCH'
      ? body.Operations.map(({ path }: { path: string }) => path.replace(`${CUSTOM}:`, '')).join(' ')
      : JSON.stringify(body.value ?? null),
  );

test('a user gets several new values and a new display name → the platform gets one write and no read', async () => {
  const id = await hire('eva@acme.example');
  await move(id, NEXT, { displayName: 'Eva Moved' });
  expect(await bridge.platform.user('eva@acme.example')).toMatchObject({
    displayName: 'Eva Moved',
    attributes: { ...BEFORE, ...NEXT },
  });
  expect((await bridge.platform.requests()).map(({ method }) => method)).toEqual(['PATCH']);
});

test('a user gets many changed values → clearings are written first, then one combined PATCH, then lists, fractions and booleans', async () => {
  const id = await hire('ned@acme.example');
  const changes = {
    ...NEXT,
    site: null,
    share: 0.75,
    external: false,
    regions: ['north'],
    brands: ['red', 'blue'],
  };
  await move(id, changes);
  expect((await bridge.platform.user('ned@acme.example'))?.attributes).toMatchObject({
    country: 'DE',
    city: 'Köln',
    unit: 'service',
    level: 2,
    share: 0.75,
    external: false,
    regions: ['north'],
    brands: ['red', 'blue'],
  });
  expect((await bridge.platform.user('ned@acme.example'))?.attributes.site ?? null).toBeNull();
  const writes = await wrote();
  expect(writes.slice(0, 3).sort()).toEqual(['["north"]', 'false', 'null']);
  expect(writes[3]?.split(' ').sort()).toEqual(['city', 'country', 'level', 'unit']);
  expect(writes.slice(4).sort()).toEqual(['0.75', '["red","blue"]']);
});

test.each([400, 501])(
  'the platform refuses the combined PATCH with %i → the bridge sends single writes, and no further combined PATCH',
  async (status) => {
    const { platform } = bridge;
    const [one, two] = [await hire('uma@acme.example'), await hire('vic@acme.example')];
    await platform.control('PATCH', '/faults', {
      rules: [{ method: 'PATCH', path: '/Users/', status5xx: { status }, times: 1 }],
    });
    await platform.forgetRequests();
    await move(one, NEXT, { displayName: 'Uma Moved' });
    await move(two, NEXT, { displayName: 'Vic Moved' });
    for (const [name, displayName] of [
      ['uma', 'Uma Moved'],
      ['vic', 'Vic Moved'],
    ]) {
      expect(await platform.user(`${name}@acme.example`)).toMatchObject({
        displayName,
        attributes: { ...BEFORE, ...NEXT },
      });
    }
    const patches = (await platform.writes()).filter(({ method }) => method === 'PATCH');
    expect(patches.map(({ status }) => status)).toEqual([status, 200, 200]);
    const operations = patches.flatMap(({ body }) => body?.Operations ?? []);
    expect(operations.map(({ path }: { path: string }) => path)).toEqual(['displayName', 'displayName']);
  },
);

test('the platform answers 400 for the values of one user → other users still get combined PATCHes', async () => {
  const { platform } = bridge;
  const [bad, well] = [await hire('wil@acme.example'), await hire('yan@acme.example')];
  await platform.forgetRequests();
  await platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: '/Users/', status5xx: { status: 400 }, times: 2 }],
  });
  await move(bad, NEXT, { displayName: 'Wil Moved' });
  await platform.forgetRequests();
  await move(well, NEXT, { displayName: 'Yan Moved' });
  expect((await platform.requests()).map(({ method }) => method)).toEqual(['PATCH']);
});

test('the platform refuses a taken userName → the attribute values of the push are still written', async () => {
  const { platform } = bridge;
  const id = await hire('xan@acme.example');
  await platform.control('POST', '/fixtures', { users: [{ userName: 'xandra@acme.example' }] });
  await bridge.idp.patch(`/Users/${id}`, {
    op: 'replace',
    value: { userName: 'xandra@acme.example', [CUSTOM]: NEXT },
  });
  await eventually('the values are written', async () => {
    const user = await platform.user('xan@acme.example');
    return user?.attributes.city === 'Köln' && user.attributes.level === 2;
  });
});
