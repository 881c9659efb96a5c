// Tests the values before a write in the log when somebody else changed the account: they are those of the platform.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';

const ADA = 'ada@acme.example';
let bridge: Bridge;
let rec: Reconciling;
let commands: Commands;
let id: string;

beforeAll(async () => {
  bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (!main) throw new Error('no target');
      main.attributes = {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
      };
    },
  });
  rec = await openReconciling(bridge);
  const { url, token } = bridge.config.targets.main ?? {};
  commands = createCommands({
    redis: { url: bridge.config.redis.url, prefix: bridge.config.redis.prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: 'a-token-for-tests' }] } },
    targets: { main: { url, token, allowLoopbackHttp: true } },
  });
  id = await bridge.idp.createUser(ADA, { addresses: [{ type: 'work', country: 'PT' }] });
  await bridge.idp.createGroup('analysts', [id]);
  await rec.untilSynced();
}, 60_000);
afterAll(async () => {
  commands.remove();
  await rec.stop();
  await bridge.stop();
});

const changes = async (action: string): Promise<any[]> => {
  const { text } = await commands.run('log', '--json', '--action', action, '--limit', '1');
  return JSON.parse(text).modifiedProperties;
};
const account = async () => (await bridge.platform.user(ADA))?.scimId;

test('a reconcile repairs a drifted display name → its log entry has the drifted value as oldValue', async () => {
  await rec.meddle(
    'PATCH',
    `/api/scim/v2/Users/${await account()}`,
    scimPatch({ op: 'replace', path: 'displayName', value: 'Somebody else' }),
  );
  expect((await rec.run()).report.outcome).toBe('converged');
  expect(await changes('update')).toEqual([
    { displayName: 'displayName', oldValue: 'Somebody else', newValue: `Jo ${ADA}` },
  ]);
});

test('a reconcile reactivates an account → its log entry has false as oldValue', async () => {
  await rec.meddle(
    'PATCH',
    `/api/scim/v2/Users/${await account()}`,
    scimPatch({ op: 'replace', path: 'active', value: false }),
  );
  expect((await rec.run()).report.outcome).toBe('converged');
  expect(await changes('activate')).toEqual([{ displayName: 'active', oldValue: false, newValue: true }]);
});

test('a reconcile repairs a drifted attribute → its log entry has the drifted value as oldValue', async () => {
  await rec.meddle(
    'PATCH',
    `/api/scim/v2/Users/${await account()}`,
    scimPatch({
      op: 'replace',
      path: 'urn:cube:params:1.0:UserAttribute:country',
      value: 'XX',
    }),
  );
  expect((await rec.run({ full: true })).report.outcome).toBe('converged');
  expect(await changes('setAttribute')).toEqual([
    { displayName: 'attributes.country', oldValue: 'XX', newValue: 'PT' },
  ]);
});

test('a push overwrites a change by hand without a read → the log says that the old value is the last one that the bridge knew', async () => {
  await rec.meddle(
    'PATCH',
    `/api/scim/v2/Users/${await account()}`,
    scimPatch({ op: 'replace', path: 'displayName', value: 'By hand' }),
  );
  await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: `Jo ${ADA}!` });
  await rec.untilSynced();
  expect(await changes('update')).toEqual([
    { displayName: 'displayName', oldValue: `Jo ${ADA}`, newValue: `Jo ${ADA}!` },
  ]);
  const { text } = await commands.run('log', '--action', 'update', '--limit', '1');
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    'A value before a write is the last that the bridge wrote or read',
  );
  await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: `Jo ${ADA}` });
  await rec.untilSynced();
});

test('a push follows the repair of a value → its log entry has the repaired value as oldValue', async () => {
  await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Ada L.' });
  await rec.untilSynced();
  expect(await changes('update')).toEqual([
    { displayName: 'displayName', oldValue: `Jo ${ADA}`, newValue: 'Ada L.' },
  ]);
});
