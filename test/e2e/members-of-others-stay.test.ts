// Tests that members whom an operator added by hand stay while a group waits for the guard, and after it was left out.
import { scimPatch } from '../support/reconciling.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

const [ANN = '', BEN = '', CHO = '', DAN = ''] = ['ann', 'ben', 'cho', 'dan'].map(
  (name) => `${name}@acme.example`,
);

const ids: Record<string, string> = {};
let group = '';
let place: Place;

async function open(target: object): Promise<void> {
  place = await openPlace({ target });
  for (const name of [ANN, BEN, CHO, DAN]) ids[name] = await place.idp.createUser(name);
  group = await place.idp.createGroup(
    'crew',
    [ANN, BEN, CHO].map((name) => ids[name] ?? ''),
  );
  await place.idle();
  await run(place, 'reconcile', '--yes');
  const { groups } = await place.platform.state();
  const scimId = groups.find(({ displayName }) => displayName === 'crew')?.scimId;
  const value = [{ value: (await place.platform.user(DAN))?.scimId }];
  const answer = await send(place.sandbox.ready.platformUrl, 'PATCH', `/api/scim/v2/Groups/${scimId ?? ''}`, {
    headers: {
      authorization: `Bearer ${place.sandbox.ready.fixtures.apiKeys.admin}`,
      'content-type': 'application/json',
    },
    body: scimPatch({ op: 'add', path: 'members', value }),
  });
  expect(answer.status).toBeLessThan(300);
}
afterEach(() => place.stop());

const leave = (name: string) =>
  place.idp.patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${ids[name] ?? ''}"]` });
const crew = async (): Promise<string[]> => ((await place.platform.group('crew'))?.members ?? []).toSorted();

test('a group waits for the held deactivation of a member → the group is not counted as missing, and a reconcile keeps a member added by hand', async () => {
  await open({ guard: { deactivate: { count: 0, percent: 0 } } });
  await place.idp.patch(`/Users/${ids[ANN] ?? ''}`, { op: 'replace', path: 'active', value: false });
  await leave(ANN);
  await place.idle();
  const found = (await place.commands.run('explain', 'crew', '--json')).text;
  expect(found).toContain('the guard holds the deactivation of 1 member');
  expect((await place.commands.run('plan')).text).not.toContain(`removeMember person ${DAN}`);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  await expect(crew()).resolves.toEqual([ANN, BEN, CHO, DAN]);
  const { text } = await place.commands.run('status');
  expect(text.replaceAll(/\s+/g, ' ')).not.toMatch(/[1-9]\d* missing/);
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await run(place, 'approvals', 'approve', approval.id, '--yes');
  await place.idle();
  await expect(crew()).resolves.toEqual([BEN, CHO, DAN]);
}, 60_000);

test('status counts no drift, and plan no change, for a member that somebody added at the platform', async () => {
  await open({});
  await run(place, 'reconcile', '--yes');
  expect((await place.commands.run('plan', '--full')).text).toMatch(
    /no changes\. The platform is as desired\./,
  );
  const { text } = await place.commands.run('status');
  expect(text).toMatch(/last reconcile \S+: converged$/m);
  await expect(crew()).resolves.toEqual([ANN, BEN, CHO, DAN]);
}, 60_000);

test('the settings include a group again → members who left at the source are removed, and a member added by hand stays', async () => {
  await open({});
  const exclude = async (patterns: string[]): Promise<void> => {
    await place.change(({ targets: { main } }) =>
      Object.assign(main as object, { groups: { exclude: patterns } }),
    );
    await run(place, 'reconcile', '--yes');
    await place.idle();
  };
  await exclude(['^crew$']);
  await leave(BEN);
  await place.idle();
  await expect(crew()).resolves.toEqual([ANN, BEN, CHO, DAN]);
  await place.platform.forgetRequests();
  await exclude([]);
  await expect(crew()).resolves.toEqual([ANN, CHO, DAN]);
  const writes = (await place.platform.writes()).map(({ body }) => body?.Operations?.[0]?.op);
  expect(writes).toEqual(['remove']);
}, 60_000);
