// Tests what status and exceptions say about held changes while some of them are decided, or were held under an expired approval.
import { join } from 'node:path';
import { openDesiredStates } from '../../src/app/open.ts';
import { readSettings } from '../../src/cli/cli.ts';
import { readStatus } from '../../src/ops/status/status.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const HOUR = 3_600_000;
const NONE = { count: 0, percent: 0 };
const guard = { deactivate: NONE, removeMembers: NONE };

let place: Place;
afterEach(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const deactivate = (id: string) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
const expire = async () =>
  place.redis.hset(await place.key(':guardApproval:main'), 'expires', String(Date.now() - 1000));
const openApproval = async (): Promise<string> => (await run('approvals', 'list', '--json')).json[0].id;
const exceptionOf = async (ref: string): Promise<any> =>
  (await run('exceptions', '--json')).json.find((each: { ref: string }) => each.ref === ref);

/** Opens the stored states beside the running service. */
async function withStates(
  use: (opened: ReturnType<typeof openDesiredStates>) => Promise<void>,
): Promise<void> {
  const cwd = place.commands.folder;
  const opened = openDesiredStates(readSettings({ env: {}, cwd, file: join(cwd, 'bridge.json') }));
  try {
    await opened.reach();
    await use(opened);
  } finally {
    opened.redis.disconnect();
  }
}

test('held changes are approved while status is reading → status counts no change as held or expired', async () => {
  place = await openPlace({ target: { guard } });
  const ids = await Promise.all([ANN, BOB].map((name) => place.idp.createUser(name)));
  await place.idle();
  await Promise.all(ids.map(deactivate));
  await place.idle();
  await withStates(async (opened) => {
    const approval = await openApproval();
    const [row] = await readStatus(opened.states, opened, async (reader) => {
      // The reply to an earlier command of this connection, the backlog of the row, is there after this one.
      await opened.states[0]?.outboxes.get('main')?.backlog();
      expect((await run('approvals', 'approve', approval, '--yes')).code).toBe(0);
      return { users: await reader.read('User'), groups: await reader.read('Group') };
    });
    expect(row?.guard).toMatchObject({ held: 0, deactivate: 0, expired: 0, expiresAt: null });
  });
}, 60_000);

test('the approval of a member removal expires, and the group waits for a leaver held under a new approval → exceptions and explain name the new approval', async () => {
  place = await openPlace({ target: { guard } });
  const { idp } = place;
  const ann = await idp.createUser(ANN);
  const bob = await idp.createUser(BOB);
  const crew = await idp.createGroup('crew', [ann, bob]);
  await place.idle();
  await run('hold');
  await deactivate(bob);
  await idp.patch(`/Groups/${crew}`, { op: 'remove', path: 'members' });
  await run('release');
  await place.idle();
  await expire();
  // The guard judges Bob's deactivation anew before the group has a sync. He leaves the group with his account.
  await withStates(async ({ states }) => {
    const bobs = { kind: 'deactivate', ref: `User:${bob}` } as const;
    await states[0]?.outboxes.get('main')?.guardStore.holdAll([bobs], HOUR);
  });
  const { message, advice } = await exceptionOf(`Group:${crew}`);
  expect(message).toMatch(/^the guard holds /);
  expect(advice).toBe(`See scim-bridge approvals show ${await openApproval()}, then approve or reject.`);
  const [explained] = (await run('explain', 'crew', '--json')).json;
  expect(explained).toMatchObject({ guard: [{ state: 'expired' }], condition: { advice } });
}, 60_000);

test("the approval of a leaver's deactivation expires → exceptions says so, and that the account is deleted after the deactivation", async () => {
  place = await openPlace({ target: { guard, users: { deprovision: 'delete' } } });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  await expire();
  const { message, advice } = await exceptionOf(`User:${ann}`);
  expect(message).toBe(
    'the approval of the deactivation has expired; the account is deleted afterwards, if guard.delete allows it',
  );
  expect(advice).toMatch(/^The approval expired .* cannot be decided any more/);
}, 60_000);
