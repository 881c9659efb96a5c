// Tests the plan of changes that were pending when a backup was made, after its restore, and that the release writes them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlanEntry } from '../../src/reconcile/entry.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

const [ANN, BEN, CAT, HAL] = ['ann', 'ben', 'cat', 'hal'].map((name) => `${name}@acme.example`) as [
  string,
  string,
  string,
  string,
];
let place: Place;
beforeAll(async () => {
  place = await openPlace({ ownRedis: true });
  const ids: string[] = [];
  for (const name of [ANN, BEN, CAT]) ids.push(await place.idp.createUser(name));
  const [ann, ben, cat] = ids;
  const north = await place.idp.createGroup('north', [ann, ben] as string[]);
  await place.idle();
  await run(place, 'reconcile', '--yes');
  await run(place, 'hold');
  const hal = await place.idp.createUser(HAL);
  await place.idp.patch(`/Groups/${north}`, {
    op: 'add',
    path: 'members',
    value: [{ value: cat }, { value: hal }],
  });
  const file = join(place.commands.folder, 'old.backup');
  await run(place, 'backup', file);
  await run(place, 'release');
  await place.idle();
  await place.idp.patch(`/Groups/${north}`, { op: 'remove', path: `members[value eq "${cat}"]` });
  await place.idle();
  await place.stopApps();
  await run(place, 'restore', file, '--replace', '--yes');
  for (const role of ['api', 'worker'] as const) await place.start(role);
  await place.idp.patch(`/Groups/${await place.idp.createGroup('south', [])}`, {
    op: 'add',
    path: 'members',
    value: [{ value: ann }],
  });
}, 60_000);
afterAll(() => place.stop());

/** Makes a plan and returns the additions of members as `group member cause`. */
async function additions(): Promise<string[]> {
  const out = join(place.commands.folder, 'restored.plan');
  await place.commands.run('plan', '--out', out);
  const { entries } = JSON.parse(readFileSync(out, 'utf8')).plans[0] as { entries: PlanEntry[] };
  return entries
    .filter(({ action, effect }) => action === 'addMember' && effect === 'apply')
    .map(({ name, member, attribution }) => `${name} ${member?.name} ${attribution.cause}`);
}

test('after a restore plan gives a membership of the backup the cause `restored from a backup` and a new push `source changed`, and the release writes just these', async () => {
  const planned = await additions();
  expect(planned.toSorted()).toEqual([
    `north ${CAT} restored from a backup`,
    `north ${HAL} restored from a backup`,
    `south ${ANN} source changed`,
  ]);
  const since = new Date().toISOString();
  await run(place, 'release');
  await place.idle();
  const { text } = await place.commands.run('log', '--action', 'addMembers', '--since', since);
  expect(text).toMatch(new RegExp(`north {2}addMembers {2}2 members: (${CAT}, ${HAL}|${HAL}, ${CAT})`));
  expect(text).toMatch(new RegExp(`south {2}addMembers {2}1 member: ${ANN}`));
  expect(text.match(/addMembers/g)).toHaveLength(2);
  await expect(additions()).resolves.toEqual([]);
}, 30_000);
