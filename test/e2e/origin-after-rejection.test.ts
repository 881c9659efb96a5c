// Tests which origin log and timeline name for a change that was held: its push, unless a person approved it.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
let request: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 100 } } } });
  ann = await place.idp.createUser(ANN);
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
    const limit = { count: 5, percent: 100 };
    main.guard = { deactivate: limit, removeMembers: limit };
  });
const deactivations = () => logged('--action', 'deactivate');

test.each([[true], [false]])(
  'a rejected deactivation is withdrawn under a raised limit → the deactivation is logged with the request id of its push (on hold meanwhile: %s)',
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

test('a rejected deactivation is approved → the deactivation is logged as ordered by the approval', async () => {
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

/** Pushes under a request id. */
const push = async (id: string, method: string, path: string, ...Operations: object[]) => {
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
  const body = method === 'PATCH' ? { schemas, Operations } : undefined;
  expect((await place.idp.send(method, path, body, { 'x-request-id': id })).status).toBeLessThan(300);
};

/** Rejects what is held, raises the limits, and withdraws the rejection. */
async function withdrawAfterRejection(): Promise<void> {
  const id = await heldId();
  await run('approvals', 'reject', id, '--yes');
  await place.idle();
  await raiseLimit();
  await run('approvals', 'withdraw', id, '--yes');
}

test('the source deactivates, reactivates and deactivates a person before any write → the deactivation is logged with the request id of the last push', async () => {
  await run('hold', '--target', 'main');
  await push('taken-back', 'PATCH', `/Users/${ann}`, { op: 'replace', path: 'active', value: true });
  await push('again', 'PATCH', `/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await run('release', '--target', 'main');
  await place.idle();
  await withdrawAfterRejection();
  await place.idle();
  expect(await deactivations()).toMatchObject([{ changeId: 'again' }]);
}, 60_000);

test('the source deactivates and then deletes a person → the deactivation is logged with the request id of the deletion', async () => {
  await push('deleted', 'DELETE', `/Users/${ann}`);
  await place.idle();
  await withdrawAfterRejection();
  await place.idle();
  expect(await deactivations()).toMatchObject([{ changeId: 'deleted' }]);
}, 60_000);

describe('removals from a group', () => {
  const [BOB, CYD, DAN] = ['bob@acme.example', 'cyd@acme.example', 'dan@acme.example'] as const;
  let group: string;
  beforeEach(async () => {
    await place.change(({ targets: { main } }) => {
      main.guard = { ...(main.guard as object), removeMembers: { count: 0, percent: 100 } };
    });
    const ids: string[] = [];
    for (const name of [BOB, CYD, DAN]) ids.push(await place.idp.createUser(name));
    group = await place.idp.createGroup('writers', ids);
    await place.idle();
    await push('left', 'PATCH', `/Groups/${group}`, { op: 'remove', path: 'members' });
    await place.idle();
  }, 60_000);

  const removals = async () =>
    (await run('log', '--resource', 'writers', '--action', 'removeMembers', '--json')).lines
      .map((line) => JSON.parse(line))
      .filter(({ provisioningStatusInfo: { status } }) => status === 'success');

  test('the platform ignores a removal at first → its later write is logged with the request id of the push', async () => {
    await place.platform.control('PATCH', '/faults', {
      rules: [{ method: 'PATCH', path: 'scim/v2/Groups', times: 1, ignoreMembers: { share: 1 } }],
    });
    await withdrawAfterRejection();
    await place.idle();
    expect((await place.platform.group('writers'))?.members).toEqual([]);
    expect(await removals()).toMatchObject([{ changeId: 'left' }]);
  }, 60_000);

  test.each([[[BOB, CYD, DAN]], [[CYD, BOB]]])(
    'one removal is approved and another rejection withdrawn before both are written → the log names no approval (persons %j)',
    async (persons) => {
      const id = await heldId();
      await run('approvals', 'reject', id, '--person', CYD, '--yes');
      await place.idle();
      await raiseLimit();
      await run('hold', '--target', 'main');
      for (const person of persons) {
        const order = person === CYD ? 'withdraw' : 'approve';
        const { text } = await run('approvals', order, id, '--person', person, '--yes');
        expect(text).toContain(': 1 of ');
      }
      await run('release', '--target', 'main');
      await place.idle();
      const left = [BOB, CYD, DAN].filter((person) => !persons.includes(person));
      expect((await place.platform.group('writers'))?.members).toEqual(left);
      const found = await removals();
      expect(found).not.toEqual([]);
      for (const each of found)
        expect(each).toMatchObject({ changeId: '-', initiatedBy: { type: 'system' } });
    },
    60_000,
  );
});
