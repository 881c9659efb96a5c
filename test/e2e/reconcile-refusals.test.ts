// Tests dead letters in reconcile: the same refused write is not sent again until something changed.
import { retryDeadLetters, dropDeadLetters } from '../../src/ops/dead-letters.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { brief, openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';

// The platform reserves this prefix (contract 2.3) and always answers 400.
const RESERVED = 'system:ops';
const REF = (id: string) => `Group:${id}` as const;
let bridge: Bridge;
let rec: Reconciling;
let group: string;
let ann: string;

beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      if (config.targets.main)
        config.targets.main.attributes = {
          level: { type: 'number', from: 'title', onEmpty: 'clear' },
        };
    },
  });
  rec = await openReconciling(bridge);
  ann = await bridge.idp.createUser('ann@acme.example');
  group = await bridge.idp.createGroup(RESERVED, [ann]);
  await refused();
  await rec.untilSynced();
}, 30_000);
afterAll(async () => {
  await rec.stop();
  await bridge.stop();
});

const scope = () => rec.scopes[0]!.scope;
const refused = () =>
  eventually('the group is a dead letter', async () =>
    (await scope().outbox.blocked()).some(({ ref }) => ref === REF(group)),
  );
const stated = async (entries = rec.plan().then((plan) => plan.entries)) =>
  (await entries).filter(({ action }) => action !== 'unmanaged').map(brief);
const OPERATOR = { by: 'operator', via: 'command' } as const;
const deadLetters = () => [
  {
    connection: 'default',
    acts: scope().acts,
    links: scope().links,
    directory: scope().directory,
    outboxes: new Map([['main', scope().outbox]]),
  },
];
const attempts = async () =>
  (await bridge.platform.writes()).map(({ method, path, status }) => `${method} ${path} ${status}`);

test("the platform refuses a group → reconcile reports it with the platform's message, and further reconciles do not try it again", async () => {
  await bridge.platform.forgetRequests();
  for (let round = 0; round < 3; round++) {
    const { report, plan } = await rec.run({ full: true });
    expect(report).toMatchObject({ outcome: 'blocked', counts: { conflict: 1 } });
    const [member, entry] = plan?.entries.filter(({ ref }) => ref === REF(group)) ?? [];
    expect(member).toMatchObject({
      action: 'addMember',
      effect: 'report',
      reason: 'member at the source; waits for the group, which needs a person',
    });
    expect(entry).toMatchObject({
      action: 'conflict',
      effect: 'report',
      name: RESERVED,
      reason: expect.stringMatching(/^Refused: .*reserved/i),
      before: null,
      after: { displayName: RESERVED },
    });
  }
  await rec.untilSynced();
  await expect(attempts()).resolves.toEqual([]);
  await expect(stated()).resolves.toEqual([
    `addMember | ${RESERVED} | ann@acme.example | source changed | report`,
    `conflict | ${RESERVED} | none | report`,
  ]);
}, 60_000);

test('dead-letters retry causes one attempt at the platform, and further reconciles cause none', async () => {
  await bridge.platform.forgetRequests();
  await retryDeadLetters(deadLetters() as never, { all: true }, OPERATOR);
  await rec.untilSynced();
  await refused();
  await rec.run();
  await rec.run();
  await expect(attempts()).resolves.toEqual(['POST /api/scim/v2/Groups 400']);
}, 60_000);

test('mapping rules change → plan lists a formerly refused write again', async () => {
  const config = structuredClone(bridge.config);
  const { groups } = config.targets.main!;
  groups.rename = [{ match: '^system:(.*)$', to: 'sys-$1' }];
  const other = await openReconciling(bridge, config);
  try {
    await expect(stated(other.plan().then((plan) => plan.entries))).resolves.toEqual(
      expect.arrayContaining(['create | sys-ops | mapping changed']),
    );
  } finally {
    await other.stop();
  }
}, 60_000);

test('a dead letter is dropped → reconcile does not try the write again, and plan reports the resource as dropped', async () => {
  await dropDeadLetters(deadLetters() as never, { all: true }, OPERATOR);
  await bridge.platform.forgetRequests();
  await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
  const { entries } = await rec.plan();
  expect(entries.find(({ ref }) => ref === REF(group))).toMatchObject({
    action: 'create',
    effect: 'report',
    reason: expect.stringContaining('dropped from the dead letters after Refused'),
  });
  await expect(attempts()).resolves.toEqual([]);
}, 60_000);

test('the source changes a resource that is a dead letter → the dead letter ends', async () => {
  await bridge.idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'ops' });
  await eventually(
    'the group is there',
    async () => (await bridge.platform.group('ops'))?.members.length === 1,
  );
  await rec.untilSynced();
  await expect(rec.run({ full: true })).resolves.toMatchObject({ report: { outcome: 'converged' } });
  await expect(stated()).resolves.toEqual([]);
}, 60_000);

test('a person who is a dead letter drifts → each drift is repaired by one PATCH, and reconcile still ends as blocked', async () => {
  const level = (value: unknown) => ({ op: 'replace', path: 'title', value });
  await bridge.idp.patch(`/Users/${ann}`, level('none'));
  await eventually('the user is a dead letter', async () => (await scope().outbox.blocked()).length === 1);
  const id = (await bridge.platform.user('ann@acme.example'))?.scimId;
  for (const name of ['Meddled', 'Meddled again']) {
    const change = scimPatch({ op: 'replace', path: 'displayName', value: name });
    await rec.meddle('PATCH', `/api/scim/v2/Users/${id}`, change);
    await bridge.platform.forgetRequests();
    for (let round = 0; round < 3; round++)
      await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'blocked' } });
    await expect(attempts()).resolves.toEqual([`PATCH /api/scim/v2/Users/${id} 200`]);
    expect((await bridge.platform.user('ann@acme.example'))?.displayName).toBe('Jo ann@acme.example');
  }
  await bridge.idp.patch(`/Users/${ann}`, level('3'));
  await rec.untilSynced();
  await expect(rec.run()).resolves.toMatchObject({ report: { outcome: 'converged' } });
}, 60_000);

test('the platform refuses the repair of drift → the repair is tried once', async () => {
  await bridge.idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: RESERVED });
  await refused();
  const { groups, users } = await bridge.platform.state();
  const value = users.find(({ userName }) => userName === 'ann@acme.example')?.scimId;
  const id = groups.find(({ displayName }) => displayName === 'ops')?.scimId;
  const removal = { op: 'remove', path: `members[value eq "${value}"]` };
  await rec.meddle('PATCH', `/api/scim/v2/Groups/${id}`, scimPatch(removal));
  await bridge.platform.forgetRequests();
  for (let round = 0; round < 3; round++)
    await expect(rec.run({ full: true })).resolves.toMatchObject({ report: { outcome: 'blocked' } });
  // The rename precedes the member changes, and is refused.
  await expect(attempts()).resolves.toEqual([`PATCH /api/scim/v2/Groups/${id} 400`]);
}, 60_000);
