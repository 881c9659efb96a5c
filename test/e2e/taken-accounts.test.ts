// Tests the advice for an account or a group that another connection of the target has: its steps lead to the desired state.
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { createScenarios } from '../support/scenario.ts';
import { openPlace, type Place } from '../support/situation.ts';

interface Context {
  place: Place;
  /** The other connection of the target. */
  second: Idp;
}

/** @param target settings of the target */
const openContext = (target: object) => async (): Promise<Context> => {
  const place = await openPlace({
    target,
    rest: {
      connections: {
        default: { tokens: [{ name: 'primary', secret: TOKEN }] },
        second: { tokens: [{ name: 'primary', secret: `${TOKEN}2` }] },
      },
    },
  });
  const second = createIdp(`http://127.0.0.1:${place.port}/connections/second/scim/v2`, `${TOKEN}2`);
  return { place, second };
};
const close = ({ place }: Context): Promise<void> => place.stop();
// Most tests wait until the claim of the former owner has ended, 20 s after its creation.
const test = createScenarios(openContext({}), close);
const testWithUpsertOnly = createScenarios(openContext({ policy: 'upsert-only' }), close);
const testWithoutAdoption = createScenarios(openContext({ policy: 'upsert-only', adopt: 'never' }), close);

const deadLetters = async ({ commands }: Place): Promise<{ ref: string; message: string }[]> =>
  (await commands.run('dead-letters', 'list', '--json')).json;
const messageOf = (place: Place, ref: string): Promise<string> =>
  eventually(
    `${ref} is a dead letter`,
    async () => (await deadLetters(place)).find((each) => each.ref === ref)?.message,
  );

test('one connection deletes a person and its link is forgotten → a retry of the dead letter gives the account to the other connection', async ({
  place,
  second,
}) => {
  const name = 'ann@acme.example';
  const first = await place.idp.createUser(name);
  await eventually('open', async () => (await place.platform.user(name))?.active);
  const other = await second.createUser(name);
  const message = await messageOf(place, `User:${other}`);
  expect(message).toContain('delete the person there');
  const [, advised = ''] = /order scim-bridge (links forget \S+ --target \S+),/.exec(message) ?? [];
  expect(advised).toBe(`links forget User:${first} --target main`);

  await place.idp.send('DELETE', `/Users/${first}`);
  await eventually('closed', async () => (await place.platform.user(name))?.active === false);
  expect((await place.commands.run(...advised.split(' '))).code).toBe(0);
  await place.commands.run('dead-letters', 'retry', `User:${other}`);

  await eventually('open for the second connection', async () => (await place.platform.user(name))?.active);
  expect(await deadLetters(place)).toEqual([]);
}, 60_000);

test('one connection deletes a group → a retry of the dead letter gives the other connection its group', async ({
  place,
  second,
}) => {
  const first = await place.idp.createGroup('Finance');
  await eventually('there', () => place.platform.group('Finance'));
  const cat = await second.createUser('cat@acme.example');
  const other = await second.createGroup('Finance', [cat]);
  expect(await messageOf(place, `Group:${other}`)).toContain('delete the group there');

  await place.idp.send('DELETE', `/Groups/${first}`);
  await eventually('gone', async () => (await place.platform.group('Finance')) === undefined);
  await place.commands.run('dead-letters', 'retry', `Group:${other}`);

  const members = await eventually('filled', async () => {
    const group = await place.platform.group('Finance');
    return group?.members.length === 1 ? group.members : undefined;
  });
  expect(members).toEqual(['cat@acme.example']);
}, 60_000);

testWithUpsertOnly(
  'the policy leaves a deleted group at the platform, and links forget drops its link → the second connection takes the group over',
  async ({ place, second }) => {
    const first = await place.idp.createGroup('Legal');
    await eventually('there', () => place.platform.group('Legal'));
    const other = await second.createGroup('Legal');
    const message = await messageOf(place, `Group:${other}`);
    await place.idp.send('DELETE', `/Groups/${first}`);
    await place.idle();
    const [, advised = ''] = /order scim-bridge (links forget [\w:-]+ --target \w+)/.exec(message) ?? [];
    expect((await place.commands.run(...advised.split(' '))).code).toBe(0);
    await place.commands.run('dead-letters', 'retry', `Group:${other}`);
    await place.idle();
    expect(await deadLetters(place)).toEqual([]);
  },
  60_000,
);

testWithoutAdoption(
  'a group was created and deleted shortly before → a new group of this name takes it over, although adoption is off',
  async ({ place }) => {
    const first = await place.idp.createGroup('Audit');
    await eventually('there', () => place.platform.group('Audit'));
    await place.idle();
    await place.idp.send('DELETE', `/Groups/${first}`);
    await place.idle();
    const heir = await place.idp.createGroup('Audit');
    await place.idle();
    expect(await deadLetters(place)).toEqual([]);
    expect((await place.commands.run('links', 'export')).text).toContain(heir);
  },
  60_000,
);

testWithoutAdoption(
  'a person is deleted and pushed again soon after the account was created → the new record gets the account, although adoption is off',
  async ({ place }) => {
    const name = 'dan@acme.example';
    const first = await place.idp.createUser(name);
    await place.idle();
    await place.idp.send('DELETE', `/Users/${first}`);
    await place.idle();
    const again = await place.idp.createUser(name, { externalId: 'hired-again' });
    await place.idle();
    expect(await deadLetters(place)).toEqual([]);
    expect((await place.commands.run('links', 'export')).text).toContain(again);
  },
  60_000,
);
