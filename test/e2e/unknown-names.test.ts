// Tests the sentence of each command for a name that no person and no group has, and for unknown connections and targets.
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    roles: [],
    rest: {
      connections: {
        hr: { tokens: [{ name: 'primary', secret: 'a-token-for-the-tests-0123456789' }], targets: ['main'] },
        lab: { tokens: [{ name: 'primary', secret: 'b-token-for-the-tests-0123456789' }], targets: ['test'] },
      },
      targets: {
        main: { url: 'http://127.0.0.1:9', token: 'a-key-for-the-tests-0123456789', allowLoopbackHttp: true },
        test: { url: 'http://127.0.0.1:9', token: 'a-key-for-the-tests-0123456789', allowLoopbackHttp: true },
      } as any,
    },
  });
}, 60_000);
afterAll(() => place.stop());

const NAME = 'nobody@acme.example';

test.each([
  [['explain', NAME], 'No person and no group', 'the connections hr, lab'],
  [['sync', NAME], 'No person and no group', 'the connections hr, lab'],
  [['links', 'show', NAME], 'No person and no group', 'the connections hr, lab'],
  [['links', 'forget', NAME], 'No person and no group', 'the connections hr, lab'],
  [['log', '--resource', NAME], 'No person and no group', 'the connections hr, lab'],
  [['forget', NAME, '--yes'], 'No person', 'the connections hr, lab'],
  [['handover', 'undo', NAME, '--yes'], 'No person', 'the connections hr, lab'],
  [['verify-access', NAME], 'No person', 'the connections hr, lab'],
  [['verify-access', NAME, '--json'], 'No person', 'the connections hr, lab'],
  [['verify-access', NAME, '--connection', 'hr'], 'No person', 'the connection hr'],
  [['explain', NAME, '--target', 'test'], 'No person and no group', 'the connection lab'],
  [['log', '--resource', NAME, '--connection', 'hr'], 'No person and no group', 'the connection hr'],
])('%p of an unknown name says where it searched, and exits 4', async (words, nobody, places) => {
  const { code, text } = await place.commands.run(...words);
  expect(code).toBe(4);
  expect(text).toContain(`${nobody} is known as ${NAME} in ${places}, by userName, externalId, address, `);
  expect(text).toContain(
    'was never pushed, its push was refused (the identity provider has the reason), or it was renamed, deleted or forgotten. ',
  );
  expect(text).toContain('See scim-bridge links list for the names that are known');
});

test('explain --target of an unknown name names the connections that were not searched', async () => {
  const { text } = await place.commands.run('explain', NAME, '--target', 'test');
  expect(text).toContain('Not searched: hr. ');
});

test.each([
  ['hold', '--target', 'prod'],
  ['release', '--target', 'prod'],
  ['resync', '--target', 'prod'],
  ['plan', '--target', 'prod'],
  ['links', 'list', '--target', 'prod'],
  ['links', 'export', '--target', 'prod'],
  ['links', 'forget', NAME, '--target', 'prod'],
  ['log', '--target', 'prod'],
  ['verify-access', NAME, '--target', 'prod'],
])('%p %p %p refuses an unknown target and lists the targets of the settings', async (...words) => {
  const { code, text } = await place.commands.run(...words);
  expect(code).toBe(1);
  expect(text).toContain('There is no target prod. The settings have: main, test.');
});

test('an order with an empty name is refused with the name shown as ""', async () => {
  const { code, text } = await place.commands.run('explain', '');
  expect(code).toBe(4);
  expect(text).toContain('is known as "" in');
});
