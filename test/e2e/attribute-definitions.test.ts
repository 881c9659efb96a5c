// Tests what commands tell of attributes whose definition was deleted or replaced at the platform, and of attributes that
// have left the settings.
import '../support/load-modules.ts';
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/send.ts';
import { scrape } from '../support/scrape.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const TEAM = { type: 'string', from: 'title' };
const LEVEL = { type: 'string', from: 'nickName' };

let place: Place;
let bob: string;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { team: TEAM, level: LEVEL } } });
  const values = { title: 'sales', nickName: 'high' };
  await place.idp.createUser(ANN, values);
  bob = await place.idp.createUser(BOB, values);
  await place.idle();
});
afterAll(() => place.stop());

const runCommand = (...args: string[]) => place.commands.run(...args);
const asAdmin = (method: string, path: string, body?: object) => {
  const { platformUrl, fixtures } = place.sandbox.ready;
  const headers = {
    authorization: `Bearer ${fixtures.apiKeys.admin}`,
    'content-type': 'application/json',
  };
  return send(platformUrl, method, path, { headers, body });
};
const attributesOf = async (name: string) => (await place.platform.user(name))?.attributes;

async function deleteDefinition(wanted: string): Promise<void> {
  const { body } = await asAdmin('GET', '/api/v1/user-attributes');
  const { id } = body.items.find(({ name }: { name: string }) => name === wanted);
  await asAdmin('DELETE', `/api/v1/user-attributes/${id}`);
}

test('an attribute definition is deleted at the platform → explain, sync --dry-run, plan and doctor report it, and plan lists its creation', async () => {
  await deleteDefinition('team');
  const explained = (await runCommand('explain', ANN, '--all')).text;
  expect(explained).toMatch(
    /At the platform, team: its definition was deleted at the platform, .* defined again/,
  );
  expect(explained.match(/At the platform, team/g)).toHaveLength(1);
  expect(explained).not.toContain('has another value');
  const dry = await runCommand('sync', ANN, '--dry-run');
  expect(dry).toMatchObject({
    code: 2,
    text: expect.stringContaining('defineAttribute team (its definition was'),
  });
  const plan = await runCommand('plan');
  expect(plan.text).toContain('1 attribute definition to create, 2 attributes to set');
  expect(plan.text).toContain('its definition was deleted at the platform, with all values');
  const doctor = await runCommand('doctor');
  expect(doctor).toMatchObject({ code: 0 });
  expect(doctor.text).toContain('! target main: the definition of team was deleted there, with all values.');
  expect(doctor.text).not.toContain('first use');
});

test('an attribute definition is deleted and a write creates it again → plan and status name the deletion as the cause of lost values, and reconcile writes these', async () => {
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'title', value: 'support' });
  await place.idle();
  const { text } = await runCommand('plan');
  expect(text).toContain('the definition of the attribute was deleted at the platform');
  expect(text).not.toContain('did not stick');
  expect((await runCommand('reconcile', '--yes')).code).toBe(0);
  const status = await runCommand('status');
  expect(status.code).toBe(0);
  expect(status.text).toContain('1 change by others found');
  expect(status.text).not.toContain('did not stick');
  await expect(attributesOf(ANN)).resolves.toMatchObject({ team: 'sales' });
});

test('sync of a person whose attribute has another type at the platform says that a person has to act, and does not report equality', async () => {
  await deleteDefinition('team');
  await asAdmin('POST', '/api/v1/user-attributes', { name: 'team', type: 'number' });
  const sync = await runCommand('sync', ANN);
  expect(sync.code).toBe(1);
  expect(sync.text).toContain(
    'needs a person: attribute team is number at the platform and string in the mapping',
  );
  expect(sync.text).not.toContain('equal');
  await deleteDefinition('team');
  expect((await runCommand('reconcile', '--yes')).code).toBe(0);
});

test('an attribute definition of the wrong type is deleted at the platform → `dead-letters retry` creates a definition of the right type without a restart', async () => {
  await deleteDefinition('team');
  await asAdmin('POST', '/api/v1/user-attributes', { name: 'team', type: 'number' });
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'title', value: 'legal' });
  await place.idle();
  const list = await runCommand('dead-letters', 'list');
  expect(list.text).toContain('team is number at the platform');
  const explained = (await runCommand('explain', BOB, '--all')).text;
  expect(explained).toContain('so correct the mapping or use another name.');
  expect(explained).toContain('Restart with the corrected settings, then scim-bridge sync');
  expect(explained).not.toContain('the identity provider or the mapping');
  await deleteDefinition('team');
  // The service keeps the wrong definition for a second.
  await eventually('a retry succeeds', async () => {
    await runCommand('dead-letters', 'retry', '--all');
    await place.idle();
    return (await attributesOf(BOB))?.team === 'legal';
  });
  expect((await runCommand('dead-letters', 'list')).text).not.toContain('team is number');
  expect((await runCommand('reconcile', '--yes')).code).toBe(0);
  await expect(attributesOf(ANN)).resolves.toMatchObject({ team: 'sales' });
}, 30_000);

test('an attribute has another type at the platform → status, health and the metrics report that a person has to act, until a reconcile finds the type corrected', async () => {
  await deleteDefinition('team');
  await asAdmin('POST', '/api/v1/user-attributes', { name: 'team', type: 'number' });
  expect((await runCommand('reconcile', '--yes')).code).toBe(1);
  const status = await runCommand('status');
  expect(status.code).toBe(2);
  expect(status.text).toMatch(
    /! 1 conflict needs a person: attribute team is number at the platform and string in the mapping: .* Then run scim-bridge reconcile/,
  );
  const conflicts = async () => (await scrape(place.port)).sum('bridge_conflicts', { target: 'main' });
  await expect(conflicts()).resolves.toBe(1);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { body } = await send(`http://127.0.0.1:${place.port}`, 'GET', '/health', { headers });
  expect(body.components['target main'].findings).toContain(
    '1 conflict since the last reconcile: see scim-bridge plan',
  );
  await deleteDefinition('team');
  expect((await runCommand('reconcile', '--yes')).code).toBe(0);
  expect((await runCommand('status')).code).toBe(0);
  await expect(conflicts()).resolves.toBe(0);
}, 30_000);

test.each([
  ['number', 'string'],
  ['string', 'number'],
])(
  'an attribute mapped as %s is defined as %s at the platform → plan, reconcile, status and the metrics report one conflict, although the values look equal',
  async (mapped, defined) => {
    const rank = (type: string) => ({ type, from: 'userType' });
    const target = { attributes: { rank: rank(defined) } };
    const other = await openPlace({ target });
    try {
      for (const name of [ANN, BOB]) await other.idp.createUser(name, { userType: '7' });
      await other.idle();
      expect((await other.platform.user(ANN))?.attributes.rank).toEqual(defined === 'number' ? 7 : '7');
      const reason = `attribute rank is ${defined} at the platform and ${mapped} in the mapping`;
      const told = new RegExp(`1 attribute definition needs a person[^]*Attribute rank: conflict, ${reason}`);
      await other.change(({ targets: { main } }) => {
        main.attributes = { rank: rank(mapped) };
      });
      expect((await other.commands.run('plan')).text).toMatch(told);
      expect((await other.commands.run('plan', '--full')).text).toMatch(told);
      for (const flags of [[], ['--full']]) {
        const run = await other.commands.run('reconcile', '--yes', ...flags);
        expect(run).toMatchObject({ code: 1, text: expect.stringContaining('1 conflict needs a person') });
      }
      const status = await other.commands.run('status');
      expect(status).toMatchObject({
        code: 2,
        text: expect.stringContaining(`1 conflict needs a person: ${reason}`),
      });
      expect((await scrape(other.port)).sum('bridge_conflicts', { target: 'main' })).toBe(1);
      expect((await other.platform.user(ANN))?.attributes.rank).toEqual(defined === 'number' ? 7 : '7');
    } finally {
      await other.stop();
    }
  },
  60_000,
);

test.each([
  ['plan', ['plan']],
  ['plan --full', ['plan', '--full']],
])(
  'an attribute definition was deleted and created again → %s finds the lost values of all accounts, and reconcile writes them',
  async (_, command) => {
    await deleteDefinition('team');
    await asAdmin('POST', '/api/v1/user-attributes', { name: 'team', type: 'string' });
    const plan = await runCommand(...command);
    expect(plan).toMatchObject({ code: 2, text: expect.stringContaining('2 attributes to set') });
    expect(plan.text).not.toContain('did not stick');
    expect((await runCommand('reconcile', '--yes')).code).toBe(0);
    await expect(attributesOf(ANN)).resolves.toMatchObject({ team: 'sales' });
    await expect(attributesOf(BOB)).resolves.toMatchObject({ team: 'legal' });
    expect((await runCommand('plan')).code).toBe(0);
  },
);

test('an attribute is removed from the settings → explain, plan and doctor say that its values stay at the platform, and how to clear these', async () => {
  await place.change(({ targets: { main } }) => {
    main.attributes = { team: TEAM };
  });
  const stays = 'is no longer mapped: values that the bridge wrote stay at the platform';
  const advice = "map it to nothing (targets.main.attributes.level with its type and expression: 'null')";
  const explained = await runCommand('explain', ANN, '--all');
  expect(explained.text).toContain(`attributes.level ${stays}. To clear them, ${advice}`);
  expect(explained.text).toContain('– attributes.level: null ← "high"');
  expect(explained.text).toContain(`${ANN} is at main as desired`);
  const plan = await runCommand('plan');
  expect(plan.code).toBe(0);
  expect(plan.text).toContain('1 attribute has left the settings');
  expect(plan.text).toContain(`Attribute level ${stays}`);
  expect((await runCommand('doctor')).text).toContain(
    `! target main: attribute level ${stays}. To clear them, ${advice}`,
  );

  await place.change(({ targets: { main } }) => {
    main.attributes = { team: TEAM, level: { type: 'string', expression: 'null' } };
  });
  expect((await runCommand('reconcile', '--yes')).code).toBe(0);
  await expect(attributesOf(ANN)).resolves.toEqual({ team: 'sales' });
  await place.change(({ targets: { main } }) => {
    main.attributes = { team: TEAM };
  });
  expect((await runCommand('plan')).text).not.toContain('has left the settings');
  expect((await runCommand('doctor')).text).not.toContain('no longer mapped');
}, 30_000);
