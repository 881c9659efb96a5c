// Tests that status quotes the message of a run that failed, because the message tells the state of that time.
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
}, 60_000);
afterAll(() => place.stop());

const { outcome, told } = commandsAt(() => place);

test('a reconcile failed and the platform works again → status quotes the failure without the advice to repeat the command', async () => {
  await place.platform.control('PATCH', '/faults', { htmlAnswer: true });
  await place.idp.createUser('ann@acme.example');
  await eventually('calls have failed for a while', async () =>
    (await place.commands.run('status', '--json')).json[0].breaker.open ? true : undefined,
  );
  const [code, failed] = await outcome('reconcile', '--yes');
  expect([code, failed]).toEqual([1, expect.stringContaining('then repeat the command')]);
  await place.platform.control('PATCH', '/faults', {});
  const text = await told('status');
  expect(text).not.toContain('repeat the command');
  expect(text).toMatch(/last reconcile \S+: failed with "The target main answers with web pages [^"]*"/);
}, 60_000);
