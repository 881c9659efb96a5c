// Tests how status counts changes that are not applied yet: by the urgency of the mark, which is no kind of change.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
beforeEach(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  await place.idle();
}, 30_000);
afterEach(() => place.stop());

const status = async () => (await place.commands.run('status')).text;
const activate = (value: boolean) =>
  place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value });

test('the source takes a deactivation back → status reports a waiting change and no deactivation', async () => {
  await place.commands.run('hold');
  await activate(false);
  await activate(true);
  const text = await status();
  expect(text).toContain('waiting for the end of the hold: 1 in the priority deactivation');
  expect(text).not.toContain('1 deactivation');
}, 30_000);

test('status counts a change that a worker is writing among the waiting changes', async () => {
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'scim/v2/Users', latencyMs: [3000, 3000] }],
  });
  await activate(false);
  const text = await eventually('a worker has the change', async () => {
    const found = (await place.commands.run('explain', ANN, '--json')).json[0];
    return found.mark?.state === 'running' ? status() : undefined;
  });
  expect(text).toContain('waiting: 1 in the queue or with a worker');
}, 30_000);

test('a reconcile runs at a target on hold with a held change → status counts this change as held by the guard, and none as not applied yet', async () => {
  await place.change(({ targets: { main } }) => {
    main.guard = { deactivate: { count: 0, percent: 100 } };
  });
  await activate(false);
  await place.idle();
  await place.commands.run('hold');
  const run = await place.commands.run('reconcile', '--yes');
  expect(run.text).toContain('held: the guard holds 1 change: scim-bridge approvals show');
  const text = await status();
  expect(text).toContain('0 not applied yet, 0 dead letters, 1 held by the guard');
  expect(text).toContain('people: 1 in all: 0 linked, 1 held by the guard');
  await place.commands.run('release');
  await place.idle();
  expect(await status()).toContain('0 not applied yet, 0 dead letters, 1 held by the guard');
}, 30_000);

test('new mapping rules no longer want a held change, and a reconcile runs at the target on hold → after the release the guard holds nothing', async () => {
  const useRule = (onEmpty: 'clear' | 'keep') =>
    place.change(({ targets: { main } }) => {
      main.guard = { clearAttributes: { count: 0, percent: 0 } };
      main.attributes = { region: { type: 'string', from: 'title', onEmpty } };
    });
  await useRule('clear');
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'title', value: 'north' });
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'remove', path: 'title' });
  await place.idle();
  expect((await place.commands.run('approvals', 'list', '--json')).json).toHaveLength(1);
  await place.commands.run('hold');
  await useRule('keep');
  await place.commands.run('reconcile', '--yes');
  await place.commands.run('release');
  await place.idle();
  expect((await place.commands.run('approvals', 'list')).text).toContain('The guard holds nothing.');
}, 30_000);
