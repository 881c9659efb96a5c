// Tests orders about dead letters of which some are none, the time of a dead letter, and empty spans of the logs.
import '../support/load-modules.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
const since = async (): Promise<string> =>
  (await place.commands.run('dead-letters', 'list', '--json')).json[0]?.since;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { level: { type: 'number', from: 'title' } } } });
  await place.idp.createUser('ann@acme.example', { title: 'high' });
  await place.idp.createUser('dan@acme.example', { title: '3' });
  await place.idle();
}, 30_000);
afterAll(() => place.stop());

test('dead-letters retry keeps the time of the first refusal when the platform refuses again, and names the resources that are no dead letter', async () => {
  const first = await since();
  expect(first).toBeDefined();
  await sleep(50);
  const retried = await place.commands.run('dead-letters', 'retry', 'ann@acme.example', 'dan@acme.example');
  expect(retried.code).toBe(4);
  expect(retried.text).toContain('1 dead letter marked to be tried again now.');
  expect(retried.text).toContain('No dead letter: dan@acme.example.');
  await place.idle();
  expect(await since()).toBe(first);
  expect((await place.commands.run('dead-letters', 'drop', 'dan@acme.example')).code).toBe(1);
  expect((await place.commands.run('dead-letters', 'drop', 'ann@acme.example')).code).toBe(0);
});

test('resync leaves a dropped dead letter an exception and says so, and tries a dead letter that was not dropped', async () => {
  const ida = 'ida@acme.example';
  await place.idp.createUser(ida, { title: 'low' });
  await place.idle();
  const names = async (...words: string[]): Promise<string[]> =>
    (await place.commands.run(...words, '--json')).json.map(({ name }: { name: string }) => name);
  const refusals = async (name: string): Promise<number> =>
    (await place.commands.run('log', '--resource', name, '--json')).text
      .split('\n')
      .filter((line) => line !== '').length;
  const before = [await names('exceptions', '--reason', 'Dropped'), await names('dead-letters', 'list')];
  expect(before).toEqual([[ANN], [ida]]);
  const tries = await refusals(ida);
  const { text } = await place.commands.run('resync');
  expect(text).toContain('Users and groups marked for another sync: 2.');
  expect(text).toContain('Left out: 1 dropped dead letter.');
  await place.idle();
  expect([await names('exceptions', '--reason', 'Dropped'), await names('dead-letters', 'list')]).toEqual(
    before,
  );
  expect(await refusals(ida)).toBeGreaterThan(tries);
  expect((await place.commands.run('dead-letters', 'drop', ida)).code).toBe(0);
});

test('resync does not count a dropped dead letter as left out that waits for a sync of a newer change', async () => {
  await place.commands.run('hold');
  const { Resources } = (await place.idp.send('GET', `/Users?filter=userName eq "${ANN}"`)).body;
  await place.idp.patch(`/Users/${Resources[0].id}`, { op: 'replace', path: 'title', value: 'higher' });
  // Of ida, whose dead letter was dropped before, nothing waits.
  expect((await place.commands.run('resync')).text).toContain('Left out: 1 dropped dead letter.');
  await place.commands.run('release');
  await place.idle();
  expect((await place.commands.run('dead-letters', 'drop', ANN)).code).toBe(0);
});

test('`log` and `acts` refuse a span whose end is before its beginning', async () => {
  for (const log of ['log', 'acts']) {
    const refused = await place.commands.run(log, '--since', '1h', '--until', '2h');
    expect([log, refused.code]).toEqual([log, 1]);
    expect(refused.text).toContain('--since is later than --until');
    expect((await place.commands.run(log, '--since', '2h', '--until', '1h')).code).toBe(0);
  }
});

test('sync --dry-run of a dead letter lists the write that sync repeats, and sync exits 1 until the platform accepts this write', async () => {
  const eve = 'eve@acme.example';
  const rules = [{ method: 'POST', path: '/Users$', status5xx: { share: 1, status: 400 } }];
  await place.platform.control('PATCH', '/faults', { rules });
  await place.idp.createUser(eve, { title: '1' });
  await place.idle();
  const dry = await place.commands.run('sync', eve, '--dry-run');
  expect(dry.code).toBe(2);
  expect(dry.text).toMatch(/would write:\n\s+create eve@acme\.example/);
  expect(dry.text).toContain(
    'a dead letter: only scim-bridge sync, scim-bridge dead-letters retry, scim-bridge resync or a new change writes it',
  );
  expect((await place.commands.run('sync', eve)).code).toBe(1);
  await place.platform.control('PATCH', '/faults', { rules: [] });
  expect((await place.commands.run('sync', eve)).code).toBe(0);
});

test('a person who waits to join a group that is a dead letter leaves another group → the sync of the dead letter is tried again', async () => {
  const person = await place.idp.createUser('fay@acme.example', { title: '1' });
  const other = await place.idp.createGroup('Grey', [person]);
  const group = await place.idp.createGroup('Red', []);
  await place.idle();
  await place.idp.patch(
    `/Groups/${group}`,
    { op: 'replace', path: 'displayName', value: 'system:Red' },
    { op: 'add', path: 'members', value: [{ value: person }] },
  );
  await place.idle();
  const dry = await place.commands.run('sync', `Group:${group}`, '--dry-run');
  expect(dry.text).toContain('or a new change of it or of its members writes it');
  const refusals = async (): Promise<number> =>
    (await place.commands.run('log', '--resource', `Group:${group}`, '--json')).text
      .split('\n')
      .filter((line) => line.includes('Refused')).length;
  const before = await refusals();
  await place.idp.patch(`/Groups/${other}`, { op: 'remove', path: `members[value eq "${person}"]` });
  await place.idle();
  expect(await refusals()).toBe(before + 1);
  expect((await place.commands.run('dead-letters', 'list')).text).toContain('system:Red');
}, 60_000);

test('a person with a value that cannot be mapped is dropped from the dead letters → explain shows the fault in place of the value and advises sync', async () => {
  await place.commands.run('dead-letters', 'drop', ANN);
  const explained = await place.commands.run('explain', ANN, '--all');
  expect(explained.text).toMatch(
    / attributes\.level: cannot be mapped \(is string and cannot become a number\) ← null/,
  );
  expect(explained.text).not.toContain('attributes.level: null');
  expect(explained.text).toMatch(/then scim-bridge sync User:/);
  const retried = await place.commands.run('dead-letters', 'retry', ANN);
  expect([retried.code, retried.text]).toEqual([
    1,
    expect.stringContaining('A dropped one is tried again by scim-bridge sync NAME.'),
  ]);
  for (const { condition } of (await place.commands.run('explain', ANN, '--json')).json)
    expect(condition.advice).toContain('then scim-bridge sync User:');
  expect((await place.commands.run('sync', ANN)).text).toContain('AttributesNotWritten');
}, 60_000);

test('the userName of one person is the ref of another → POST /admin/v1/sync with this ref, or with the id in it, syncs the person with the ref', async () => {
  const gus = await place.idp.createUser('gus@acme.example', { title: '1' });
  await place.idp.createUser(`User:${gus}`, { title: '2' });
  await place.idle();
  for (const resource of [`User:${gus}`, gus]) {
    const answer = await fetch(`http://127.0.0.1:${place.port}/admin/v1/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ resource }),
    });
    const reports = (await answer.json()) as { ref: string }[];
    expect([answer.status, reports.map(({ ref }) => ref)]).toEqual([200, [`User:${gus}`]]);
  }
}, 60_000);
