// Tests the history through HTTP: pushes, calls and levels of a running bridge, and its limits.
import { eventually } from '../../support/eventually.ts';
import { openAdmin, type AdminRig } from './rig.ts';

let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdmin();
}, 60_000);
afterAll(() => rig.bridge.stop());

const read = async (range: string): Promise<any> =>
  (await rig.operator.get(`/history?target=main&range=${range}`)).body;
const sum = (series: (number | null)[]): number => series.reduce<number>((all, each) => all + (each ?? 0), 0);

test('each range of GET /history has a fixed number of slots, and its slots add up to the pushes and refused pushes of two processes', async () => {
  const { idp } = rig.bridge;
  await rig.bridge.another();
  const ids = [await idp.createUser('ada@acme.example'), await idp.createUser('alan@acme.example')];
  await idp.createGroup('system:all', ids);
  await idp.send('POST', '/Users', { userName: '' });
  await rig.untilSynced();
  const { users } = await rig.bridge.platform.state();
  expect(users.map(({ userName }: { userName: string }) => userName)).toContain('ada@acme.example');
  const platformCalls = await eventually('the counts are noted', async () => {
    const { series } = await read('1h');
    const calls = sum(series.calls);
    return sum(series.pushes) === 3 && series.held.at(-1) !== null && calls > 4 && calls;
  });
  for (const [range, slots, stepMs] of [
    ['1h', 360, 10_000],
    ['1d', 288, 300_000],
    ['30d', 360, 7_200_000],
  ] as const) {
    const history = await read(range);
    expect(history).toMatchObject({ target: 'main', range, stepMs, requestsPerSecond: 2000 });
    const { backlog, ...series } = history.series;
    for (const each of [...Object.values<number[]>(series), ...Object.values<number[]>(backlog)])
      expect(each).toHaveLength(slots);
    expect([sum(series.pushes), sum(series.pushesRefused)]).toEqual([3, 1]);
    expect(sum(series.calls)).toBeGreaterThanOrEqual(platformCalls);
    // The last slot is the current one.
    expect(history.now - history.from).toBeLessThan(slots * stepMs);
    expect(history.now - history.from).toBeGreaterThanOrEqual((slots - 1) * stepMs);
  }
});

test('while the platform answers 503, GET /history has slots with failed calls and with a sync lag above zero', async () => {
  const { idp, platform } = rig.bridge;
  await platform.control('PATCH', '/faults', { status5xx: { share: 1 } });
  await idp.createUser('grace@acme.example');
  await eventually('failed calls and lag are noted', async () => {
    const { callsFailed, lagMs } = (await read('1h')).series;
    return sum(callsFailed) > 0 && sum(lagMs) > 0;
  });
});

test('GET /history answers 404 for an unknown target, and 400 for an unknown range or without a target', async () => {
  expect((await rig.operator.get('/history?target=none')).status).toBe(404);
  expect((await rig.operator.get('/history?target=main&range=1y')).status).toBe(400);
  expect((await rig.operator.get('/history')).status).toBe(400);
});

test.each(['links', 'links/export', 'log', 'exceptions', 'acts'])(
  'the admin address /%s with an unknown connection or target as filter answers 404 and names the known ones',
  async (path) => {
    for (const [name, known] of [
      ['connection', 'default'],
      ['target', 'main'],
    ]) {
      const { status, body } = await rig.operator.get(`/${path}?${name}=none`);
      expect([status, body.detail]).toEqual([404, `There is no ${name} none. The settings have: ${known}.`]);
    }
  },
);
