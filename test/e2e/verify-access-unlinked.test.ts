// Tests that verify-access looks an account up at the platform when no link leads to it, and tells whether it is open.
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const KEPT = 'kept@acme.example';
const PIA = 'pia@acme.example';
const WES = 'wes@acme.example';
const NEW = 'new@acme.example';

let place: Place;
const ids: Record<string, string> = {};
beforeAll(async () => {
  place = await openPlace({
    target: { adopt: 'report', users: { protected: [KEPT], scope: 'userType ne "Extern"' } },
  });
  const { platformUrl, fixtures } = place.sandbox.ready;
  for (const userName of [KEPT, PIA, WES])
    await send(platformUrl, 'POST', '/api/scim/v2/Users', {
      headers: {
        authorization: `Bearer ${fixtures.apiKeys.admin}`,
        'content-type': 'application/json',
      },
      body: {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        ...{ userName, displayName: 'Somebody', active: true },
        emails: [{ value: userName, primary: true }],
      },
    });
  for (const [userName, more] of [
    [KEPT, {}],
    [PIA, {}],
    [WES, { userType: 'Extern' }],
  ] as const)
    ids[userName] = await place.idp.createUser(userName, more);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const verify = async (person: string) => {
  const { code, json } = await place.commands.run('verify-access', person, '--json');
  const link = (stage: string) => json.chain.find((each: any) => each.stage === stage);
  return { code, applied: link('applied'), visible: link('visible'), ...json };
};

test.each([
  [KEPT, 'listed in users.protected'],
  [PIA, 'adopt is report'],
])(
  'verify-access shows the open unmanaged account of %s, and why the bridge does not manage it',
  async (name, why) => {
    const { account, applied, visible } = await verify(name);
    expect(account).toMatchObject({ userName: name, active: true });
    expect(applied.detail).toContain('the bridge does not manage this account');
    expect(applied.detail).toContain(why);
    expect(visible.detail).not.toContain('there is no account');
  },
);

test.each([KEPT, PIA, WES])(
  'verify-access of %s, whose unlinked account should be closed, fails while it is active',
  async (name) => {
    if (name !== WES) {
      await place.idp.patch(`/Users/${ids[name]}`, { op: 'replace', path: 'active', value: false });
      await place.idle();
    }
    const { code, applied, differences, visible } = await verify(name);
    expect(code).toBe(2);
    expect(applied).toMatchObject({ ok: false, detail: expect.stringContaining('active') });
    expect(differences).toEqual([{ name: 'active', desired: false, actual: true }]);
    expect(visible).toMatchObject({ ok: false });
    expect(visible.detail).not.toContain('closed');
  },
);

test('verify-access of a protected person who was deleted at the source fails while the account is active', async () => {
  await place.idp.send('DELETE', `/Users/${ids[KEPT]}`);
  await place.idle();
  const { code, applied } = await verify(`User:${ids[KEPT]}`);
  expect(code).toBe(2);
  expect(applied.ok).not.toBe(true);
  expect(applied.detail).not.toContain('as it should be');
});

test('the link of a person was forgotten → verify-access still finds the open account', async () => {
  const id = await place.idp.createUser(NEW);
  await place.idle();
  expect((await verify(NEW)).code).not.toBe(1);
  await place.change(({ targets: { main } }) => {
    main.guard = { deactivate: { count: 0, percent: 0 } };
  });
  await place.idp.send('DELETE', `/Users/${id}`);
  await place.idle();
  await place.commands.run('links', 'forget', `User:${id}`, '--leave-account');
  const { applied } = await verify(`User:${id}`);
  expect((await place.platform.user(NEW))?.active).toBe(true);
  expect(applied.ok).toBe(false);
  expect(applied.detail).toContain('no link leads to it');
}, 30_000);
