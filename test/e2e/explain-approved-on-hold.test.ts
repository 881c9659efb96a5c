// Tests that explain asks for no decision about a change that was decided already and waits only to be written.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let ann: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE } } });
  ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const explain = async () => (await place.commands.run('explain', ANN, '--json')).json[0];
const approvalId = async () => (await place.commands.run('approvals', 'list', '--json')).json[0].id as string;

test.each([['approved'], ['rejected, then approved']])(
  'a held deactivation is %s while the target is on hold → explain says that the deactivation waits for the release',
  async (decided) => {
    await place.commands.run('hold');
    const id = await approvalId();
    if (decided !== 'approved') await place.commands.run('approvals', 'reject', id, '--yes');
    expect((await place.commands.run('approvals', 'approve', id, '--yes')).text).toContain('Approved: 1');
    const found = await explain();
    expect(found).toMatchObject({ verdict: 'stopped', condition: null, exception: null, lookAgainAt: null });
    expect(found.summary).toContain('waits because all writes to main are on hold');
    expect(found.reasons.join(' ')).toContain('Approved, of what the guard judged: 1 deactivation.');
    expect(found.reasons.join(' ')).not.toMatch(/approve or reject|looked at again/);
    await place.commands.run('release');
    await place.idle();
    expect((await place.platform.user(ANN))?.active).toBe(false);
    expect(await explain()).toMatchObject({ verdict: 'asDesired' });
  },
  30_000,
);

test('the source takes a deactivation back while the target is on hold → explain shows neither a held deactivation nor an exception', async () => {
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: true });
  expect(await explain()).toMatchObject({ guard: [], exception: null, approval: null });
  await place.commands.run('release');
  await place.idle();
  expect(await explain()).toMatchObject({ verdict: 'asDesired', guard: [] });
}, 30_000);

test('while the target is on hold, explain of a person with a held deactivation and another waiting change has the verdict held', async () => {
  await place.commands.run('hold');
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'New' });
  expect(await explain()).toMatchObject({ verdict: 'held', condition: { reason: 'Held' } });
}, 30_000);
