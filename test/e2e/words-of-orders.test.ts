// Tests what commands print after a 429 without Retry-After, for --all without dead letters, and for settings with faults.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
});
afterAll(() => place.stop());

test('dead-letters retry --all and drop --all without dead letters say that nothing is done, and exit 0', async () => {
  expect(await place.commands.run('dead-letters', 'retry', '--all')).toMatchObject({
    code: 0,
    text: 'There is no dead letter: nothing is tried again.',
  });
  expect(await place.commands.run('dead-letters', 'drop', '--all')).toMatchObject({
    code: 0,
    text: 'There is no dead letter: nothing is taken off the list.',
  });
});

test('check-config --json of settings with faults prints the faults as JSON and exits 78', async () => {
  const file = join(place.commands.folder, 'faulty.json');
  writeFileSync(file, JSON.stringify({ ...place.settings, redis: { url: 'nowhere' } }));
  const { code, json } = await place.commands.run('--config', file, 'check-config', '--json');
  expect(code).toBe(78);
  expect(json).toMatchObject({ ok: false, faults: [{ path: '/redis/url' }] });
  const main = { ...place.settings.targets.main, attributes: { team: { type: 'string', expression: '(' } } };
  writeFileSync(file, JSON.stringify({ ...place.settings, targets: { main } }));
  const rules = await place.commands.run('--config', file, 'check-config', '--json');
  expect(rules.code).toBe(78);
  expect(rules.json.faults).toMatchObject([{ path: '/targets/main/attributes/team/expression' }]);
});

test('the platform answers 429 without Retry-After → status does not say that the platform asked for a pause', async () => {
  const { idp, platform, commands } = place;
  await platform.control('PATCH', '/faults', { status429: { share: 1 } });
  await idp.createUser('ann@acme.example');
  const chosen =
    /all calls pause until [^,]*, because the platform answered HTTP 429 without a Retry-After: the bridge chose the wait/;
  await eventually(
    'status tells it',
    async () => {
      const { text } = await commands.run('status');
      expect(text).not.toContain('the platform asked for it');
      return chosen.test(text);
    },
    20_000,
  );
  await eventually(
    'explain tells it',
    async () => chosen.test((await commands.run('explain', 'ann@acme.example', '--all')).text),
    20_000,
  );
  await platform.control('PATCH', '/faults', { status429: { share: 1, retryAfter: 30 } });
  await eventually(
    'a wait that the platform asks for',
    async () => /because the platform asked for it \(HTTP 429\)/.test((await commands.run('status')).text),
    40_000,
  );
}, 60_000);
