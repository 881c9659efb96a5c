// Tests the person whose group the source made and deleted before anything of it was written.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
beforeAll(async () => {
  place = await openPlace({});
  ann = await place.idp.createUser(ANN);
  await place.idle();
  // No worker takes part, so nothing is written.
  await place.stopApps();
  await place.start('api');
}, 60_000);
afterAll(() => place.stop());

test('the source deletes a group that was never created at the platform → sync --dry-run and explain of a member announce no removal from it', async () => {
  const brief = await place.idp.createGroup('brief', [ann]);
  await place.idp.send('DELETE', `/Groups/${brief}`);
  const dryRun = await place.commands.run('sync', ANN, '--dry-run');
  expect([dryRun.code, dryRun.text]).toEqual([0, expect.stringContaining('nothing to do, equal already')]);
  const { text } = await place.commands.run('explain', ANN);
  expect(text).not.toContain(brief);
  expect(text).not.toContain('still to be left');
}, 60_000);
