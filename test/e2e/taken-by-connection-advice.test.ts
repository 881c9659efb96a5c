// Tests that the message about an account of another connection names what is the same, and that its steps work as written.
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HR_TOKEN = `${TOKEN}-hr`;

let place: Place;
let hr: Idp;
beforeAll(async () => {
  const connections = {
    default: { tokens: [{ name: 'primary', secret: TOKEN }] },
    // Under this profile an externalId identifies a person.
    hr: { profile: 'okta', tokens: [{ name: 'hr', secret: HR_TOKEN }] },
  };
  place = await openPlace({ rest: { connections } });
  hr = createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, HR_TOKEN);
}, 30_000);
afterAll(() => place.stop());

/** Returns the message of the dead letter of a user of the connection hr. */
const messageOf = (id: string): Promise<string> =>
  eventually('a dead letter', async () => {
    const { json } = await place.commands.run('dead-letters', 'list', '--json');
    const found = (json as { ref: string; reason: string; message: string }[]).find(
      ({ ref }) => ref === `User:${id}`,
    );
    return found?.reason === 'TakenByConnection' ? found.message : undefined;
  });

/** Deletes the person at the source as the message says, and orders the command that it names. */
async function giveUp(person: string, userName: string, message: string): Promise<void> {
  expect(message).toContain('delete the person there');
  await place.idp.send('DELETE', `/Users/${person}`);
  expect(message).toContain('wait until the account is closed');
  await eventually('closed', async () => (await place.platform.user(userName))?.active === false);
  const [, ref = ''] = /order scim-bridge links forget (\S+) --target main,/.exec(message) ?? [];
  const { code, text } = await place.commands.run('links', 'forget', ref, '--target', 'main');
  expect([code, text]).toEqual([0, expect.any(String)]);
}

async function retried(id: string): Promise<void> {
  const { text } = await place.commands.run('dead-letters', 'retry', `User:${id}`);
  expect(text).toContain('1');
  await eventually('no dead letter', async () => {
    const { json } = await place.commands.run('dead-letters', 'list', '--json');
    return !(json as { ref: string }[]).some(({ ref }) => ref === `User:${id}`);
  });
  await place.idle();
}

const clearIt = (scimId: string): Promise<void> =>
  byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'remove', path: 'externalId' });
const deleteIt = (scimId: string): Promise<void> => byHand(place, 'DELETE', `/Users/${scimId}`);

test.each([
  ['cleared the externalId of the account', clearIt],
  ['deleted the account', deleteIt],
])(
  'the first connection closed an account, and an operator %s at the platform → a retry gives the account to the person of the second connection',
  async (step, doIt) => {
    const name = step.startsWith('clear') ? 'ann@acme.example' : 'bob@acme.example';
    const first = await place.idp.createUser(name, { externalId: `okta-${name}` });
    await place.idle();
    const second = await hr.createUser(name, { externalId: `hr-${name}` });
    await hr.createGroup(`partners ${name}`, [second]);
    const message = await messageOf(second);
    expect(message).toContain('has the same userName: ');
    await giveUp(first, name, message);
    expect(message).toContain(
      'clear the externalId of the closed account at the platform or delete that account there',
    );
    await doIt((await place.platform.user(name))?.scimId ?? '');
    await retried(second);
    expect(await place.platform.user(name)).toMatchObject({
      active: true,
      externalId: `hr-${name}`,
      groups: [`partners ${name}`],
    });
  },
  90_000,
);

test('two connections push a person with one externalId and two userNames → once the first gives the account up, a retry gives the second access', async () => {
  const first = await place.idp.createUser('cid@old.example', { externalId: 'cid' });
  await place.idle();
  const second = await hr.createUser('cid@new.example', { externalId: 'cid' });
  const message = await messageOf(second);
  expect(message).not.toContain('clear the externalId');
  await giveUp(first, 'cid@old.example', message);
  await retried(second);
  expect(await place.platform.user('cid@new.example')).toMatchObject({ active: true, externalId: 'cid' });
}, 90_000);

test('two connections push two people with one externalId → the dead letter asks to correct it, and then both people have an account', async () => {
  await place.idp.createUser('eve@acme.example', { externalId: 'e07' });
  await place.idle();
  const second = await hr.createUser('sue@acme.example', { externalId: 'e07' });
  expect(await messageOf(second)).toContain(
    'has the same externalId e07: if they are two people, correct the externalId of one of them at its identity provider',
  );
  const { text } = await place.commands.run('dead-letters', 'show', `User:${second}`);
  expect(text.replaceAll(/\s+/g, ' ')).not.toMatch(/rename one of the two/i);
  await hr.patch(`/Users/${second}`, { op: 'replace', path: 'externalId', value: 'e08' });
  await place.idle();
  for (const [name, externalId] of [
    ['eve@acme.example', 'e07'],
    ['sue@acme.example', 'e08'],
  ] as const)
    expect(await place.platform.user(name)).toMatchObject({ active: true, externalId });
}, 90_000);

test("a person is renamed to the userName of a deleted person of the other connection → once the closed account is deleted, a retry renames the person's account", async () => {
  const first = await place.idp.createUser('dan@acme.example', { externalId: 'dan-okta' });
  const second = await hr.createUser('daniel@acme.example', { externalId: 'dan-hr' });
  await place.idle();
  await hr.patch(`/Users/${second}`, { op: 'replace', path: 'userName', value: 'dan@acme.example' });
  const message = await messageOf(second);
  await giveUp(first, 'dan@acme.example', message);
  expect(message).toContain('delete the closed account at the platform, then retry');
  await deleteIt((await place.platform.user('dan@acme.example'))?.scimId ?? '');
  await retried(second);
  expect(await place.platform.user('dan@acme.example')).toMatchObject({
    active: true,
    externalId: 'dan-hr',
  });
  expect(await place.platform.user('daniel@acme.example')).toBeUndefined();
}, 90_000);
