// Tests that the answer of a sync describes a removal that an operator rejected.
import { eventually } from '../../support/eventually.ts';
import { openAdmin, type AdminRig } from './rig.ts';

let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdmin({
    configure: ({ targets: { main } }) => {
      // The guard holds every removal of a member.
      if (main) main.guard.removeMembers = { count: 0, percent: 0 };
    },
  });
}, 60_000);
afterAll(() => rig.bridge.stop());

test('after an operator rejects the removal of a member, a dry run of sync lists the membership as `r` for user and group', async () => {
  const { operator, bridge } = rig;
  const user = await bridge.idp.createUser('kept@acme.example');
  const group = await bridge.idp.createGroup('analysts', [user]);
  await rig.untilSynced();
  await bridge.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${user}"]` });
  const { id } = await eventually('held', async () => (await operator.get('/approvals')).body[0]);
  await operator.post(`/approvals/${id}/reject`, { by: 'ann' });
  await rig.untilSynced();
  const pendingAt = async (resource: string) =>
    (await operator.post('/sync', { resource, dryRun: true })).body[0].pendingGroups;
  expect(await pendingAt(`User:${user}`)).toEqual({ [group]: 'r' });
  expect(await pendingAt(`Group:${group}`)).toEqual({ [user]: 'r' });
});
