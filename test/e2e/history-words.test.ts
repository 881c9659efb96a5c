// Tests that log, timeline and decided approvals show names, attributes and reasons of their own time, also after
// names, settings or the source have changed.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const NEW = 'anna@acme.example';

let place: Place;
let ann: string;
let bob: string;
let id: string;
beforeAll(async () => {
  const team = { type: 'string', from: 'title' };
  const none = { count: 0, percent: 0 };
  place = await openPlace({ target: { attributes: { team }, guard: { deactivate: none } } });
  const { idp, commands } = place;
  ann = await idp.createUser(ANN, { title: 'sales' });
  bob = await idp.createUser('bob@acme.example', { title: 'sales' });
  const group = await idp.createGroup('sales', [ann]);
  await place.idle();
  for (const user of [ann, bob])
    await idp.patch(`/Users/${user}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  id = (await commands.run('approvals', 'list', '--json')).json[0].id;
  await commands.run('approvals', 'reject', id, '--yes');
  await place.idle();
  await idp.patch(`/Users/${ann}`, { op: 'replace', path: 'userName', value: NEW });
  await idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: true });
  await idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'verkauf' });
  await place.idle();
  await place.change(({ targets: { main } }) => {
    main.attributes = { rank: team };
  });
  await place.idle();
}, 30_000);
afterAll(() => place.stop());

const runCommand = (...args: string[]) => place.commands.run(...args);

test('log and the timeline of explain show names, attributes and reasons as of each change', async () => {
  const { text } = await runCommand('log', '--resource', NEW);
  expect(text).toMatch(new RegExp(`main  ${ANN}  held by the guard  the deactivation`));
  expect(text).toMatch(/main {2}sales {2}addMembers {2}1 member/);
  expect(text).toContain(`userName: "${ANN}" → "${NEW}"`);
  const explained = (await runCommand('explain', NEW, '--all')).text;
  expect(explained).toContain('added to the group sales');
  expect(explained).toContain('held by the guard: the deactivation');
  expect(explained).toMatch(/left alone: a person rejected the deactivation/);
  expect(explained).toContain(`ordered by an operator (rejection:`);
});

test('a person has changed at the source since a decision → the decided approval shows no cause for this person, and keeps the causes of other persons', async () => {
  const { text } = await runCommand('approvals', 'show', id);
  expect(text).toMatch(
    /anna@acme\.example.*: changed at the source since the decision: the name is the present one/,
  );
  expect(text).toMatch(/bob@acme\.example.*: deactivated at the source/);
  expect(text).not.toContain('no longer in the scope');
});

test('a person is deleted after a decision → the decided approval shows the person as changed since, not as deleted at that time', async () => {
  await place.idp.send('DELETE', `/Users/${bob}`);
  const { text } = await runCommand('approvals', 'show', id);
  expect(text).not.toContain('deleted at the source');
  expect(text.split('changed at the source since the decision')).toHaveLength(3);
});

test('a reconcile cannot read the whole user and group lists → status names the reason once, and explain says that not everything was compared', async () => {
  for (const name of ['one', 'two', 'three']) await place.idp.createGroup(name);
  await place.idle();
  const truncateLists = { share: 1, keep: 0.5, mode: 'page' };
  const rules = ['Users', 'Groups'].map((list) => ({
    method: 'GET',
    path: `/scim/v2/${list}`,
    truncateLists,
  }));
  await place.platform.control('PATCH', '/faults', { rules });
  await runCommand('reconcile', '--yes');
  const status = (await runCommand('status')).text;
  expect(status.replaceAll(/\s+/g, ' ').split('a page was short before the end')).toHaveLength(2);
  await place.platform.control('PATCH', '/faults', {});
  const { text } = await runCommand('explain', NEW, '--all');
  expect(text).toMatch(/compared {2}a reconcile could not compare everything: (unproven|failed)/);
});
