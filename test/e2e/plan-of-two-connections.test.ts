// Tests that the plan of a connection lists no creation of an account, group or membership that another connection has, and
// that it lists memberships that wait.
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { createIdp } from '../support/idp.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HR_TOKEN = `${TOKEN}-hr`;
const WAITS = 'Person hanna@acme.example in sales: addMember, member at the source; waits for the group';

let place: Place;
beforeAll(async () => {
  const connections = {
    default: { tokens: [{ name: 'primary', secret: TOKEN }] },
    hr: { tokens: [{ name: 'hr', secret: HR_TOKEN }] },
  };
  const hr = () => createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, HR_TOKEN);
  place = await openPlace({ rest: { connections } });
  const ann = await place.idp.createUser('ann@acme.example');
  const sales = await place.idp.createGroup('sales', [ann]);
  const hanna = await hr().createUser('hanna@acme.example');
  await place.idle();
  // Without a worker the changes below are stored and not applied.
  await place.stopApps();
  await place.start('api');
  await hr().createUser('ann@acme.example');
  await hr().createGroup('sales', [hanna]);
  await hr().createGroup('payroll', [hanna]);
  const bob = await place.idp.createUser('bob@acme.example');
  await place.idp.patch(`/Groups/${sales}`, { op: 'add', path: 'members', value: [{ value: bob }] });
}, 30_000);
afterAll(() => place.stop());

const runCommand = (...args: string[]) => place.commands.run(...args);

test('before a worker runs, plan lists conflicts with the other connection, and a membership that waits for its group', async () => {
  const { text } = await runCommand('plan');
  const [, plan = ''] = text.split('hr → main: ');
  expect(plan).toMatch(/^2 changes\. 1 to create, 1 membership to add\./);
  expect(plan).toContain('User ann@acme.example: conflict, TakenByConnection: the account belongs to');
  expect(plan).toContain('Group sales: conflict, TakenByConnection: the group belongs to sales');
  expect(plan).toMatch(/scim-bridge links forget User:\w+ --target \w+,/);
  expect(plan).toContain(WAITS);
  expect(plan).toContain('addMember person hanna@acme.example in payroll');
});

test('before a worker runs, explain of a group says that memberships wait, and names members without an account', async () => {
  const hanna = (await runCommand('explain', 'hanna@acme.example')).text;
  expect(hanna).toContain('waits because no worker runs: start one');
  expect(hanna).not.toContain('nobody has to do anything');
  expect((await runCommand('explain', 'sales', '--all')).text).toContain(
    '+ bob@acme.example (has no account at the target yet)',
  );
});

test('a group is a dead letter → plan and sync --dry-run list its new membership as waiting', async () => {
  await place.start('worker');
  await place.idle();
  const { text } = await runCommand('plan');
  const [, plan = ''] = text.split('hr → main: ');
  expect(plan).toMatch(/^nothing to write, but the platform is not as desired/);
  expect(plan).toContain('Group sales: conflict, TakenByConnection');
  expect(plan).toContain(WAITS);
  const dry = (await runCommand('sync', 'hanna@acme.example', '--dry-run')).text;
  expect(dry).not.toContain('would write');
  expect(dry).toContain('addMember hanna@acme.example in sales (member at the source; waits for the group');
});
