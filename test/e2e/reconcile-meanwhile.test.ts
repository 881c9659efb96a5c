// Tests a reconcile while something else happens: another run is in progress, or a push arrives for a resource that is read.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { brief, openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';

const ANN = 'ann@acme.example';
const BEN = 'ben@acme.example';

let bridge: Bridge;
let rec: Reconciling;
let ann: string;
beforeAll(async () => {
  bridge = await buildBridge();
  rec = await openReconciling(bridge);
  ann = await bridge.idp.createUser(ANN);
  await bridge.idp.createUser(BEN);
  await rec.untilSynced();
  await rec.run();
}, 60_000);
afterEach(() => bridge.platform.control('PATCH', '/faults', { latencyMs: 0 }));
afterAll(async () => {
  await rec.stop();
  await bridge.stop();
});

const renameByHand = async (userName: string, displayName: string) =>
  rec.meddle(
    'PATCH',
    `/api/scim/v2/Users/${(await bridge.platform.user(userName))?.scimId}`,
    scimPatch({ op: 'replace', path: 'displayName', value: displayName }),
  );
const reads = async () =>
  (await bridge.platform.requests()).filter(
    ({ method, path }) => method === 'GET' && path.includes('/Users'),
  );

test('a reconcile is ordered during a run → the ordered one finds a change at a resource that the run had already read', async () => {
  await bridge.platform.control('PATCH', '/faults', { latencyMs: 500 });
  await bridge.platform.forgetRequests();
  const first = rec.run({ full: true });
  await eventually('the first run has begun', async () => (await reads()).length > 0);
  await bridge.platform.control('PATCH', '/faults', { latencyMs: 0 });
  await renameByHand(ANN, 'Somebody else');
  const ordered = await rec.run();
  expect(ordered.plan).toBeDefined();
  expect((await bridge.platform.user(ANN))?.displayName).toBe(`Jo ${ANN}`);
  await first;
}, 60_000);

test('a drifted person is pushed while a reconcile reads the person → this reconcile repairs the drift', async () => {
  await renameByHand(ANN, 'Somebody else');
  const { scimId } = (await bridge.platform.user(ANN)) ?? {};
  await bridge.platform.forgetRequests();
  await bridge.platform.control('PATCH', '/faults', { latencyMs: 500 });
  const run = rec.run();
  await eventually('the account is read alone', async () =>
    (await reads()).some(({ path }) => path.endsWith(`/Users/${scimId}`)),
  );
  await bridge.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: 'Director' });
  const { report, plan } = await run;
  await rec.untilSynced();
  const { displayName } = (await bridge.platform.user(ANN)) ?? {};
  expect({ outcome: report.outcome, displayName, seen: plan?.entries.map(brief) }).toMatchObject({
    outcome: 'converged',
    displayName: `Jo ${ANN}`,
  });
}, 60_000);
