// Tests that the time limit of a sync ends it with the report so far, wherever the platform is slow.
import { openAdmin, type AdminRig } from './rig.ts';

let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdmin();
}, 60_000);
afterAll(() => rig.bridge.stop());

test.each([true, false])(
  'when the time limit of a sync ends while a group is read, the answer has null as its differences (dryRun %s)',
  async (dryRun) => {
    const { operator, bridge } = rig;
    const user = await bridge.idp.createUser(`slow-${dryRun}@acme.example`);
    const group = await bridge.idp.createGroup(`slow ${dryRun}`, [user]);
    await rig.untilSynced();
    await operator.post('/hold', { target: 'main', by: 'ann' });
    // The account still names the group, so only the entry of its deletion needs a read of the group.
    await bridge.idp.send('DELETE', `/Groups/${group}`);
    const slow = { method: 'GET', path: '/Groups', times: 9999, latencyMs: 3000 };
    await bridge.platform.control('PATCH', '/faults', { rules: [slow] });
    const { status, body } = await operator.post('/sync', {
      resource: `User:${user}`,
      timeoutSeconds: 1,
      dryRun,
      by: 'ann',
    });
    await bridge.platform.control('PATCH', '/faults', {});
    expect([status, body]).toMatchObject([200, [{ differences: null, pendingGroups: { [group]: '-' } }]]);
    await operator.post('/release', { target: 'main', by: 'ann' });
  },
  60_000,
);
