// Tests what plan and sync --dry-run foresee, and explain tells, about the closed account of a person who was deleted at the source.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const GIL = 'gil@acme.example';
const HAL = 'hal@acme.example';

let place: Place;
beforeEach(async () => {
  place = await openPlace({
    target: {
      attributes: { badge: { type: 'number', from: 'title', onEmpty: 'clear' } },
      users: { deprovision: 'deactivate' },
    },
  });
}, 60_000);
afterEach(() => place.stop());

const { outcome } = commandsAt(() => place);

test('while the target is on hold a deleted person is pushed again → plan and sync --dry-run announce that the closed account is taken over, and after the release it is active', async () => {
  const first = await place.idp.createUser(HAL, { title: '7' });
  await place.idle();
  const former = await place.platform.user(HAL);
  await place.idp.send('DELETE', `/Users/${first}`);
  await place.idle();
  await outcome('hold', '--by', 'olga');
  await place.idp.createUser(HAL, { title: undefined });
  for (const command of [['plan'], ['sync', HAL, '--dry-run']]) {
    const [code, text] = await outcome(...command);
    expect([code, text]).toEqual([2, expect.stringContaining('the account of a deleted user is taken over')]);
    expect(text).toMatch(/badge: 7 → (nothing|null)/);
    expect(text).not.toContain('platform changed');
    expect(text).not.toContain('no account');
  }
  await outcome('release');
  await place.idle();
  expect(await place.platform.user(HAL)).toMatchObject({ scimId: former?.scimId, active: true });
});

test('while the target is on hold a person is deleted and pushed again, with adopt: never → plan lists deactivation and takeover, and after the release the account is active', async () => {
  await place.change(({ targets }) => (targets.main.adopt = 'never'));
  const first = await place.idp.createUser(HAL, { title: '7' });
  const team = await place.idp.createGroup('team', [first]);
  await place.idle();
  await outcome('hold', '--by', 'olga');
  await place.idp.send('DELETE', `/Users/${first}`);
  const again = await place.idp.createUser(HAL, { title: undefined });
  await place.idp.patch(`/Groups/${team}`, { op: 'add', path: 'members', value: [{ value: again }] });
  const lines = (await place.commands.run('plan')).text.split('\n');
  expect(lines.flatMap((line) => /^[-+~] (\w+)/.exec(line)?.[1] ?? [])).toEqual([
    ...['deactivate', 'removeMember', 'clearAttribute', 'adopt', 'activate', 'addMember'],
  ]);
  await outcome('release');
  await place.idle();
  expect(await place.platform.user(HAL)).toMatchObject({ active: true, attributes: {} });
  expect((await place.platform.group('team'))?.members).toEqual([HAL]);
});

test('a person gets a userName that the closed account of a leaver still has → plan, sync --dry-run and explain name the leaver as the owner', async () => {
  const hal = await place.idp.createUser(HAL);
  const gil = await place.idp.createUser(GIL);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${hal}`);
  await place.idle();
  await outcome('hold', '--by', 'olga');
  await place.idp.patch(`/Users/${gil}`, { op: 'replace', path: 'userName', value: HAL });
  const taken = `userName is already taken by the account of a person who left, User:${hal}`;
  expect(await outcome('plan')).toEqual([0, expect.stringContaining(taken)]);
  expect(await outcome('sync', gil, '--dry-run')).toEqual([0, expect.stringContaining(taken)]);
  await outcome('release');
  await place.idle();
  expect((await outcome('explain', gil))[1]).toContain(taken);
  expect((await outcome('plan'))[1]).toContain(taken);
});

test('somebody deletes the closed account of a deleted person at the platform → explain and sync say that the account is gone and that nothing is to be done', async () => {
  const hal = await place.idp.createUser(HAL);
  await place.idle();
  await place.idp.send('DELETE', `/Users/${hal}`);
  await place.idle();
  expect((await outcome('explain', HAL))[1]).toContain('the account at main is closed.');
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(HAL))?.scimId}`);
  const [code, explained] = await outcome('explain', HAL);
  expect(code).toBe(0);
  expect(explained).toContain(
    'the account at main is gone: the platform does not have it any more, and nothing is to be done.',
  );
  expect(explained).not.toContain('as last written');
  for (const command of [
    ['sync', HAL, '--dry-run'],
    ['sync', HAL],
  ])
    expect(await outcome(...command)).toEqual([
      0,
      expect.stringContaining('nothing to do: the account is gone at the platform, and none is wanted there'),
    ]);
  expect(await place.platform.user(HAL)).toBeUndefined();
}, 30_000);
