// Tests that commands say when a dead letter was caused by former settings, and that a retry uses the present ones.
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';
const VIEWER = 'viewer@acme.example';
const CHANGED =
  /\(since 20[^,]*, by settings that have changed meanwhile: scim-bridge dead-letters retry, or sync, tries it again\)/;

let place: Place;
beforeAll(async () => {
  const level = { type: 'number', from: 'title' };
  place = await openPlace({ target: { adopt: 'report', attributes: { level } } });
  await place.idp.createUser(BOB, { title: 'high' });
  await place.idp.createUser(VIEWER, { title: '3' });
  await place.idle();
});
afterAll(() => place.stop());

const runCommand = (...args: string[]) => place.commands.run(...args);

test('the settings are unchanged → dead-letters list, explain, plan and exceptions mention no changed settings', async () => {
  for (const command of [['dead-letters', 'list'], ['explain', BOB, '--all'], ['plan'], ['exceptions']])
    expect((await runCommand(...command)).text).not.toMatch(/settings (that )?have changed/);
  expect((await runCommand('explain', VIEWER)).text.replace(/\s+/g, ' ')).toMatch(
    /adopt to exact and restart, to take it over; or rename or delete one of the two\. In both cases then scim-bridge sync \S+\./,
  );
});

test('another connection is added to the target → dead-letters list, explain, plan and exceptions mention no changed settings', async () => {
  const { connections } = place.settings;
  const hr = { tokens: [{ name: 'hr', secret: `${TOKEN}-hr` }] };
  await place.change((settings) => {
    settings.connections = { ...connections, hr };
  });
  for (const command of [['dead-letters', 'list'], ['explain', VIEWER, '--all'], ['plan'], ['exceptions']])
    expect((await runCommand(...command)).text).not.toMatch(/settings (that )?have changed/);
  await place.change((settings) => {
    settings.connections = connections;
  });
});

test('the setting adopt is changed → each command says that the account was refused under the former settings, and a retry takes the account over', async () => {
  await place.change(({ targets: { main } }) => {
    main.adopt = 'exact';
  });
  const list = (await runCommand('dead-letters', 'list')).text;
  expect(list.split('\n')).toHaveLength(2);
  for (const line of list.split('\n')) expect(line).toMatch(CHANGED);
  const [found] = (await runCommand('explain', VIEWER, '--json')).json;
  const explained = (await runCommand('explain', VIEWER)).text.replace(/\s+/g, ' ');
  expect(explained).toMatch(
    /NotAdopted\. The settings have changed since \S+: scim-bridge sync \S+ tries it again\./,
  );
  expect(explained).toContain(`sync ${found.ref} tries it again`);
  expect(explained).not.toContain('.adopt to exact');
  for (const command of [['plan'], ['exceptions'], ['status']])
    expect((await runCommand(...command)).text).toMatch(CHANGED);
  const exceptions = (await runCommand('exceptions')).text.replace(/\s+/g, ' ');
  expect(exceptions).toContain(`dead-letters retry ${found.ref}.`);
  expect(exceptions).not.toContain('.adopt to exact');
  expect((await runCommand('plan')).text.replace(/\s+/g, ' ')).toContain(
    '1 of them: judged by other settings than these. scim-bridge dead-letters retry tries them again',
  );
  expect((await runCommand('sync', VIEWER, '--dry-run')).text).toContain('adopt');

  expect((await runCommand('dead-letters', 'retry', '--all', '--by', 'alice')).code).toBe(0);
  await place.idle();
  expect((await runCommand('explain', VIEWER)).text).toContain(`${VIEWER} is at main as desired`);
  const [entry] = (await runCommand('log', '--resource', VIEWER, '--json', '--limit', '1')).text.split('\n');
  expect(JSON.parse(entry ?? '').initiatedBy).toEqual({ type: 'operator', id: 'retry:alice' });
});

test('the present settings repeat a refusal → dead-letters list shows it without blaming former settings', async () => {
  const { text } = await runCommand('dead-letters', 'list');
  expect(text).toContain('level is string and cannot become a number');
  expect(text).not.toContain('settings that have changed');
});
