// Tests doctor --deep and --repair of the admin API as operations with stored results.
import { Redis } from 'ioredis';
import { openAdmin, type AdminRig } from './rig.ts';

let rig: AdminRig;
let redis: Redis;
let base: string;
beforeAll(async () => {
  rig = await openAdmin();
  redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  base = `${rig.bridge.config.redis.prefix}:{default}:`;
  const ada = await rig.bridge.idp.createUser('ada@acme.example');
  await rig.bridge.idp.createGroup('analysts', [ada]);
  await rig.untilSynced();
}, 60_000);
afterAll(async () => {
  redis.disconnect();
  await rig.bridge.stop();
});

async function ended(path: string, body?: object): Promise<any> {
  const reply = await rig.operator.post(path, body);
  expect(reply.status).toBe(202);
  expect(reply.headers['location']).toBe(`/admin/v1/operations/${reply.body.id}`);
  return rig.operator.ended(reply.body.id);
}
const repairActs = async (): Promise<any[]> =>
  (await rig.operator.get('/acts')).body.filter(({ act }: any) => act === 'repair');
const dataFindings = async () =>
  (await rig.operator.get('/doctor')).body.filter(({ area }: any) => area === 'data default');

test('POST /doctor/deep reports a lost index and repairs nothing; POST /doctor/repair rebuilds the index and records the operator', async () => {
  const { operator, bridge } = rig;
  expect((await operator.get('/doctor/deep')).body).toEqual([]);
  expect(await dataFindings()).toMatchObject([{ level: 'ok', message: 'not compared with the records yet' }]);
  expect(await ended('/doctor/deep')).toMatchObject({ kind: 'doctor', outcome: 'no faults' });
  expect(await dataFindings()).toMatchObject([
    { level: 'ok', message: expect.stringContaining('agrees with') },
  ]);

  await redis.del(`${base}userNames`);
  const look = await ended('/doctor/deep', { by: 'alice' });
  const missing = { family: 'userNames', fault: 'missing', count: 1 };
  expect(look).toMatchObject({
    state: 'succeeded',
    outcome: 'faults',
    by: 'alice',
    target: null,
    progress: [{ connection: 'default', target: null, phase: 'entries' }],
    result: [{ connection: 'default', by: 'alice', repair: false, faults: 1 }],
  });
  expect(look.result[0].findings).toMatchObject([{ ...missing, repaired: 0 }]);
  expect((await operator.get('/doctor/deep')).body).toEqual(look.result);
  expect((await operator.get('/status')).body).toMatchObject([{ faults: 1, proof: { by: 'alice' } }]);
  expect(await dataFindings()).toMatchObject([
    { level: 'error', message: expect.stringContaining('userNames 1 missing') },
  ]);
  await expect(redis.exists(`${base}userNames`)).resolves.toBe(0);
  expect(await repairActs()).toEqual([]);

  const repair = await ended('/doctor/repair', { by: 'bob' });
  expect(repair).toMatchObject({ kind: 'repair', outcome: 'repaired', by: 'bob' });
  expect(repair.result[0]).toMatchObject({ faults: 0, findings: [{ ...missing, repaired: 1 }] });
  await expect(redis.exists(`${base}userNames`)).resolves.toBe(1);
  expect(await repairActs()).toMatchObject([{ act: 'repair', by: 'bob', via: 'admin API' }]);
  expect((await operator.get('/status')).body).toMatchObject([{ faults: 0, proof: { repair: true } }]);
  const logged = bridge.logs.filter((line) => line.includes('derived data repaired'));
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { connection: 'default', family: 'userNames', fault: 'missing', repaired: 1, by: 'bob' },
  ]);
  expect(await ended('/doctor/deep')).toMatchObject({ outcome: 'no faults' });
});

test('POST /doctor/deep and /doctor/repair with an unknown field or an empty operator name answer 400', async () => {
  for (const path of ['/doctor/deep', '/doctor/repair']) {
    expect((await rig.operator.post(path, { target: 'main' })).status).toBe(400);
    expect((await rig.operator.post(path, { by: '' })).status).toBe(400);
  }
});
