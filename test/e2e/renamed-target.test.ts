// Tests a target that gets another name in the settings: its accounts are not told as those of a removed target, once they are
// linked under the new name.
import '../support/load-modules.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import type { TestSettings } from '../support/settings.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let ann: string;
const { told } = commandsAt(() => place);
beforeEach(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  await place.idp.createGroup('sales', [ann, await place.idp.createUser(BOB)]);
  await place.idle();
  expect((await place.commands.run('reconcile', '--yes')).code).toBe(0);
});
afterEach(() => place.stop());

/** Names the target prod, and waits for the reconcile of the start. @param rest settings that change too */
async function rename(rest: object = {}): Promise<void> {
  await place.change(({ connections, targets }: TestSettings) => {
    Object.assign(targets, { prod: { ...targets.main, ...rest } });
    delete (targets as Partial<TestSettings['targets']>).main;
    for (const each of Object.values(connections)) Object.assign(each as object, { targets: ['prod'] });
  });
  await eventually(
    'the reconcile of the start has ended',
    async () => (await told('status')).includes('last reconcile'),
    30_000,
  );
  await place.idle();
}

test('a target gets another name → no command reports it as removed, and a leaver is closed and can be forgotten', async () => {
  await rename();
  for (const command of ['status', 'doctor'])
    expect(await told(command)).not.toContain('no longer configured');
  expect((await place.commands.run('status')).code).toBe(0);
  for (const command of ['explain', 'verify-access'])
    expect(await told(command, ANN)).not.toContain('no longer feeds');

  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
  const forgotten = await place.commands.run('forget', ANN, '--yes');
  expect(forgotten.code).toBe(0);
  expect(forgotten.text).not.toContain('stays at main');
}, 120_000);

test('a target gets another name and its accounts are not adopted → status counts these as left at the former name, which explain shows', async () => {
  await rename({ adopt: 'report' });
  expect(await told('status')).toContain(
    'target main of connection default is no longer configured; 2 accounts and 1 group that the bridge wrote are still there',
  );
  expect(await told('explain', ANN)).toContain('no longer feeds the target main');
}, 120_000);
