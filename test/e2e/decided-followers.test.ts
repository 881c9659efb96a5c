// Tests what exceptions tells of a group that waited only for the deactivation of a member who leaves it with the account.
import '../support/load-modules.ts';
import { openPlace } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const ANN = 'ann@acme.example';

test("an approved deactivation is not written yet → exceptions says of the leaver's group that the change it waited for is no longer held", async () => {
  const place = await openPlace({ target: { guard: { deactivate: NONE, removeMembers: NONE } } });
  try {
    const { commands, idp } = place;
    const ann = await idp.createUser(ANN);
    const crew = await idp.createGroup('crew', [ann]);
    await place.idle();
    await commands.run('hold');
    await idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
    await idp.patch(`/Groups/${crew}`, { op: 'remove', path: 'members' });
    await commands.run('release');
    await place.idle();
    const group = async (): Promise<any> =>
      (await commands.run('exceptions', '--json')).json.find(({ ref }: any) => ref === `Group:${crew}`);
    expect((await group()).message).toContain('the guard holds the deactivation of 1 member');

    await commands.run('hold');
    const [{ id }] = (await commands.run('approvals', 'list', '--json')).json;
    await commands.run('approvals', 'approve', id, '--yes');
    expect(await group()).toMatchObject({
      reason: 'Held',
      message: 'what it waited for is no longer held',
      advice: 'Nothing is to be done: its next sync judges it anew.',
    });
    await commands.run('release');
    await place.idle();
    expect((await commands.run('exceptions')).text).toBe('No exceptions.');
    expect(await place.platform.user(ANN)).toMatchObject({ active: false, groups: [] });
  } finally {
    await place.stop();
  }
}, 60_000);
