// Tests a new hire who gets the userName of a leaver whose deactivation the guard holds: no run waits for the decision.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let hire: string;
beforeEach(async () => {
  const guard = { deactivate: NONE, delete: NONE, removeMembers: NONE };
  place = await openPlace({ target: { guard } });
  const { idp } = place;
  const ann = await idp.createUser(ANN);
  await idp.createGroup('Finance', [ann]);
  await idp.createUser(BOB);
  await place.idle();
  await idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  hire = await idp.createUser(ANN, { externalId: 'ext-new-ann' });
  await eventually('the new hire waits', async () => (await verdict()).verdict === 'held');
}, 60_000);
afterEach(() => place.stop());

const verdict = async (): Promise<any> =>
  (await place.commands.run('explain', `User:${hire}`, '--json')).json?.[0] ?? {};
const reconcile = () => place.commands.run('reconcile', '--yes', '--deadline', '20s');

/** Deactivates an account as a person does by hand. */
async function deactivateByHand(name: string): Promise<void> {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const scimId = (await place.platform.user(name))?.scimId ?? '';
  const answer = await fetch(`${platformUrl}/api/scim/v2/Users/${scimId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value: false }],
    }),
  });
  expect(answer.ok).toBe(true);
}

test('the deactivation of a leaver whose userName a new hire needs is held → each reconcile exits 2 and still reactivates another account that was closed by hand', async () => {
  const first = await reconcile();
  expect(first).toMatchObject({ code: 2, text: expect.stringContaining('the guard holds 1 change') });
  await deactivateByHand(BOB);
  expect((await reconcile()).code).toBe(2);
  expect((await place.platform.user(BOB))?.active).toBe(true);
  expect(await place.platform.user(ANN)).toMatchObject({ active: true, externalId: `ext-${ANN}` });
}, 90_000);

test('the deactivation of a leaver whose userName a new hire needs is held → plan lists the hire as waiting, counts no creation and exits 0', async () => {
  const { code, text } = await place.commands.run('plan');
  expect(text).toContain('waits for a held change of the user or group that has the name or account now');
  expect(text).not.toContain('1 to create');
  expect(code).toBe(0);
});

test('the deactivation of a leaver is rejected → a new hire with this userName waits, and gets the account after withdraw, approval and retry', async () => {
  const held = async () => (await place.commands.run('approvals', 'list', '--json')).json as { id: string }[];
  // The membership in the group stays with the account, so it needs no decision of its own.
  for (const { id } of await held()) await place.commands.run('approvals', 'reject', id, '--yes');
  await place.commands.run('sync', `User:${hire}`);
  await eventually('the new hire needs a person', async () => (await verdict()).verdict === 'needsPerson');
  expect((await verdict()).summary).toContain('a person rejected');
  expect(await place.platform.user(ANN)).toMatchObject({ active: true, externalId: `ext-${ANN}` });

  const rejected = (await place.commands.run('approvals', 'list', '--all', '--json')).json as any[];
  for (const { id, state } of rejected)
    if (state === 'rejected') await place.commands.run('approvals', 'withdraw', id, '--yes');
  await eventually('the changes are held again', async () => (await held()).length > 0);
  for (const { id } of await held()) await place.commands.run('approvals', 'approve', id, '--yes');
  await place.commands.run('dead-letters', 'retry', `User:${hire}`);
  await eventually('the new hire has the account', async () => {
    const account = await place.platform.user(ANN);
    return account?.externalId === 'ext-new-ann' && account.active && (account.groups ?? []).length === 0;
  });
}, 90_000);

test('the held deactivation of a leaver is approved → a new hire with this userName takes the account over, and explain names no held change', async () => {
  const { text } = await place.commands.run('approvals', 'list');
  const id = /default\.main\.[\d-]+/.exec(text)?.[0] ?? '';
  await place.commands.run('approvals', 'approve', id, '--yes');
  await eventually(
    'the account is that of the new hire',
    async () => {
      const user = await place.platform.user(ANN);
      return user?.active === true && user.externalId === 'ext-new-ann';
    },
    15_000,
  );
  await place.idle();
  const found = await verdict();
  expect(found.verdict).toBe('asDesired');
  expect(JSON.stringify(found)).not.toContain('the guard holds');
}, 60_000);
