// Tests which origin log and timeline name for a deactivation that was held: its push, unless a person approved it.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let request: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 100 } } } });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  [{ changeId: request }] = await logged('--status', 'held');
}, 60_000);
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const logged = async (...args: string[]) =>
  (await run('log', '--resource', ANN, ...args, '--json')).lines.map((line) => JSON.parse(line));
const heldId = async () => (await run('approvals', 'list', '--json')).json[0].id as string;
const raiseLimit = () =>
  place.change(({ targets: { main } }) => {
    main.guard = { deactivate: { count: 5, percent: 100 } };
  });
const deactivations = () => logged('--action', 'deactivate');

test.each([[true], [false]])(
  'a deactivation that fits the limit after a rejection was withdrawn is logged as its push (all of it on hold: %s)',
  async (isOnHold) => {
    if (isOnHold) await run('hold', '--target', 'main');
    const id = await heldId();
    await run('approvals', 'reject', id, '--yes');
    if (!isOnHold) await place.idle();
    await raiseLimit();
    await run('approvals', 'withdraw', id, '--yes');
    if (isOnHold) await run('release', '--target', 'main');
    await place.idle();
    expect((await place.platform.user(ANN))?.active).toBe(false);
    expect(await deactivations()).toMatchObject([
      { changeId: request, initiatedBy: { type: 'identityProvider', id: 'default' } },
    ]);
    const { text } = await run('explain', ANN, '--all');
    expect(text).not.toContain('approval:');
    expect(text).toContain(`change accepted (${request})`);
  },
  60_000,
);

test('a deactivation that a person approved after a rejection is logged as ordered by the approval', async () => {
  const id = await heldId();
  await run('approvals', 'reject', id, '--yes');
  await place.idle();
  await run('approvals', 'approve', id, '--yes');
  await place.idle();
  const order = `approval:${id.replace('default.', '')}`;
  expect(await deactivations()).toMatchObject([
    { changeId: order, initiatedBy: { type: 'operator', id: order } },
  ]);
}, 60_000);
