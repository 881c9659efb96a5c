// Tests long operations: start, progress at every replica, cancellation, and the end of the process that runs them.
import { Redis } from 'ioredis';
import { createOperationStore } from '../../../src/directory/logs/operations.ts';
import { savedPieces, type Plan } from '../../../src/reconcile/plan.ts';
import { eventually } from '../../support/eventually.ts';
import { openReconciling, scimPatch, type Reconciling } from '../../support/reconciling.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
// @ts-expect-error The page is plain JavaScript.
import { partsOf } from '../../../src/ui/commands.js';
import { openAdmin, type AdminRig } from './rig.ts';

const PEOPLE = Array.from({ length: 12 }, (_, index) => `p${index}@acme.example`);
let rig: AdminRig;
let hands: Reconciling;

beforeAll(async () => {
  rig = await openAdmin();
  hands = await openReconciling(rig.bridge);
  for (const name of PEOPLE) await rig.bridge.idp.createUser(name);
  await rig.untilSynced();
}, 60_000);
afterAll(async () => {
  await hands.stop();
  await rig.bridge.stop();
});

const rename = async (userName: string, displayName: string): Promise<void> => {
  const { scimId } = (await rig.bridge.platform.user(userName)) ?? {};
  await hands.meddle(
    'PATCH',
    `/api/scim/v2/Users/${scimId}`,
    scimPatch({ op: 'replace', path: 'displayName', value: displayName }),
  );
};
const nameOf = async (userName: string) => (await rig.bridge.platform.user(userName))?.displayName;

async function started(path: string, body?: object): Promise<any> {
  const reply = await rig.operator.post(path, body);
  expect(reply.status).toBe(202);
  expect(reply.headers['location']).toBe(`/admin/v1/operations/${reply.body.id}`);
  expect(reply.body).toMatchObject({ state: 'running', kind: path.slice(1) });
  return rig.operator.ended(reply.body.id);
}

test('POST /plan lists drift and writes nothing; POST /apply of this plan repairs the drift, and after new drift has the outcome stale', async () => {
  await rename(PEOPLE[0] ?? '', 'Meddled');
  await rig.bridge.platform.forgetRequests();
  const plan = await started('/plan', { target: 'main', by: 'alice' });
  expect(plan).toMatchObject({ state: 'succeeded', outcome: 'changes', by: 'alice', target: 'main' });
  const changes = plan.result.plans[0].entries.filter(({ effect }: any) => effect === 'apply');
  expect(changes).toMatchObject([{ action: 'update', name: PEOPLE[0] }]);
  expect(plan.progress).toMatchObject([{ connection: 'default', target: 'main' }]);
  await expect(rig.bridge.platform.writes()).resolves.toEqual([]);

  const applied = await started('/apply', { operation: plan.id });
  expect(applied).toMatchObject({ state: 'succeeded', outcome: 'converged' });
  expect(await nameOf(PEOPLE[0] ?? '')).not.toBe('Meddled');
  const again = await started('/apply', { saved: plan.result });
  expect(again).toMatchObject({
    outcome: 'converged',
    message: 'nothing is left to do of the change of the plan, by what the platform shows now',
  });
  await rename(PEOPLE[0] ?? '', 'Meddled again');
  const moved = await started('/apply', { saved: plan.result });
  expect(moved).toMatchObject({ outcome: 'stale', message: expect.stringContaining('Nothing was changed') });
});

test('POST /apply of a plan that was made with other mapping rules has the outcome stale, and its message names the changed rules', async () => {
  const { plans } = (await started('/plan', { target: 'main' })).result;
  const former = savedPieces(plans.map((plan: Plan) => ({ ...plan, mapping: 'former' })));
  const applied = await started('/apply', { saved: JSON.parse([...former].join('')) });
  expect(applied).toMatchObject({
    outcome: 'stale',
    message:
      'The plan is stale: the mapping rules have changed since it was made. Nothing was changed, make a new plan.',
  });
});

test('a second replica returns the result of a reconcile that ran at the first replica and repaired drift', async () => {
  await rename(PEOPLE[1] ?? '', 'Meddled');
  const other = await rig.bridge.another('api');
  const run = await started('/reconcile');
  expect(run).toMatchObject({ outcome: 'converged', target: null, result: [{ outcome: 'converged' }] });
  expect(await nameOf(PEOPLE[1] ?? '')).not.toBe('Meddled');
  const elsewhere = await fetch(`http://127.0.0.1:${other.port}/admin/v1/operations/${run.id}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  await expect(elsewhere.json()).resolves.toMatchObject({ state: 'succeeded', result: run.result });
  const { body: all } = await rig.operator.get('/operations');
  expect(all[0]).toMatchObject({ id: run.id, kind: 'reconcile' });
  expect(all[0].result).toBeUndefined();
  expect((await rig.operator.get('/status')).body[0].reconcile.last.outcome).toBe('converged');
});

test('while the platform returns truncated lists, a plan has the outcome unproven in place of `no changes`', async () => {
  await expect(started('/plan')).resolves.toMatchObject({ outcome: 'no changes' });
  await rig.bridge.platform.control('PATCH', '/faults', { truncateLists: { keep: 0.5, mode: 'page' } });
  const plan = await started('/plan');
  await rig.bridge.platform.control('PATCH', '/faults', {});
  expect(plan).toMatchObject({ state: 'succeeded', outcome: 'unproven' });
});

test('a reconcile that is cancelled through another replica ends as cancelled and repairs nothing', async () => {
  await rename(PEOPLE[2] ?? '', 'Meddled');
  await rig.bridge.platform.control('PATCH', '/faults', { latencyMs: 1500 });
  const other = await rig.bridge.another('api');
  const { body: operation } = await rig.operator.post('/reconcile');
  await fetch(`http://127.0.0.1:${other.port}/admin/v1/operations/${operation.id}/cancel`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ by: 'Ines', note: 'maintenance begins' }),
  });
  const ended = await rig.operator.ended(operation.id);
  await rig.bridge.platform.control('PATCH', '/faults', {});
  expect(ended).toMatchObject({ state: 'cancelled', message: 'cancelled by Ines: maintenance begins' });
  expect(await nameOf(PEOPLE[2] ?? '')).toBe('Meddled');
  expect((await rig.operator.post(`/operations/${operation.id}/cancel`)).body.state).toBe('cancelled');
});

test('plans ordered through the admin API run one at a time, and the fifth waiting order answers 429 with Retry-After', async () => {
  await rig.bridge.platform.control('PATCH', '/faults', { latencyMs: 1500 });
  const replies = [];
  for (let index = 0; index < 5; index++) replies.push(await rig.operator.post('/plan'));
  expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 202, 429]);
  expect(replies[4]?.headers['retry-after']).toBe('10');
  const progressing = async (): Promise<number> =>
    (await rig.operator.get('/operations')).body.filter(
      ({ state, progress }: { state: string; progress: unknown[] }) =>
        state === 'running' && progress.length > 0,
    ).length;
  await eventually('one works', async () => (await progressing()) === 1);
  for (let look = 0; look < 8; look++) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await progressing()).toBeLessThanOrEqual(1);
  }
  await rig.bridge.platform.control('PATCH', '/faults', {});
  for (const { status, body } of replies)
    if (status === 202) await rig.operator.post(`/operations/${body.id}/cancel`);
  await eventually('all have ended', async () =>
    (await rig.operator.get('/operations')).body.every(({ state }: { state: string }) => state !== 'running'),
  );
});

test('an operation stored as running whose last update is long past has the state `lost` and the advice to read the log', async () => {
  const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  const store = createOperationStore({ redis }, { prefix: rig.bridge.config.redis.prefix });
  const { body } = await rig.operator.post('/plan');
  const { result: _, ...ended } = await rig.operator.ended(body.id);
  // Unix milliseconds: the last report of the process was in 1970.
  await store.put({ ...ended, state: 'running', startedAt: 1, updatedAt: 1, endedAt: null });
  redis.disconnect();
  const lost = (await rig.operator.get(`/operations/${body.id}`)).body;
  expect(lost).toMatchObject({ state: 'lost', message: expect.stringContaining('scim-bridge log') });
  expect(partsOf(lost.message)).toContainEqual({ text: 'Log', view: 'log' });
});

test('POST /apply without a valid plan answers 400, and an unknown operation or target answers 404', async () => {
  const { operator } = rig;
  expect((await operator.post('/apply', {})).status).toBe(400);
  expect((await operator.post('/apply', { saved: { format: 'none' } })).status).toBe(400);
  expect((await operator.post('/apply', { operation: 'none' })).status).toBe(404);
  expect((await operator.post('/plan', { target: 'nowhere' })).status).toBe(404);
  expect((await operator.post('/reconcile', { target: 'nowhere' })).status).toBe(404);
});

test.each(['plan', 'reconcile'])(
  'a %s ends within 20 s while the platform answers every call with 500, and its message says since when calls fail',
  async (order) => {
    await rig.bridge.platform.control('PATCH', '/faults', {
      rules: [{ times: 100_000, status5xx: { share: 1, status: 500 } }],
    });
    const began = Date.now();
    const ended = await started(`/${order}`);
    expect(Date.now() - began).toBeLessThan(20_000);
    const told = { plan: { state: 'failed' }, reconcile: { state: 'succeeded', outcome: 'failed' } };
    expect(ended).toMatchObject(told[order as keyof typeof told]);
    expect(ended.message).toMatch(/^The target main .*500.* since \d{4}-/);
    await rig.bridge.platform.control('PATCH', '/faults', { rules: [] });
  },
);
