// Tests that the guard judges together what the present settings take away from restored people.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';
import type { TestSettings } from '../support/settings.ts';
import { run } from '../support/situation-table.ts';

const NAMES = Array.from({ length: 8 }, (_, number) => `p${number}@acme.example`);
const LEAVERS = NAMES.slice(0, 5);

let place: Place;
afterEach(() => place.stop());

/** Pushes people, makes a backup, and restores it under a narrower scope. */
async function restored(reconcile: object, scope: string): Promise<void> {
  place = await openPlace({
    ownRedis: true,
    target: { guard: { deactivate: { count: 2, percent: 100 } } },
    rest: { reconcile },
  });
  const ids = [];
  for (const userName of NAMES)
    ids.push(await place.idp.createUser(userName, LEAVERS.includes(userName) ? { title: 'guest' } : {}));
  await place.idp.createGroup('crew', ids);
  await place.idp.createGroup('guests', ids.slice(0, LEAVERS.length));
  await place.idle();
  await run(place, 'reconcile', '--yes');
  // A push that is not applied yet when the backup is made.
  await run(place, 'hold');
  await place.idp.createUser('late@acme.example');
  const file = join(place.commands.folder, 'old.backup');
  await run(place, 'backup', file);
  await place.stopApps();
  const settings = join(place.commands.folder, 'bridge.json');
  const changed = JSON.parse(readFileSync(settings, 'utf8')) as TestSettings;
  changed.targets.main.users = { scope };
  writeFileSync(settings, JSON.stringify(changed));
  await run(place, 'restore', file, '--replace', '--yes');
}

const lastRun = async () => (await place.commands.run('status', '--json')).json[0].reconcile.last?.startedAt;
/** Starts the service, and waits for the reconcile of the start, whose time differs from that of the run in the backup. */
async function startAndCompare(): Promise<void> {
  const before = await lastRun();
  await place.start();
  await eventually('the reconcile of the start has ended', async () => (await lastRun()) !== before);
}

/** Ends the hold. @returns names of open accounts */
async function openAfterRelease(): Promise<string[]> {
  await run(place, 'release');
  await place.idle();
  const { users } = await place.platform.state();
  return users.filter(({ active }) => active).map(({ userName }) => userName);
}

const heldKinds = async () => (await place.commands.run('approvals', 'list', '--json')).json[0]?.kinds;

test.each([
  ['attributes', 'not (title eq "guest")'],
  ['groups, which the scope did not read before', 'not (groups.display eq "guests")'],
])(
  'a scope was narrowed by %s after the backup → after the restore no account is closed before an operator approves all deactivations',
  async (_by, scope) => {
    await restored({ schedule: '0 3 1 1 *' }, scope);
    await startAndCompare();
    const openNames = await openAfterRelease();
    expect(openNames).toEqual(expect.arrayContaining(NAMES));
    await expect(heldKinds()).resolves.toMatchObject({ deactivate: LEAVERS.length });
    // The release applies the push that was still waiting when the backup was made.
    expect(openNames).toContain('late@acme.example');
  },
  60_000,
);

test.each([
  ['with onDrift: report', { schedule: '0 3 1 1 *', onDrift: 'report' }],
  ['without a schedule', { schedule: null }],
])(
  'a scope was narrowed after the backup → the release after a restore %s closes accounts up to the limit of the guard',
  async (_with, reconcile) => {
    await restored(reconcile, 'not (title eq "guest")');
    // No reconcile repairs anything here, so the changes come from the marks that the restore has set.
    if ('onDrift' in reconcile) {
      await startAndCompare();
    } else {
      for (const role of ['api', 'worker'] as const) await place.start(role);
    }
    const openNames = await openAfterRelease();
    const kept = LEAVERS.filter((name) => openNames.includes(name));
    await expect(heldKinds()).resolves.toMatchObject({ deactivate: kept.length });
    expect(kept.length).toBeLessThan(LEAVERS.length);
  },
  60_000,
);
